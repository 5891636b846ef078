// @module-tag law

import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ATTACHMENT_LIMITS,
  type AttachmentPayload,
  attachmentPath,
  attachmentsOf,
  inline,
  inlineTexts,
  isMovedOut,
  needsInlining,
  spill,
  textAttachmentsOf,
} from "../../../src/core/conversation/attachment.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { anyText } from "../../helpers/any-text.ts";
import { packedPdf, plainPdf } from "../../helpers/pdf.ts";
import { runs } from "../../helpers/runs.ts";

interface Kept {
  readonly files: Map<string, Uint8Array>;
  readonly put: (payload: AttachmentPayload) => string;
  readonly get: (name: string) => Uint8Array;
}

function createKept(): Kept {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    put: ({ bytes, extension }) => {
      const digest = createHash("sha256").update(bytes).digest("hex");
      files.set(extension === "" ? digest : `${digest}.${extension}`, bytes);
      return digest;
    },
    get: (name) => {
      const bytes = files.get(name);
      if (bytes === undefined) throw new Error(`no ${name}`);
      return bytes;
    },
  };
}

const request = (content: unknown): Event =>
  ({ type: "chat_request", id: "e1", timestamp: "2026-01-02T03:04:05Z", content }) as Event;
const picture = Buffer.alloc(3000, 7).toString("base64");

describe("spill", () => {
  it("returns an ordinary event itself", () => {
    const event = request([{ type: "text", text: "hello" }]);
    const kept = createKept();
    expect(spill(event, ATTACHMENT_LIMITS, kept.put)).toBe(event);
    expect(kept.files.size).toBe(0);
  });

  it("moves a text over the limit, counted in UTF-8 bytes, and keeps one at the limit", () => {
    const kept = createKept();
    const at = request("é".repeat(50));
    const over = request(`${"é".repeat(50)}a`);
    expect(spill(at, { bytes: 100 }, kept.put)).toBe(at);
    const moved = spill(over, { bytes: 100 }, kept.put);
    expect(attachmentsOf(moved)).toEqual([...kept.files.keys()]);
    expect([...kept.files.keys()][0]).toMatch(/^[0-9a-f]{64}\.txt$/);
    expect(inline(moved, kept.get)).toEqual(over);
  });

  it("moves canonical base64 of images and documents as bytes, in our shape and in a provider's", () => {
    const kept = createKept();
    const ours = { type: "image", media_type: "image/png", data: picture };
    const theirs = {
      type: "opaque",
      value: { type: "document", source: { type: "base64", media_type: "application/pdf", data: picture } },
    };
    const event = request([ours, theirs]);
    const moved = spill(event, ATTACHMENT_LIMITS, kept.put);
    expect([...kept.files.keys()].map((name) => name.slice(64))).toEqual([".png", ".pdf"]);
    expect(kept.files.values().next().value).toEqual(new Uint8Array(3000).fill(7));
    expect(JSON.stringify(moved)).toContain('"encoding":"base64"');
    expect(inline(moved, kept.get)).toEqual(event);
  });

  it("says of a document that it moved how long it is: the pages of a PDF, the bytes of another", () => {
    const kept = createKept();
    const document = (media_type: string, bytes: Uint8Array) => ({
      type: "document",
      media_type,
      data: Buffer.from(bytes).toString("base64"),
    });
    const text = document("text/plain", new Uint8Array(2000).fill(65));
    const event = request([document("application/pdf", plainPdf(30)), text]);
    const moved = spill(event, ATTACHMENT_LIMITS, kept.put);
    expect(moved).toMatchObject({ content: [{ data: { pages: 30 } }, { data: { size: 2000 } }] });
    expect(inline(moved, kept.get)).toEqual(event);

    const packed = request([document("application/pdf", packedPdf(300))]);
    const pagesIn = (limits: typeof ATTACHMENT_LIMITS): unknown => spill(packed, limits, kept.put);
    const inflate = (bytes: Uint8Array): Uint8Array => inflateSync(bytes);
    expect(pagesIn({ ...ATTACHMENT_LIMITS, inflate })).toMatchObject({ content: [{ data: { pages: 300 } }] });
    expect(pagesIn(ATTACHMENT_LIMITS)).toMatchObject({ content: [{ data: { pages: 1 } }] });
  });

  it.each([
    ["white space inside", picture.replace(/^..../, "$&\n")],
    ["missing padding", `${picture}AA`],
    ["foreign characters", `${picture.slice(0, -4)}_-_-`],
    ["non-zero unused bits", `${picture}AB==`],
  ])("leaves base64 that would not come back exactly as text: %s", (_, data) => {
    const kept = createKept();
    const event = request([{ type: "image", media_type: "image/png", data }]);
    expect(spill(event, ATTACHMENT_LIMITS, kept.put)).toBe(event);
    const moved = spill(event, { bytes: 100 }, kept.put);
    expect([...kept.files.keys()][0]).toMatch(/\.txt$/);
    expect(inline(moved, kept.get)).toEqual(event);
  });

  it("leaves a long text with a lone surrogate where it is", () => {
    const event = request(`${"x".repeat(200)}\ud800`);
    expect(spill(event, { bytes: 100 }, createKept().put)).toBe(event);
  });

  it("keeps a byte order mark", () => {
    const kept = createKept();
    const event = request(`\ufeff${"x".repeat(200)}`);
    expect(inline(spill(event, { bytes: 100 }, kept.put), kept.get)).toEqual(event);
  });

  it("leaves ids and names plain strings", () => {
    const event = {
      type: "tool_call_request",
      id: "i".repeat(300),
      timestamp: "t",
      call_id: "c".repeat(300),
      name: "n".repeat(300),
      arguments: {},
    } as Event;
    expect(spill(event, { bytes: 100 }, createKept().put)).toBe(event);
  });
});

