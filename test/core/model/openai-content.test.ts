// Contents, calls and drafts of messages as the two OpenAI APIs take them.

import { describe, expect, it } from "vitest";
import type { Content, ContentPart, ToolCallRequest } from "../../../src/core/conversation/event.ts";
import {
  type ChatDraft,
  createDraft,
  mediaParts,
  takes,
  toAssistantMessage,
  toTextContent,
  toToolContent,
  toUserContent,
} from "../../../src/core/model/openai-chat-thread.ts";
import {
  type ContentPiece,
  createIdAssignment,
  isCustomCall,
  joinPieces,
  nameOf,
  toArgumentsText,
  toCustomInput,
  toPieces,
  toToolName,
} from "../../../src/core/model/openai-thread.ts";

const text = (value: string) => ({ type: "text", text: value }) as const;
const pdf = { type: "document", media_type: "application/pdf", data: "JVBE" } as const;
const png = { type: "image", media_type: "image/png", data: "AAAA" } as const;
const url = "https://example.invalid/a";
const moved = { $attachment: "ab12", bytes: 900 };
const foreign = { type: "opaque", provider: "anthropic", value: { type: "text" } } as const;

describe("toPieces", () => {
  it.each<[string, ContentPart, ContentPiece | null]>([
    ["a text", text("hi"), text("hi")],
    ["a moved text", { type: "text", text: moved }, text("[attachment ab12]")],
    ["a blank text", text(" \n"), null],
    ["a file's text", { type: "attachment", name: "a.txt", text: "in" }, text("a.txt\nin")],
    ["an image", png, { type: "image", url: "data:image/png;base64,AAAA" }],
    [
      "an image of an unknown type",
      { type: "image", data: "AAAA" },
      { type: "image", url: "data:application/octet-stream;base64,AAAA" },
    ],
    ["an image by address", { type: "image", url }, { type: "image", url }],
    ["a PDF", pdf, { type: "file", name: "document.pdf", data: "data:application/pdf;base64,JVBE" }],
    [
      "a titled document",
      { ...pdf, title: "A" },
      { type: "file", name: "A", data: "data:application/pdf;base64,JVBE" },
    ],
    ["a document of an unknown type", { type: "document", url }, { type: "file", name: "document", url }],
    ["a moved image", { type: "image", data: moved }, text("[attachment ab12]")],
    ["an image without anything", { type: "image" }, text("[image]")],
    ["a document without anything", { type: "document" }, text("[document]")],
    ["what OpenAI gave", { type: "opaque", provider: "openai", value: { a: 1 } }, { type: "opaque", value: { a: 1 } }],
    ["what another gave", foreign, { type: "foreign" }],
    ["what nobody gave", { type: "opaque", value: { a: 1 } }, { type: "foreign" }],
    ["a list of OpenAI", { type: "opaque", provider: "openai", value: [] }, { type: "foreign" }],
    ["null of OpenAI", { type: "opaque", provider: "openai", value: null }, { type: "foreign" }],
    ["a text of OpenAI", { type: "opaque", provider: "openai", value: "a" }, { type: "foreign" }],
  ])("makes a piece of %s", (_, part, piece) => {
    expect(toPieces([part])).toEqual(piece === null ? [] : [piece]);
  });

  it("makes one piece of a text, none of a blank one", () => {
    expect(toPieces("hi")).toEqual([text("hi")]);
    expect(toPieces(" ")).toEqual([]);
  });
});

describe("nameOf and joinPieces", () => {
  const pieces: readonly [ContentPiece, string][] = [
    [text("hi"), "hi"],
    [{ type: "image", url: "data:image/png;base64,AAAA" }, "[image]"],
    [{ type: "image", url }, `[image ${url}]`],
    [{ type: "file", name: "a.pdf", data: "data:x" }, "[document: a.pdf]"],
    [{ type: "file", name: "a.pdf", url }, `[document: a.pdf ${url}]`],
    [{ type: "file", name: "", url }, `[document: ${url}]`],
    [{ type: "opaque", value: {} }, ""],
    [{ type: "foreign" }, ""],
  ];

  it("name each piece, what cannot be read by nothing", () => {
    for (const [piece, name] of pieces) expect(nameOf(piece)).toBe(name);
    expect(joinPieces(pieces.map(([piece]) => piece))).toBe(
      `hi\n[image]\n[image ${url}]\n[document: a.pdf]\n[document: a.pdf ${url}]\n[document: ${url}]`,
    );
  });
});

