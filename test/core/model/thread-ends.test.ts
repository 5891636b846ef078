// The ends of a list for Anthropic and Google, signatures of Google's calls, and what names the origin of a block.

import { describe, expect, it } from "vitest";
import type { Event, EventMetadata, ProjectedTurn, View } from "../../../src/core/conversation/event.ts";
import { findServerCalls, planCalls } from "../../../src/core/model/anthropic-blocks.ts";
import { endWithUser, findSpokenMessages, hardenEnds } from "../../../src/core/model/anthropic-thread.ts";
import { limitRoles, signatureOf, signSteps } from "../../../src/core/model/google-thread.ts";
import { itemOrigins, joinOrigins } from "../../../src/core/model/openai-thread.ts";
import {
  blockOrigins,
  type HardeningStep,
  type ThreadBlock,
  type ThreadMessage,
} from "../../../src/core/model/thread.ts";

const text = (value: unknown, event?: string): ThreadBlock => ({
  block: { type: "text", text: value },
  ...(event !== undefined && { event }),
});
const thinking = (type: string, event?: string): ThreadBlock => ({ block: { type }, ...(event && { event }) });
const user = (...blocks: ThreadBlock[]): ThreadMessage => ({ role: "user", blocks });
const assistant = (...blocks: ThreadBlock[]): ThreadMessage => ({ role: "assistant", blocks });
const ask = user(text("go", "u"));
const opened = user(text("[Earlier messages are not shown.]"));

describe("hardenEnds", () => {
  const call: ThreadBlock = { block: { type: "tool_use", id: "a", text: "blank at the end " }, event: "c" };

  it.each<[string, ThreadMessage[], ThreadMessage[], HardeningStep[]]>([
    ["an empty list as it is", [], [], []],
    ["a list of the user's", [ask], [ask], []],
    ["a list that ends well", [ask, assistant(text("ok", "a"))], [ask, assistant(text("ok", "a"))], []],
    ["blanks within", [ask, assistant(text("a "), text("b"))], [ask, assistant(text("a "), text("b"))], []],
    ["blanks before the user", [assistant(text("a ")), ask], [opened, assistant(text("a ")), ask], [added("A12")]],
    [
      "no blanks at the end",
      [ask, assistant(text("a ", "a"), text("b \n", "b"))],
      [ask, assistant(text("a ", "a"), text("b", "b"))],
      [{ rule: "A15", action: "changed", event: "b" }],
    ],
    [
      "no blanks of a summary",
      [ask, assistant(text(" b "))],
      [ask, assistant(text(" b"))],
      [{ rule: "A15", action: "changed" }],
    ],
    ["what is no text", [ask, assistant(call)], [ask, assistant(call)], []],
    ["a text that is none", [ask, assistant(text(7))], [ask, assistant(text(7))], []],
    [
      "no reasoning at the end, of any kind",
      [
        ask,
        assistant(thinking("thinking", "t"), text("b ", "b"), thinking("redacted_thinking", "r"), thinking("thinking")),
      ],
      [ask, assistant(thinking("thinking", "t"), text("b", "b"))],
      [
        { rule: "A16", action: "dropped", event: "r" },
        { rule: "A16", action: "dropped" },
        { rule: "A15", action: "changed", event: "b" },
      ],
    ],
    [
      "no message of reasoning alone",
      [ask, assistant(thinking("redacted_thinking", "r"))],
      [ask],
      [{ rule: "A16", action: "dropped", event: "r" }],
    ],
    [
      "nothing of a list of reasoning",
      [assistant(thinking("thinking", "t"))],
      [],
      [{ rule: "A16", action: "dropped", event: "t" }],
    ],
  ])("leaves %s", (_, messages, hardened, steps) => {
    const hardening: HardeningStep[] = [];
    expect(hardenEnds(messages, hardening)).toEqual(hardened);
    expect(hardening).toEqual(steps);
  });
});

describe("endWithUser", () => {
  const closing = user(text("[No new message.]"));
  const said = assistant(text("hi"));
  const note: ThreadMessage = { role: "system", blocks: [text("n")] };

  it.each<[string, ThreadMessage[], ThreadMessage[], HardeningStep[]]>([
    ["leaves an empty list", [], [], []],
    ["leaves a list that ends with the user", [ask, said, ask, note], [ask, said, ask, note], []],
    ["closes a list that ends with the assistant", [ask, said], [ask, said, closing], [added("A14")]],
    ["looks past notes of the system", [ask, said, note], [ask, said, note, closing], [added("A14")]],
  ])("%s", (_, messages, ended, steps) => {
    const hardening: HardeningStep[] = [];
    expect(endWithUser(messages, hardening)).toEqual(ended);
    expect(hardening).toEqual(steps);
  });
});

function added(rule: string): HardeningStep {
  return { rule, action: "added" };
}

const at = { timestamp: "2026-03-01T09:00:00.000Z" };
const message = (id: string, message_id: string | undefined, extra: object = { message: "x" }): Event =>
  ({ type: "chat_response", id, ...at, ...extra, ...(message_id && { metadata: { message_id } }) }) as Event;
const viewOf = (...events: readonly Event[]): View => ({ turns: [{ origin: { kind: "kept", turn: 0 }, events }] });

