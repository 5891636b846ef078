import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { countPages, stubAttachments } from "../../../src/core/conversation/attachment.ts";
import type { ChatRequest, Content } from "../../../src/core/conversation/event.ts";
import { packedPdf, plainPdf } from "../../helpers/pdf.ts";

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const inflate = (bytes: Uint8Array): Uint8Array | null => {
  try {
    return inflateSync(bytes);
  } catch {
    return null;
  }
};

describe("countPages", () => {
  it.each([1, 2, 20, 90])("finds the pages of a PDF of %i, plain or in packed streams", (pages) => {
    expect(countPages(plainPdf(pages))).toBe(pages);
    expect(countPages(packedPdf(pages), inflate)).toBe(pages);
  });

  it("counts a page that was changed once", () => {
    const twice = latin1(`${String.fromCharCode(...plainPdf(3))}4 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n`);
    expect(countPages(twice)).toBe(3);
  });

  it("takes what a page tree says where pages cannot be unpacked, whichever key is first", () => {
    const packed =
      "5 0 obj\n<< /Type /ObjStm /Filter /FlateDecode /N 9 /First 40 >>\nstream\n????\nendstream\nendobj\n";
    const padding = " ".repeat(5000);
    for (const tree of ["<</Type/Pages/Kids[3 0 R]/Count 17>>", "<< /Count 17 /Kids [3 0 R] /Type /Pages >>"])
      expect(countPages(latin1(`%PDF-1.7\n2 0 obj\n${tree}\nendobj\n${packed}${padding}`), inflate), tree).toBe(17);
  });

  it("reads object streams that are not packed, and no outline for a page tree", () => {
    const plain = "<< /Type /ObjStm /N 2 >>\nstream\n<</Type/Page>><</Type/Page>>\nendstream";
    const outline = "<< /Type /Outlines /Count 99 >>";
    expect(countPages(latin1(`%PDF-1.5\n1 0 obj\n${outline}\nendobj\n2 0 obj\n${plain}\nendobj\n`))).toBe(2);
  });

  it("goes by bytes when no page is found, and rejects a count that the file is too small for", () => {
    expect(countPages(latin1(`%PDF-1.7\n${"x".repeat(500_000)}`))).toBe(10);
    expect(countPages(packedPdf(90))).toBeLessThan(90);
    expect(countPages(latin1("%PDF-1.7\n<< /Type /Pages /Count 4000000000 >>"))).toBe(1);
    expect(countPages(latin1("%PDF-"))).toBe(1);
  });

  it("knows a PDF by its mark, also after a few other bytes, and nothing else", () => {
    expect(countPages(latin1(`\n\n%PDF-1.4\n<< /Type /Page >>`))).toBe(1);
    expect(countPages(latin1("<< /Type /Page >>"))).toBeNull();
    expect(countPages(new Uint8Array())).toBeNull();
    expect(countPages(deflateSync("%PDF-1.4"))).toBeNull();
  });
});

// What is left of a request whose attachments are stripped.

function request(content: Content): ChatRequest {
  return { type: "chat_request", id: "q", timestamp: "2026-01-01T00:00:00Z", content };
}

describe("stubAttachments", () => {
  it("leaves a short text for each image, document and attachment", () => {
    const opaque = { type: "opaque", value: 1 } as const;
    const stripped = stubAttachments(
      request([
        { type: "text", text: "look" },
        { type: "image", media_type: "image/png", data: "AAAA" },
        { type: "document", title: "Plan", data: "AAAA" },
        { type: "attachment", name: "a.txt", text: "body" },
        { type: "image" },
        opaque,
      ]),
    );
    expect(stripped.content).toEqual([
      { type: "text", text: "look" },
      { type: "text", text: "[compacted] image: image/png" },
      { type: "text", text: "[compacted] document: Plan" },
      { type: "text", text: "[compacted] attachment: a.txt" },
      { type: "text", text: "[compacted] image" },
      opaque,
    ]);
  });

  it("returns a request without any as it is", () => {
    for (const plain of [request("hi"), request([{ type: "text", text: "hi" }])])
      expect(stubAttachments(plain)).toBe(plain);
  });
});
