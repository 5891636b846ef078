// Files that stand in messages of OpenCode as content parts. What jpg does not know is carried verbatim.
import type { Content, ContentPart } from "../../core/conversation/event.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";

/** Marks what only OpenCode understands, as the provider of an opaque part. */
export const OPENCODE_PART = "opencode";
/** Files whose text stands beside them in a part of its own: the agent does not send them. */
const TOLD_AS_TEXT: ReadonlySet<string> = new Set(["text/plain", "application/x-directory"]);
const DATA_URL = /^data:([^;,]+)(?:;[^;,]*)*;base64,/;

/** Whether the agent sends a file of a user's message as a file. */
export function isSentFile(part: RawLine): boolean {
  return !TOLD_AS_TEXT.has(stringOf(part, "mime") ?? "");
}

/** Converts a file. */
export function toFilePart(part: RawLine): ContentPart {
  const mime = stringOf(part, "mime") ?? "";
  const url = stringOf(part, "url") ?? "";
  const type = mime.startsWith("image/") ? "image" : mime === "application/pdf" ? "document" : null;
  if (type === null || url === "") return { type: "opaque", provider: OPENCODE_PART, value: bareFile(part) };
  const title = stringOf(part, "filename");
  const named = title === undefined ? {} : { title };
  const data = DATA_URL.exec(url);
  if (data === null) return { type, media_type: mime, url, ...named };
  return { type, media_type: data[1] ?? mime, data: url.slice(data[0].length), ...named };
}

/** The fields of a file that do not say where it stands. */
function bareFile({ id: _, sessionID: __, messageID: ___, ...file }: RawLine): RawLine {
  return file;
}

/** A list of parts as a content: of one plain text that text. */
export function contentOfParts(parts: readonly ContentPart[]): Content {
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

/** The output of a tool with the files that it gave. */
export function outputContent(output: string, attachments: unknown): Content {
  const files = Array.isArray(attachments) ? attachments.filter(isRecord).map(toFilePart) : [];
  if (files.length === 0) return output;
  return output === "" ? files : [{ type: "text", text: output }, ...files];
}
