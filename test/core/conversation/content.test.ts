// What people can read of parts of a content: documents of text, items that only their provider understands, addresses.

import { describe, expect, it } from "vitest";
import { documentText, isTextMedia, mediaUrl, opaqueName, opaqueTexts } from "../../../src/core/conversation/event.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const item = (value: unknown) => ({ type: "opaque", provider: "anthropic", value }) as const;

describe("isTextMedia", () => {
  it.each(["text/plain", "text/markdown; charset=utf-8", "application/json", "application/ld+json", "application/xml"])(
    "is true of %s",
    (type) => expect(isTextMedia(type)).toBe(true),
  );
  it.each(["application/pdf", "image/svg+xml", "application/octet-stream", "", undefined, 1])(
    "is false of %s",
    (type) => expect(isTextMedia(type)).toBe(false),
  );
});

describe("documentText", () => {
  it("decodes a document of text, as data and as a data URL", () => {
    const data = base64("tide – high\n");
    expect(documentText({ type: "document", media_type: "text/plain", data })).toBe("tide – high\n");
    expect(documentText({ type: "document", url: `data:text/csv;charset=utf-8;base64,${data}` })).toBe("tide – high\n");
    expect(documentText({ type: "document", url: `data:;base64,${data}` })).toBe("tide – high\n");
  });

  it.each([
    ["an image", { type: "image", media_type: "text/plain", data: base64("x") }],
    ["a PDF", { type: "document", media_type: "application/pdf", data: base64("x") }],
    ["what is no base64", { type: "document", media_type: "text/plain", data: "x y" }],
    ["data that is not at hand", { type: "document", media_type: "text/plain", data: { $attachment: "a" } }],
    ["another address", { type: "document", url: "https://example.invalid/a.txt" }],
    ["a picture in its URL", { type: "document", url: `data:image/png;base64,${base64("x")}` }],
    ["nothing", { type: "document" }],
  ] as const)("gives null of %s", (_, part) => {
    expect(documentText(part)).toBeNull();
  });
});

describe("opaqueTexts", () => {
  it("reads a document of plain text with its title, and one made of blocks", () => {
    const source = { type: "text", media_type: "text/plain", data: "the words\nof it" };
    expect(opaqueTexts(item({ type: "document", source, title: "Notes", context: "read it" }))).toEqual([
      "the words\nof it",
      "Notes",
      "read it",
    ]);
    const blocks = {
      type: "content",
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
    };
    expect(opaqueTexts(item({ type: "document", source: blocks }))).toEqual(["one", "two"]);
  });

  it.each<[string, unknown, readonly string[]]>([
    [
      "what was searched and found, without what is enciphered",
      { type: "web_search_tool_result", tool_use_id: "t", content: [{ title: "Kelp", encrypted_content: "Zm9v" }] },
      ["Kelp"],
    ],
    ["a query", { type: "web_search_call", id: "ws", action: { type: "search", query: "kelp" } }, ["kelp"]],
    ["a refusal", { type: "refusal", refusal: "No." }, ["No."]],
    ["code and its output", { executableCode: { language: "PYTHON", code: "1" } }, ["1"]],
    [
      "a file that stands in its URL",
      { type: "file", filename: "a.md", url: `data:text/markdown;base64,${base64("hi")}` },
      ["a.md", "hi"],
    ],
    ["nothing of bytes", { type: "audio", data: "AAAA", source: { type: "base64", data: "AAAA" } }, []],
    ["nothing of a bare string", "AAAA", []],
    ["nothing of nothing", null, []],
  ])("reads %s", (_, value, texts) => {
    expect(opaqueTexts(item(value))).toEqual(texts);
  });

  it("ends in what is nested without end", () => {
    let value: unknown = "deep";
    for (let depth = 0; depth < 5000; depth++) value = { content: value };
    expect(opaqueTexts(item(value))).toEqual([]);
  });
});

it("opaqueName names provider and kind", () => {
  expect(opaqueName(item({ type: "document" }))).toBe("anthropic document");
  expect(opaqueName(item({ type: "" }))).toBe("anthropic item");
  expect(opaqueName({ type: "opaque", value: 1 })).toBe("provider item");
});

it("mediaUrl says how long a URL is that holds its data", () => {
  expect(mediaUrl("https://example.invalid/x.png")).toBe("https://example.invalid/x.png");
  expect(mediaUrl(`data:image/png;base64,${"A".repeat(78)}`)).toBe("data URL of 100 characters");
  expect(mediaUrl({ $attachment: "ab.txt" })).toBe("[attachment ab.txt]");
  expect(mediaUrl(undefined)).toBeUndefined();
});
