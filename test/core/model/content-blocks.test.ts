// What each part of a content becomes for Anthropic and for Google, and the rules it is left out by.

import { describe, expect, it } from "vitest";
import {
  attachmentText,
  type ChatResponse,
  type Content,
  type ContentPart,
  type EventMetadata,
  isMedia,
  mediaOf,
  plainText,
  textOfContent,
} from "../../../src/core/conversation/event.ts";
import { toBlocks, toResultContent, toThinkingBlock } from "../../../src/core/model/anthropic-blocks.ts";
import { toArguments, toFunctionName, toParts, toResponse } from "../../../src/core/model/google-thread.ts";

const moved = { $attachment: "ab12", bytes: 900 };
const REMOVED = { type: "text", text: "[Tool references removed - tools no longer available]" };
const reference: ContentPart = { type: "opaque", value: { type: "tool_reference", tool_name: "Grep" } };
const text = (value: string): ContentPart => ({ type: "text", text: value });

const PARTS: readonly (readonly [string, ContentPart])[] = [
  ["text", text("hi")],
  ["moved text", { type: "text", text: moved }],
  ["blank text", text(" \n")],
  ["attachment", { type: "attachment", name: "a.txt", text: "inside" }],
  ["attachment of which only the name is left", { type: "attachment", name: "a.txt" }],
  ["attachment without anything", { type: "attachment", name: "" }],
  ["image with data", { type: "image", media_type: "image/png", data: "AAAA" }],
  ["titled image", { type: "image", media_type: "image/png", data: "AAAA", title: "a.png" }],
  ["image of an unknown type", { type: "image", data: "AAAA" }],
  ["image by address", { type: "image", url: "https://example.invalid/a.png" }],
  ["titled document by address", { type: "document", url: "https://example.invalid/a", title: "A", media_type: "a/b" }],
  ["titled document with data", { type: "document", data: "BBBB", media_type: "application/pdf", title: "A" }],
  ["moved image", { type: "image", data: moved }],
  ["document without anything", { type: "document", title: "A" }],
];

describe("toBlocks", () => {
  const source = { type: "base64", media_type: "application/octet-stream", data: "AAAA" };
  const url = "https://example.invalid/a";
  const blocks: Record<string, object> = {
    text: text("hi"),
    "moved text": text("[attachment ab12]"),
    attachment: text("a.txt\ninside"),
    "attachment of which only the name is left": text("a.txt"),
    "image with data": { type: "image", source: { ...source, media_type: "image/png" } },
    "titled image": { type: "image", source: { ...source, media_type: "image/png" } },
    "image of an unknown type": { type: "image", source },
    "image by address": { type: "image", source: { type: "url", url: `${url}.png` } },
    "titled document by address": { type: "document", source: { type: "url", url }, title: "A" },
    "titled document with data": {
      type: "document",
      source: { ...source, media_type: "application/pdf", data: "BBBB" },
      title: "A",
    },
    "moved image": text("[attachment ab12]"),
    "document without anything": text("[document]"),
  };

  it.each(PARTS)("makes of a part, %s, a block, or leaves it out as blank", (name, part) => {
    const block = blocks[name];
    expect(toBlocks([part])).toEqual(block ? { blocks: [block], rules: [] } : { blocks: [], rules: ["A10"] });
  });

  it.each<[string, string | undefined, unknown, readonly unknown[], readonly string[]]>([
    ["its own", "anthropic", { type: "search_result" }, [{ type: "search_result" }], []],
    ["nobody's", undefined, { type: "search_result" }, [{ type: "search_result" }], []],
    ["another provider's", "openai", { type: "search_result" }, [], ["A19"]],
    ["an object without a type", "anthropic", { kind: "x" }, [], ["A11"]],
    ["nothing", "anthropic", null, [], ["A11"]],
    ["a text", "anthropic", "type", [], ["A11"]],
  ])("takes of what only a provider understands %s", (_, provider, value, made, rules) => {
    const part: ContentPart = { type: "opaque", value, ...(provider !== undefined && { provider }) };
    expect(toBlocks([part])).toEqual({ blocks: made, rules });
  });

  it("takes a text as one block, and gives the rules of all parts in order", () => {
    expect(toBlocks("hi")).toEqual({ blocks: [text("hi")], rules: [] });
    expect(toBlocks("\t")).toEqual({ blocks: [], rules: ["A10"] });
    const foreign: ContentPart = { type: "opaque", provider: "google", value: {} };
    expect(toBlocks([foreign, text("a"), text("")])).toEqual({ blocks: [text("a")], rules: ["A19", "A10"] });
  });
});

