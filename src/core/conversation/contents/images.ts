// Images in requests and in results of tools. One line replaces each: what it was, how large, and the event that has it.
import type { Content, ContentPart, Event } from "../event.ts";
import { formatBytes } from "../token-estimate.ts";
import { type ContentType, type Copied, strippedContent } from "./content-type.ts";

type ImagePart = Extract<ContentPart, { readonly type: "image" | "document" }>;

const { opinion, ...common } = strippedContent("images");

/** A media type as agents write it; others are left out, so that the line stays one line. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/** Images, each replaced by a line; the text around them stays. A policy that removes more of the event wins over this. */
export const imagesContent: ContentType<"images"> = {
  ...common,
  isNeeded: true,
  touchesRequests: true,
  isPart: true,
  projected: {
    contentOf: (event) => (partsOf(event).some(isImage) ? "images" : null),
    opinion,
    shorten: (event) => {
      const parts = partsOf(event);
      if (!parts.some(isImage)) return event;
      return { ...event, content: parts.map((part) => (isImage(part) ? stubOf(part, event.id) : part)) } as Event;
    },
  },
  covered: {
    appliesTo: ({ type }) => type === "chat_request" || type === "tool_call_response",
    expects: ({ images }) => (images === "strip" ? "stripped" : undefined),
    isStripped: ({ event, copy }) => {
      const [shown, raw] = [listParts(copy), listParts(event)];
      const lines =
        shown.filter((part) => isLine(part, event)).length - raw.filter((part) => isLine(part, event)).length;
      return shown.every(({ type }) => type !== "image") && lines === raw.filter(({ type }) => type === "image").length;
    },
    setAside: ({ event, copy }) => ({ event: withoutImages(event, event), copy: withoutImages(copy, event) }),
  },
};

function partsOf(event: Event): readonly ContentPart[] {
  if (event.type !== "chat_request" && event.type !== "tool_call_response") return [];
  return Array.isArray(event.content) ? (event.content as readonly ContentPart[]) : [];
}

function isImage(part: ContentPart): part is ImagePart {
  return part.type === "image";
}

function stubOf({ media_type = "", data }: ImagePart, event: string): ContentPart {
  const size = sizeOf(data);
  const facts = [...(MEDIA_TYPE.test(media_type) ? [media_type] : []), ...(size === null ? [] : [formatBytes(size)])];
  return { type: "text", text: `[compacted] image${facts.length === 0 ? "" : `: ${facts.join(", ")}`} · ${event}` };
}

/** Bytes; null where unknown: an image by address, or one stored before sizes were. */
function sizeOf(data: ImagePart["data"]): number | null {
  if (data === undefined) return null;
  if (typeof data !== "string") return data.size ?? null;
  return Math.floor((data.replace(/[\s=]+/g, "").length * 3) / 4);
}

function listParts(event: Event): readonly ContentPart[] {
  const content: Content | undefined = "content" in event ? event.content : undefined;
  return Array.isArray(content) ? content : [];
}

function isLine(part: ContentPart, { id }: Event): boolean {
  if (part.type !== "text" || typeof part.text !== "string") return false;
  return part.text.startsWith("[compacted] image") && part.text.endsWith(` · ${id}`) && !part.text.includes("\n");
}

/** An event without its images, and without lines that replace images of `of`. */
function withoutImages(event: Event, of: Event): Event {
  if (!("content" in event) || !Array.isArray(event.content)) return event;
  const content = listParts(event).filter((part) => part.type !== "image" && !isLine(part, of));
  return { ...event, content } as Copied["event"];
}