describe("inline", () => {
  it("restores every event, whatever keys it has", () => {
    const key = fc.oneof(
      fc.constantFrom(
        "$attachment",
        "$$attachment",
        "$$$attachment",
        "encoding",
        "data",
        "type",
        "source",
        "__proto__",
      ),
      fc.string(),
    );
    const text = fc.oneof(
      anyText(),
      fc.string({ minLength: 20, maxLength: 60 }),
      fc.constantFrom(picture, "image", "base64"),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("tree")),
        tie("object"),
      ),
      object: fc.array(fc.tuple(key, tie("tree")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree), (fields) => {
        const event = { ...fields, type: "note", id: "e1", timestamp: "t", kind: "k" } as unknown as Event;
        const before = JSON.stringify(event);
        const kept = createKept();
        const stored = JSON.parse(JSON.stringify(spill(event, { bytes: 24 }, kept.put))) as Event;
        expect(JSON.stringify(inline(stored, kept.get))).toBe(before);
        if (!needsInlining(stored)) expect(inline(stored, kept.get)).toBe(stored);
        const read = inlineTexts(stored, kept.get);
        expect(JSON.stringify(inline(read, kept.get))).toBe(before);
        expect(textAttachmentsOf(read)).toEqual([]);
        expect(JSON.stringify(event)).toBe(before);
        expect(new Set(attachmentsOf(stored))).toEqual(new Set(kept.files.keys()));
      }),
      { numRuns: runs(500) },
    );
  });

  it.each<[string, unknown]>([
    ["a key that looks escaped, under a plain key", { name: { $$attachment: null } }],
    ["a reference of the event's own, under a plain key", { name: { $attachment: "not a digest" } }],
    [
      "both, in lists and deeper",
      { call_id: [{ $attachment: 1, $$attachment: { $$$attachment: [{ $attachment: "x" }] } }] },
    ],
    ["both, where nothing is plain", { data: { $attachment: null, $$attachment: "y" } }],
    ["a long string under a plain key", { kind: "k".repeat(300) }],
  ])("gives back %s", (_, fields) => {
    const event = { type: "later_kind", id: "e1", ...(fields as object) } as unknown as Event;
    const kept = createKept();
    const stored = JSON.parse(JSON.stringify(spill(event, { bytes: 100 }, kept.put))) as Event;
    expect(kept.files.size).toBe(0);
    expect(attachmentsOf(stored)).toEqual([]);
    expect(inline(stored, kept.get)).toEqual(event);
  });

  it("refuses a name that is no digest, so that no path leaves the folder", () => {
    const event = request({ $attachment: "../../etc/passwd" });
    expect(() => inline(event, () => new Uint8Array())).toThrow(
      expect.objectContaining({ code: "bad_attachment_name" }),
    );
    expect(() => attachmentPath("ab/../x")).toThrow(expect.objectContaining({ code: "bad_attachment_name" }));
  });
});

describe("inlineTexts", () => {
  it("brings back long texts and documents of text, and leaves images, other documents and definitions of tools", () => {
    const kept = createKept();
    const data = Buffer.from("words of a file\n".repeat(200)).toString("base64");
    const text = { type: "text", text: "long ".repeat(100) };
    const notes = { type: "document", media_type: "text/markdown", data };
    const image = { type: "image", media_type: "image/png", data: picture };
    const pdf = { type: "document", media_type: "application/pdf", data: picture };
    const event = request([text, notes, image, pdf, { type: "later", value: { $attachment: "own" } }]);
    const stored = spill(event, { bytes: 100 }, kept.put);
    expect(kept.files.size).toBe(4);
    expect(textAttachmentsOf(stored)).toHaveLength(2);
    const read = inlineTexts(stored, kept.get) as { content: readonly unknown[] } & Event;
    expect(read.content.slice(0, 2)).toEqual([text, notes]);
    expect(attachmentsOf(read).map((name) => name.slice(64))).toEqual([".png", ".pdf"]);
    expect(inline(read, kept.get)).toEqual(event);
    const tool = { type: "config_delta", delta: { definition: { $attachment: `${"a".repeat(64)}.json` } } };
    expect(inlineTexts(tool as unknown as Event, kept.get)).toBe(tool);
  });

  it("leaves what is not loaded, and what is no name", () => {
    const lost = request({ $attachment: `${"a".repeat(64)}.txt` });
    expect(inlineTexts(lost, () => null)).toBe(lost);
    const strange = request({ $attachment: "../../etc/passwd.txt" });
    expect(inlineTexts(strange, () => new Uint8Array())).toBe(strange);
  });
});

describe("isMovedOut", () => {
  it("says which strings are stored in files of their own", () => {
    expect([50, 51, 101].map((count) => isMovedOut("é".repeat(count), { bytes: 100 }))).toEqual([false, true, true]);
    expect(isMovedOut(`${"x".repeat(200)}\ud800`, { bytes: 100 })).toBe(false);
    expect(isMovedOut("x".repeat(256 * 1024 + 1))).toBe(true);
  });
});

describe("attachmentPath", () => {
  it("spreads files over folders named by the first two digits", () => {
    const name = `ab${"0".repeat(62)}.png`;
    expect(attachmentPath(name)).toBe(`attachments/ab/${name}`);
  });
});