describe("toResultContent", () => {
  it.each<[string, Content, unknown, readonly string[]]>([
    ["a text, also an empty one", "", "", []],
    ["a moved text", moved, "[attachment ab12]", []],
    ["parts", [text("a")], [text("a")], []],
    ["no parts", [], [], []],
    ["references alone", [reference], [REMOVED], ["A21"]],
    ["references beside a text", [reference, text("a")], [text("a")], ["A21"]],
    ["references beside a blank text", [text(" "), reference], [REMOVED], ["A10", "A21"]],
    ["a part that holds nothing", [{ type: "opaque", value: null }], [], ["A11"]],
    ["a part of another type", [{ type: "opaque", value: { type: "x" } }], [{ type: "x" }], []],
  ])("gives %s", (_, content, made, rules) => {
    expect(toResultContent(content, false)).toEqual({ content: made, rules });
  });
});

describe("toThinkingBlock", () => {
  const own = { provider: "anthropic", model: "claude-opus-4-5", signature: "c2ln" };
  const block = { type: "thinking", thinking: "hm", signature: "c2ln" };
  const redacted = { type: "redacted_thinking", data: "ZW5j" };

  it.each<[string, EventMetadata | undefined, string | undefined, object | undefined]>([
    ["its own", own, "claude-opus-4-5-20251101", block],
    ["any where no model is named", own, undefined, block],
    ["that of an unknown model", { signature: "c2ln" }, "claude-opus-4-5", block],
    ["none of another model", own, "claude-haiku-4-5", undefined],
    ["none of another provider", { ...own, provider: "openai" }, undefined, undefined],
    ["none without a signature", { provider: "anthropic" }, undefined, undefined],
    ["none with an empty signature", { ...own, signature: "" }, undefined, undefined],
    ["none of which nothing is known", undefined, undefined, undefined],
    ["what is encrypted, signed or not", { ...own, encrypted: "ZW5j" }, "claude-opus-4-5", redacted],
    ["nothing encrypted of another model", { ...own, encrypted: "ZW5j" }, "claude-haiku-4-5", undefined],
  ])("sends %s", (_, metadata, model, made) => {
    const event: ChatResponse = { type: "chat_response", id: "e", timestamp: "t", reasoning: "hm" };
    expect(toThinkingBlock(metadata ? { ...event, metadata } : event, model)).toEqual(made);
  });

  it("sends a signature also where its text was withheld", () => {
    const event: ChatResponse = { type: "chat_response", id: "e", timestamp: "t", metadata: own };
    expect(toThinkingBlock(event, undefined)).toEqual({ ...block, thinking: "" });
  });
});

describe("toParts", () => {
  const parts: Record<string, object> = {
    text: { text: "hi" },
    "moved text": { text: "[attachment ab12]" },
    attachment: { text: "a.txt\ninside" },
    "attachment of which only the name is left": { text: "a.txt" },
    "image with data": { inlineData: { mimeType: "image/png", data: "AAAA" } },
    "titled image": { inlineData: { mimeType: "image/png", data: "AAAA" } },
    "image of an unknown type": { inlineData: { mimeType: "application/octet-stream", data: "AAAA" } },
    "image by address": { text: "[image https://example.invalid/a.png]" },
    "titled document by address": { fileData: { mimeType: "a/b", fileUri: "https://example.invalid/a" } },
    "titled document with data": { inlineData: { mimeType: "application/pdf", data: "BBBB" } },
    "moved image": { text: "[attachment ab12]" },
    "document without anything": { text: "[document]" },
  };

  it.each(PARTS)("makes of a part, %s, a part, or leaves it out as blank", (name, part) => {
    const made = parts[name];
    expect(toParts([part])).toEqual(made ? { parts: [made], rules: [] } : { parts: [], rules: ["G7"] });
  });

  it.each<[string, string | undefined, unknown, boolean]>([
    ["code that it runs", "google", { executableCode: { code: "1" } }, true],
    ["what the code gave", "google", { codeExecutionResult: { outcome: "OK" } }, true],
    ["a file by address", "google", { fileData: { fileUri: "x" } }, true],
    ["nothing that it does not know", "google", { functionCall: {} }, false],
    ["nothing with more than one field", "google", { executableCode: {}, thought: true }, false],
    ["nothing of another provider", "openai", { executableCode: {} }, false],
    ["nothing of nobody", undefined, { executableCode: {} }, false],
    ["no field without an object: null", "google", { executableCode: null }, false],
    ["no field without an object: a text", "google", { executableCode: "1" }, false],
    ["no null", "google", null, false],
    ["no text", "google", "executableCode", false],
    ["no empty object", "google", {}, false],
  ])("takes of what only a provider understands %s", (_, provider, value, isTaken) => {
    const part: ContentPart = { type: "opaque", value, ...(provider !== undefined && { provider }) };
    expect(toParts([part])).toEqual(isTaken ? { parts: [value], rules: [] } : { parts: [], rules: ["G11"] });
  });

  it("takes a text as one part, and gives the rules of all parts in order", () => {
    expect(toParts("hi")).toEqual({ parts: [{ text: "hi" }], rules: [] });
    expect(toParts(" ")).toEqual({ parts: [], rules: ["G7"] });
    expect(toParts([{ type: "opaque", value: 1 }, text("a"), text("")])).toEqual({
      parts: [{ text: "a" }],
      rules: ["G11", "G7"],
    });
  });
});

