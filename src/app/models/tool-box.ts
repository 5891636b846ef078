// Tools that a model may call while it answers: jpg's own and those of MCP servers, with one interface.
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { Content, ContentPart } from "../../core/conversation/event.ts";

/** The result of a tool, stored as the result of the call. */
export interface ToolResult {
  readonly content: Content;
  readonly isError: boolean;
}

export interface Tool {
  readonly definition: ToolDefinition;
  /** `jpg` for its own, else the name of the MCP server. */
  readonly origin: string;
  /** Whether the user is asked before each call. */
  readonly confirm: boolean;
  /** Calls it. Failures in the tool are results with `isError`; throws only an abort. */
  call(args: Readonly<Record<string, unknown>>, options: ToolCallOptions): Promise<ToolResult>;
}

export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Called with a line for the user; not safe for a terminal yet. */
  readonly notice?: (text: string) => void;
}

/** Open tools; must be closed. */
export interface ToolBox {
  readonly tools: readonly Tool[];
  /** Tools that could not be opened, as sentences. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

export const NO_TOOLS: ToolBox = { tools: [], problems: [], close: () => Promise.resolve() };

/** Bytes of text of one result; of a longer one, both ends are kept. */
export const MAX_TEXT_BYTES: number = 256 * 1024;
/** Bytes of the largest image, and of all images of a result together. */
const MAX_IMAGE_BYTES: number = 5 * 1024 * 1024;
const MAX_IMAGES_BYTES: number = 10 * 1024 * 1024;
/** Types that all providers accept. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

type Block = CallToolResult["content"][number];

/** Converts a result into content. Texts alone become one text. */
export function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const blocks: readonly Block[] =
    content.length === 0 && structuredContent !== undefined
      ? [{ type: "text", text: JSON.stringify(structuredContent, null, 1) }]
      : content;
  const parts = joinTexts(limitImages(blocks).map(partOf));
  const limited = limitTexts(parts);
  const [only] = limited;
  return {
    content: limited.length === 0 ? "" : limited.length === 1 && only?.type === "text" ? only.text : limited,
    isError: isError === true,
  };
}

type Part = Extract<ContentPart, { readonly type: "text" }> & { readonly text: string };
type ImagePart = Extract<ContentPart, { readonly type: "image" | "document" }>;

function partOf(block: Block): Part | ImagePart {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return { type: "image", media_type: block.mimeType, data: block.data };
    case "audio":
      return text(`[audio of type ${block.mimeType} left out: ${sizeOf(block.data)}]`);
    case "resource_link":
      return text(`[resource ${block.uri}${block.description === undefined ? "" : `: ${block.description}`}]`);
    case "resource": {
      const { resource } = block;
      return text(
        "text" in resource
          ? `[resource ${resource.uri}]\n${resource.text}`
          : `[resource ${resource.uri} left out: ${sizeOf(resource.blob)}]`,
      );
    }
    default:
      return text(`[${String((block as { type: unknown }).type)} left out: jpg does not know it]`);
  }
}

/** Replaces images that are too large, too many, or of a type that models do not accept, by a text. */
function limitImages(blocks: readonly Block[]): readonly Block[] {
  let total = 0;
  return blocks.map((block) => {
    if (block.type !== "image") return block;
    const bytes = base64Bytes(block.data);
    const reason = !IMAGE_TYPES.has(block.mimeType)
      ? `models do not take ${block.mimeType}`
      : bytes > MAX_IMAGE_BYTES || total + bytes > MAX_IMAGES_BYTES
        ? `${sizeOf(block.data)}, more than fits`
        : null;
    if (reason === null) total += bytes;
    return reason === null ? block : { type: "text", text: `[image left out: ${reason}]` };
  });
}

function joinTexts(parts: readonly (Part | ImagePart)[]): readonly (Part | ImagePart)[] {
  const joined: (Part | ImagePart)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === "text" && last?.type === "text") joined[joined.length - 1] = text(`${last.text}\n${part.text}`);
    else joined.push(part);
  }
  return joined;
}

function limitTexts(parts: readonly (Part | ImagePart)[]): readonly (Part | ImagePart)[] {
  let left = MAX_TEXT_BYTES;
  return parts.map((part) => {
    if (part.type !== "text") return part;
    const cut = cutMiddleBytes(part.text, left);
    left = Math.max(0, left - Buffer.byteLength(part.text));
    return text(cut);
  });
}

/** Keeps both ends of a text longer than so many bytes, and says between them how much is missing. */
export function cutMiddleBytes(whole: string, maxBytes: number): string {
  const bytes = Buffer.from(whole, "utf8");
  if (bytes.length <= maxBytes) return whole;
  const head = characterStart(bytes, Math.floor(maxBytes / 2));
  const tail = characterStart(bytes, bytes.length - Math.floor(maxBytes / 2));
  const missing = `[… ${tail - head} of ${bytes.length} bytes left out …]`;
  return `${bytes.toString("utf8", 0, head)}\n${missing}\n${bytes.toString("utf8", tail)}`;
}

/** The first byte at or after `at` that begins a character. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}

function text(value: string): Part {
  return { type: "text", text: value };
}

function base64Bytes(data: string): number {
  return Math.floor((data.length * 3) / 4);
}

function sizeOf(data: string): string {
  return `${Math.ceil(base64Bytes(data) / 1024)} KiB`;
}