const opaque = (type: string): ContentPart => ({ type: "opaque", provider: "openai", value: { type } });
const imagePart = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const filePart = { type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,JVBE" } };

describe("toUserContent", () => {
  it.each<[string, Content, unknown, boolean]>([
    ["a text", "hi", "<hi>", false],
    ["one text part", [text("hi")], "<hi>", false],
    ["texts", [text("a"), text("b")], [text("<a>"), text("<b>")], false],
    ["an image alone", [png], [imagePart], false],
    ["a PDF", [text("a"), pdf], [text("<a>"), filePart], false],
    ["another file, by its name", [{ type: "document", url }], `[document: document ${url}]`, false],
    ["a file of another type, by its name", [{ ...pdf, media_type: "text/csv" }], "[document: document]", false],
    [
      "what OpenAI knows in it",
      [opaque("input_audio"), opaque("file")],
      [{ type: "input_audio" }, { type: "file" }],
      false,
    ],
    ["nothing that it does not know", [opaque("computer_call")], null, true],
    ["nothing of others beside a text", [text("a"), foreign], "<a>", true],
    ["nothing of a blank text", " ", null, true],
    ["nothing of no parts", [], null, false],
  ])("gives %s", (_, content, made, isCut) => {
    expect(toUserContent(content, (value) => `<${value}>`)).toEqual({ content: made, isCut });
  });

  it("puts nothing around texts by default", () => {
    expect(toUserContent("hi")).toEqual({ content: "hi", isCut: false });
  });
});

describe("toTextContent", () => {
  it.each<[Content, string | null, boolean]>([
    ["hi", "hi", false],
    [[text("a"), png, pdf], "a\n[image]\n[document: document.pdf]", false],
    [[text("a"), foreign], "a", true],
    [[foreign], null, true],
    ["", null, true],
    [[], null, false],
  ])("of %j is %j", (content, made, isCut) => {
    expect(toTextContent(content)).toEqual({ content: made, isCut });
  });
});

describe("toToolContent", () => {
  const note = text("[Media of the tool result above]");

  it.each<[string, Content, string, readonly unknown[], boolean]>([
    ["a text, also an empty one", "", "", [], false],
    ["a moved text", moved, "[attachment ab12]", [], false],
    ["parts", [text("a"), text("b")], "a\nb", [], false],
    [
      "media for a message of the user",
      [text("a"), png, pdf],
      "a\n[image]\n[document: document.pdf]",
      [note, imagePart, filePart],
      false,
    ],
    ["no file that can only be named", [{ type: "document", url }], `[document: document ${url}]`, [], false],
    ["nothing of others", [foreign, text("a")], "a", [], true],
  ])("gives %s", (_, content, made, media, isCut) => {
    expect(toToolContent(content)).toEqual({ content: made, media, isCut });
  });

  it("has no media but images and files", () => {
    expect(mediaParts(toPieces([text("a"), opaque("file"), foreign, png]))).toEqual([imagePart]);
  });
});

const call = (more: Partial<ToolCallRequest> = {}): ToolCallRequest => ({
  type: "tool_call_request",
  id: "e1",
  timestamp: "2026-01-01T00:00:00Z",
  call_id: "c1",
  name: "Bash",
  arguments: {},
  ...more,
});

describe("createIdAssignment", () => {
  const assign = createIdAssignment({ max: 12, invalid: "bad", repeated: "twice" });

  it.each<[string, Partial<ToolCallRequest>, readonly string[], string, readonly string[]]>([
    ["keeps a valid id", {}, [], "c1", []],
    ["keeps one as long as can be", { call_id: "x".repeat(12) }, [], "x".repeat(12), []],
    ["makes one for an id that is too long", { call_id: "x".repeat(13) }, [], "call_e1", ["bad"]],
    ["makes one for an empty id", { call_id: "" }, [], "call_e1", ["bad"]],
    ["makes one for other letters", { call_id: "a:b" }, [], "call_e1", ["bad"]],
    ["makes one for other letters at the start", { call_id: ":b" }, [], "call_e1", ["bad"]],
    ["makes one for a repeated id", {}, ["c1"], "call_e1", ["twice"]],
    [
      "takes the end of a long event id, in its letters",
      { call_id: "", id: "2026:source.line7" },
      [],
      "call_e_line7",
      ["bad"],
    ],
  ])("%s", (_, more, used, id, rules) => {
    expect(assign(call(more), (known) => used.includes(known))).toEqual({ id, rules });
  });
});

describe("toToolName, toArgumentsText and toCustomInput", () => {
  it.each([
    ["Bash", "Bash"],
    ["a.b c", "a_b_c"],
    ["x".repeat(65), "x".repeat(64)],
    ["", "tool"],
  ])("name the tool %j %j", (name, sent) => {
    expect(toToolName(name)).toBe(sent);
  });

  it.each<[unknown, string, boolean]>([
    [{ a: 1 }, '{"a":1}', false],
    [[1], "[1]", false],
    ['{"a": 1}', '{"a": 1}', false],
    ["patch", '{"input":"patch"}', true],
    ["7", '{"input":"7"}', true],
    ["null", '{"input":"null"}', true],
    [null, "{}", true],
    [7, "{}", true],
  ])("send the arguments %j as %s", (value, sent, isChanged) => {
    expect(toArgumentsText(call({ arguments: value }))).toEqual({ text: sent, isChanged });
  });

  it.each<[unknown, string]>([
    ["patch", "patch"],
    [{ input: "patch" }, "patch"],
    [{ input: 7 }, '{"input":7}'],
    [{ text: "patch" }, '{"text":"patch"}'],
    [{ input: "patch", more: 1 }, '{"input":"patch","more":1}'],
    [{}, ""],
    [null, ""],
    [7, ""],
  ])("send the free text %j as %j", (value, sent) => {
    expect(toCustomInput(call({ arguments: value }))).toBe(sent);
  });

  it("recognise a call with a free text by what the importer recorded", () => {
    const said = (call_type: string) => isCustomCall(call({ metadata: { call_type } }));
    expect([said("custom"), said("function"), isCustomCall(call())]).toEqual([true, false, false]);
  });
});

describe("a draft of an assistant message", () => {
  const origin = (event: string) => ({ events: [event] });
  const said = { text: "hi", origin: origin("s") };
  const called = { request: call(), origin: origin("c"), toolCall: { id: "c1" } };
  const thought = (id: string, value: string) => ({ event: id, origin: origin(id), text: value });
  const draft = (more: Partial<ChatDraft> = {}, messageId?: string): ChatDraft => ({
    ...createDraft(messageId),
    ...more,
  });

  it.each<[string, ChatDraft, string | undefined, readonly [reasoning: boolean, text: boolean, call: boolean]]>([
    ["an empty draft", draft(), undefined, [true, true, true]],
    ["a draft of the same message", draft({}, "m"), "m", [true, true, true]],
    ["a draft of no known message", draft(), "m", [true, true, true]],
    ["a draft, when the message is not known", draft({}, "m"), undefined, [true, true, true]],
    ["a draft of another message", draft({}, "n"), "m", [false, false, false]],
    ["a draft with a text", draft({ said }), undefined, [false, false, true]],
    ["a draft with a call", draft({ calls: [called] }), undefined, [false, false, true]],
    ["a draft with reasoning", draft({ reasoning: [thought("r", "hm")] }), undefined, [true, true, true]],
  ])("%s takes what belongs to it", (_, into, messageId, taken) => {
    expect((["reasoning", "text", "call"] as const).map((what) => takes(into, what, messageId))).toEqual(taken);
  });

  it("becomes a message with what it holds, or none when it only thought", () => {
    const reasoning = [thought("r1", "one"), thought("r2", "two")];
    expect(toAssistantMessage(draft({ reasoning }))).toBeNull();
    expect(toAssistantMessage(draft({ said }))).toEqual({ events: ["s"], item: { role: "assistant", content: "hi" } });
    expect(toAssistantMessage(draft({ calls: [called] }))).toEqual({
      events: ["c"],
      item: { role: "assistant", content: "", tool_calls: [{ id: "c1" }] },
    });
    expect(toAssistantMessage(draft({ reasoning, said, calls: [called] }))).toEqual({
      events: ["r1", "r2", "s", "c"],
      item: { role: "assistant", content: "hi", reasoning_content: "one\ntwo", tool_calls: [{ id: "c1" }] },
    });
  });
});