describe("toResponse, toArguments and toFunctionName", () => {
  const image: ContentPart = { type: "image", data: "AAAA", media_type: "image/png" };
  const inline = { inlineData: { mimeType: "image/png", data: "AAAA" } };

  it.each<[string, Content, string, readonly unknown[], readonly string[]]>([
    ["a text", "done", "done", [], []],
    ["texts and images", [text("a"), image, text("b")], "a\nb", [inline], []],
    ["a file's text", [{ type: "attachment", name: "a.txt", text: "in" }], "in", [], []],
    ["a file without a text", [{ type: "attachment", name: "a.txt" }], "", [{ text: "a.txt" }], []],
    ["what it does not understand", [{ type: "opaque", value: 1 }], "", [], ["G11"]],
  ])("answer with %s", (_, content, output, media, rules) => {
    expect(toResponse(content, false)).toEqual({ response: { output }, media, rules });
    expect(toResponse(content, true)).toEqual({ response: { error: output }, media, rules });
  });

  it.each([
    [undefined, {}],
    [null, {}],
    [{ a: 1 }, { a: 1 }],
    [["x"], { input: ["x"] }],
    ["x", { input: "x" }],
    [0, { input: 0 }],
  ])("send the arguments %j as %j", (value, sent) => {
    expect(toArguments(value)).toEqual(sent);
  });

  it.each([
    ["look", "look"],
    ["a b/c", "a_b_c"],
    ["mcp:x.y-z_1", "mcp:x.y-z_1"],
    ["9a", "_9a"],
    [".a", "_.a"],
    ["_a", "_a"],
    ["Z", "Z"],
    ["", "_"],
    ["x".repeat(65), "x".repeat(64)],
  ])("name the function %j %j", (name, sent) => {
    expect(toFunctionName(name)).toBe(sent);
  });
});

describe("the text of a content", () => {
  it("names what is no text nowhere, and puts parts on lines of their own", () => {
    const attachment = { type: "attachment", name: "a.txt", text: "inside" } as const;
    const content: Content = [text("a"), { type: "image", data: "AAAA" }, attachment, reference, text("b")];
    expect(textOfContent(content)).toBe("a\ninside\nb");
    expect(textOfContent([{ type: "attachment", name: "a.txt" }])).toBe("");
    expect(textOfContent("plain")).toBe("plain");
    expect(plainText(moved)).toBe("[attachment ab12]");
    expect(attachmentText({ type: "attachment", name: "", text: "inside" })).toBe("inside");
    expect(attachmentText(attachment)).toBe("a.txt\ninside");
  });

  it("has images and documents in addition", () => {
    const [image, document] = [{ type: "image" }, { type: "document" }] as const;
    expect(mediaOf([text("a"), image, reference, document])).toEqual([image, document]);
    expect(mediaOf("text")).toEqual([]);
    expect([image, document, text("a"), reference].map(isMedia)).toEqual([true, true, false, false]);
  });
});
