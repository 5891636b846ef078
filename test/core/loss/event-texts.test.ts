import { describe, expect, it } from "vitest";
import { stringsIn, textsOf } from "../../../src/core/compact/hidden-content.ts";
import type { Content, Event } from "../../../src/core/conversation/event.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const ref = { $attachment: "abc.txt" };

describe("textsOf", () => {
  it.each<[string, Event, readonly string[]]>([
    ["a request", { type: "chat_request", ...base, content: "ask" }, ["ask"]],
    ["a message", { type: "chat_response", ...base, message: "said" }, ["said"]],
    ["reasoning", { type: "chat_response", ...base, reasoning: "thought" }, ["thought"]],
    ["data of a provider", { type: "chat_response", ...base, data: { secret: "x" } }, [""]],
    ["a result", { type: "tool_call_response", ...base, call_id: "c", content: "out", is_error: false }, ["out"]],
    [
      "a call",
      { type: "tool_call_request", ...base, call_id: "c", name: "Edit", arguments: { a: ["x", { b: "y" }] } },
      ["x", "y"],
    ],
    ["a note", { type: "note", ...base, kind: "progress", data: "hidden" }, []],
    ["a long text that was moved away", { type: "chat_request", ...base, content: ref }, []],
  ])("gives what a model reads of %s", (_, event, texts) => {
    expect(textsOf(event)).toEqual(texts);
  });

  it("reads texts, names and titles of parts, and nothing that is no text", () => {
    const opaque = { type: "opaque", value: "v", title: "a field of its provider" } as const;
    const content: Content = [
      { type: "text", text: "one" },
      { type: "text", text: ref },
      { type: "attachment", name: "notes.txt", text: "two" },
      { type: "attachment", text: "three" },
      { type: "attachment", name: "big.txt", text: ref },
      { type: "attachment" },
      { type: "document", title: "four", data: "AAAA" },
      { type: "image", title: "five" },
      { type: "image", data: "AAAA" },
      opaque,
    ];
    const texts = ["one", "notes.txt", "two", "three", "big.txt", "four", "five"];
    expect(textsOf({ type: "chat_request", ...base, content })).toEqual(texts);
  });
});

describe("stringsIn", () => {
  const nested = (levels: number): unknown => {
    let value: unknown = "deep";
    for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { key: value };
    return value;
  };

  it.each([
    ["a string", "x", ["x"]],
    ["values in order", { b: "x", a: ["y", { c: "z" }], n: 1, f: false, e: null }, ["x", "y", "z"]],
    ["a payload that was moved away", { old: ref, new: "x" }, ["x"]],
    ["nothing", null, []],
    ["a number", 5, []],
    ["100 levels", nested(100), ["deep"]],
    ["101 levels", nested(101), []],
  ])("finds the strings in %s", (_, value, strings) => {
    expect(stringsIn(value)).toEqual(strings);
  });
});
