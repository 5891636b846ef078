// Content of events as content of Chat Completions messages: the user's may hold media, everybody else's is text.
import { isText, plainText } from "../event/content.ts";
import type { Content } from "../event/event.ts";
import { type ContentPiece, joinPieces, nameOf, toPieces } from "./openai-pieces.ts";
import type { ProviderObject } from "./openai-thread.ts";

/** Part types of user messages that are passed on as OpenAI gave them. */
const USER_PARTS: ReadonlySet<unknown> = new Set(["text", "image_url", "input_audio", "file"]);
/** Stands before the media of a tool's result, which a tool message cannot hold. */
const MEDIA_OF_RESULT = "[Media of the tool result above]";

/** A content, or none when nothing of it can be sent; `isCut` when something fell out of it. */
export interface ChatContent {
  readonly content: string | readonly ProviderObject[] | null;
  readonly isCut: boolean;
}

/** Content of a user message; `frame` is put around each text. */
export function toUserContent(content: Content, frame: (text: string) => string = asIs): ChatContent {
  const pieces = toPieces(content);
  const parts = pieces.flatMap((piece) => toUserPart(piece, frame));
  const isCut = parts.length < partCount(content);
  const [only] = parts;
  if (only === undefined) return { content: null, isCut };
  return { content: parts.length === 1 && only["type"] === "text" ? String(only["text"]) : parts, isCut };
}

/** Content of a system, developer or assistant message: text; media are named. */
export function toTextContent(content: Content): ChatContent {
  const pieces = toPieces(content);
  const text = joinPieces(pieces);
  const isCut = pieces.filter((piece) => nameOf(piece) !== "").length < partCount(content);
  return { content: text === "" ? null : text, isCut };
}

/** Content of a tool message, which may be empty, and the media that a user message must show instead. */
export function toToolContent(content: Content): {
  readonly content: string;
  readonly media: readonly ProviderObject[];
  readonly isCut: boolean;
} {
  if (isText(content)) return { content: plainText(content), media: [], isCut: false };
  const pieces = toPieces(content);
  const shown = mediaParts(pieces);
  const media = shown.length === 0 ? [] : [{ type: "text", text: MEDIA_OF_RESULT }, ...shown];
  return { content: joinPieces(pieces), media, isCut: pieces.some((piece) => nameOf(piece) === "") };
}

/** The images and files among pieces, as parts of a user message. */
export function mediaParts(pieces: readonly ContentPiece[]): readonly ProviderObject[] {
  const media = pieces.filter(({ type }) => type === "image" || type === "file");
  return media.flatMap((piece) => toUserPart(piece, asIs)).filter((part) => part["type"] !== "text");
}

function toUserPart(piece: ContentPiece, frame: (text: string) => string): readonly ProviderObject[] {
  switch (piece.type) {
    case "text":
      return [{ type: "text", text: frame(piece.text) }];
    case "image":
      return [{ type: "image_url", image_url: { url: piece.url } }];
    case "file":
      // The API takes files as data only, and only PDF everywhere.
      return piece.data?.startsWith("data:application/pdf;") === true
        ? [{ type: "file", file: { filename: piece.name, file_data: piece.data } }]
        : [{ type: "text", text: nameOf(piece) }];
    case "opaque":
      return USER_PARTS.has(piece.value["type"]) ? [piece.value] : [];
    case "foreign":
      return [];
  }
}

function asIs(text: string): string {
  return text;
}

function partCount(content: Content): number {
  return isText(content) ? 1 : content.length;
}