describe("findSpokenMessages", () => {
  it("finds the messages that say something or call with an answer, and not those of reasoning alone", () => {
    const call = (id: string, message_id: string): Event =>
      message(id, message_id, { type: "tool_call_request", call_id: id, name: "Read", arguments: {} });
    const done = { type: "tool_call_response", call_id: "c1", content: "", is_error: false };
    const view = viewOf(
      message("a", "said"),
      message("b", "thought", { reasoning: "hm" }),
      message("d", "data", { data: 1 }),
      message("w", "blank", { message: " \n" }),
      message("e", undefined),
      call("c1", "called"),
      message("f", "result", done),
      call("c2", "unanswered"),
      { type: "chat_request", id: "q", ...at, content: "go", metadata: { message_id: "asked" } },
      message("g", "last"),
    );
    expect([...findSpokenMessages(view, planCalls(view), findServerCalls(view))]).toEqual([
      "said",
      "data",
      "called",
      "last",
    ]);
  });
});

const functionCall = (event?: string, signature?: string): ThreadBlock => ({
  block: { functionCall: { name: "look" }, ...(signature && { thoughtSignature: signature }) },
  ...(event && { event }),
});

describe("signSteps", () => {
  const dummy = { functionCall: { name: "look" }, thoughtSignature: "skip_thought_signature_validator" };

  it.each<[string, ThreadMessage, ThreadMessage, HardeningStep[]]>([
    [
      "the first call",
      assistant(text("a"), functionCall("c"), functionCall("d")),
      assistant(text("a"), { event: "c", block: dummy }, functionCall("d")),
      [{ rule: "G10", action: "changed", event: "c" }],
    ],
    [
      "a call of a summary",
      assistant(functionCall()),
      assistant({ block: dummy }),
      [{ rule: "G10", action: "changed" }],
    ],
    [
      "no call that has one",
      assistant(functionCall("c", "c2ln"), functionCall("d")),
      assistant(functionCall("c", "c2ln"), functionCall("d")),
      [],
    ],
    ["nothing else", assistant(text("a")), assistant(text("a")), []],
  ])("signs %s", (_, before, after, steps) => {
    const hardening: HardeningStep[] = [];
    expect(signSteps([ask, before], hardening)).toEqual([ask, after]);
    expect(hardening).toEqual(steps);
  });
});

describe("signatureOf", () => {
  const own = { provider: "google", model: "gemini-3-pro", signature: "c2ln" };

  it.each<[EventMetadata | undefined, string | undefined, string | undefined]>([
    [own, "gemini-3-pro", "c2ln"],
    [own, undefined, "c2ln"],
    [own, "gemini-2.5-pro", undefined],
    [{ ...own, provider: "anthropic" }, undefined, undefined],
    [{ provider: "google", signature: "c2ln" }, "gemini-3-pro", undefined],
    [{ provider: "google", signature: "c2ln" }, undefined, "c2ln"],
    [{ provider: "google", model: "gemini-3-pro" }, "gemini-3-pro", undefined],
    [{ ...own, signature: "no base 64!" }, "gemini-3-pro", undefined],
    [undefined, undefined, undefined],
  ])("of %j for %s is %s", (metadata, model, signature) => {
    const event = message("e", undefined, metadata ? { message: "x", metadata } : { message: "x" });
    expect(signatureOf(event, model)).toBe(signature);
  });
});

describe("limitRoles", () => {
  const [first, last] = [
    user({ block: { text: "[Earlier messages are not shown.]" } }),
    user({ block: { text: "[No new message.]" } }),
  ];
  const said = assistant(text("hi"));

  it.each<[string, ThreadMessage[], boolean, ThreadMessage[], HardeningStep[]]>([
    ["a list between user and user alone", [ask, said, ask], true, [ask, said, ask], []],
    ["an empty list alone", [], true, [], []],
    ["a list open at its end alone", [ask, said], false, [ask, said], []],
    ["no list that begins with the model", [said, ask], true, [first, said, ask], [added("G1")]],
    ["no list that ends with the model", [ask, said], true, [ask, said, last], [added("G2")]],
    ["neither", [said], true, [first, said, last], [added("G1"), added("G2")]],
  ])("leaves %s", (_, messages, complete, limited, steps) => {
    const hardening: HardeningStep[] = [];
    expect(limitRoles(messages, complete, hardening)).toEqual(limited);
    expect(hardening).toEqual(steps);
  });
});

describe("the origin of what is sent", () => {
  const [told, replaced, kept] = [message("s", undefined), message("r", undefined), message("k", undefined)];
  const turns: readonly ProjectedTurn[] = [
    { origin: { kind: "summary", from: 0, to: 1, compaction: "k1" }, events: [told] },
    {
      origin: { kind: "replacement", from: 2, to: 2, compaction: "k2" } as ProjectedTurn["origin"],
      events: [replaced],
    },
    { origin: { kind: "kept", turn: 3 }, events: [kept] },
  ];

  it("is the event, the compaction of a summary, or both", () => {
    expect([...blockOrigins({ turns })]).toEqual([
      [told, { compaction: "k1" }],
      [replaced, { event: "r", compaction: "k2" }],
      [kept, { event: "k" }],
    ]);
    expect([...itemOrigins({ turns })]).toEqual([
      [told, { events: [], compaction: "k1" }],
      [replaced, { events: ["r"], compaction: "k2" }],
      [kept, { events: ["k"] }],
    ]);
  });

  it("is joined in order, and is nothing of nothing", () => {
    const both = [
      { events: ["a"], compaction: "k2" },
      { events: ["b", "c"], compaction: "k2" },
    ];
    expect(joinOrigins(both)).toStrictEqual({ events: ["a", "b", "c"], compaction: "k2" });
    expect(joinOrigins([{ events: ["a"] }])).toEqual({ events: ["a"] });
    expect(joinOrigins([])).toEqual({ events: [] });
  });
});
