// What is left of a request whose attachments are stripped.
import { describe, expect, it } from "vitest";
import { stubAttachments } from "../../../src/core/conversation/attachment.ts";
import type { ChatRequest, Content } from "../../../src/core/conversation/event.ts";

// covers: 036 "`strip-attachments` policy"
// covers: 036 "Attachments leave the system prompt"

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
