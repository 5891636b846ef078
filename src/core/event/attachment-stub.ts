// What a request looks like once its images, documents and attachments are stripped: each leaves a short text behind, so
// that the model still knows that something was there.
import type { ChatRequest, ContentPart } from "./event.ts";

/** Strips image, document and attachment parts of a request; one without any is returned as it is. */
export function stubAttachments(request: ChatRequest): ChatRequest {
  const { content } = request;
  if (!Array.isArray(content)) return request;
  const parts: readonly ContentPart[] = content;
  const stripped = parts.map(stripPart);
  return stripped.every((part, at) => part === parts[at]) ? request : { ...request, content: stripped };
}

function stripPart(part: ContentPart): ContentPart {
  switch (part.type) {
    case "image":
    case "document":
      return stub(part.type, part.title ?? part.media_type);
    case "attachment":
      return stub(part.type, part.name);
    default:
      return part;
  }
}

function stub(kind: string, label: string | undefined): ContentPart {
  return { type: "text", text: label === undefined ? `[compacted] ${kind}` : `[compacted] ${kind}: ${label}` };
}
