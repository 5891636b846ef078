// A view in the form of an OpenAI API: a flat list of items, each of which knows the events it came from.
import {
  attachmentText,
  type Content,
  type ContentPart,
  type Event,
  isText,
  type MediaPart,
  type ProjectedTurn,
  plainText,
  type Text,
  type ToolCallRequest,
  type View,
} from "../conversation/event.ts";
import { type AssignId, type HardeningStep, unusedId } from "./thread.ts";

/** A JSON object in the provider's own shape. */
export type ProviderObject = Readonly<Record<string, unknown>>;

/** Where an item comes from. */
export interface ItemOrigin {
  /** Ids of the events, in order; empty = made by hardening or by a summary (then `compaction` names it). */
  readonly events: readonly string[];
  readonly compaction?: string;
}

/** One message (Chat) or one input item (Responses). */
export interface ThreadItem extends ItemOrigin {
  readonly item: ProviderObject;
}

export interface ItemThread {
  readonly items: readonly ThreadItem[];
  readonly hardening: readonly HardeningStep[];
}

/** Returns the origin of what each event of a view becomes: a summary's names its compaction, a replacement's events both. */
export function itemOrigins({ turns }: View): ReadonlyMap<Event, ItemOrigin> {
  const origins = new Map<Event, ItemOrigin>();
  for (const turn of turns) for (const event of turn.events) origins.set(event, originOf(turn, event));
  return origins;
}

function originOf({ origin }: ProjectedTurn, event: Event): ItemOrigin {
  if (origin.kind === "kept" || origin.kind === "index") return { events: [event.id] };
  return { events: origin.kind === "summary" ? [] : [event.id], compaction: origin.compaction };
}

/** Joins the origins of what became one item; of several compactions the first is named. */
export function joinOrigins(origins: readonly ItemOrigin[]): ItemOrigin {
  const events = origins.flatMap((origin) => origin.events);
  const compaction = origins.find((origin) => origin.compaction !== undefined)?.compaction;
  return { events, compaction };
}

// Tool calls as both OpenAI APIs take them: ids and names in their alphabet, arguments as JSON text. An id that must change is derived from
// the event's id, so that turns added later never change it.

const ALPHABET = /[^a-zA-Z0-9_-]/g;
/** Longest tool name, in characters ("does not match '^[a-zA-Z0-9_-]{1,64}$'"). */
const MAX_NAME = 64;
const PREFIX = "call_";

/** Rules that a change of an id is listed under. */
interface IdRules {
  /** Longest id the API takes, in characters. */
  readonly max: number;
  /** The id is empty, too long or has other characters. */
  readonly invalid: string;
  /** An earlier call has the id. */
  readonly repeated: string;
}

/** Creates the assignment of ids: a valid, unused one stays, any other is derived from the event's id. */
export function createIdAssignment({ max, invalid, repeated }: IdRules): AssignId {
  return (call, isUsed) => {
    const isValid = new RegExp(`^[a-zA-Z0-9_-]{1,${max}}$`).test(call.call_id);
    if (isValid && !isUsed(call.call_id)) return { id: call.call_id, rules: [] };
    // Ids of events of one source line differ only at their end.
    const derived = PREFIX + call.id.replace(ALPHABET, "_").slice(PREFIX.length - max);
    return { id: unusedId(derived, max, isUsed), rules: [isValid ? repeated : invalid] };
  };
}

/** The tool's name in the alphabet of the API; the same name always becomes the same. */
export function toToolName(name: string): string {
  return name.replace(ALPHABET, "_").slice(0, MAX_NAME) || "tool";
}

/** Arguments as JSON text; `isChanged` when the call had neither an object nor the text of one. */
export function toArgumentsText(call: ToolCallRequest): { readonly text: string; readonly isChanged: boolean } {
  const value = call.arguments;
  if (typeof value === "object" && value !== null) return { text: JSON.stringify(value), isChanged: false };
  if (typeof value !== "string") return { text: "{}", isChanged: true };
  return isJsonObject(value)
    ? { text: value, isChanged: false }
    : { text: JSON.stringify({ input: value }), isChanged: true };
}

/** Whether it is a call of a tool that takes free text: the importer says so in `metadata.call_type`. */
export function isCustomCall(call: ToolCallRequest): boolean {
  return call.metadata?.["call_type"] === "custom";
}

/** The free text of a custom call; empty for a stripped one. */
export function toCustomInput({ arguments: value }: ToolCallRequest): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const [only, ...others] = Object.entries(value);
  if (only === undefined) return "";
  return only[0] === "input" && others.length === 0 && typeof only[1] === "string" ? only[1] : JSON.stringify(value);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

// Content split into the pieces that both OpenAI APIs know: texts, images, files. Where an API takes only text, a piece is named instead,
// so that the model sees that something is missing.

export type ContentPiece =
  | { readonly type: "text"; readonly text: string }
  /** `url` may be a data URL. */
  | { readonly type: "image"; readonly url: string }
  /** `data` is a data URL; else the file is only known by its `url`. */
  | { readonly type: "file"; readonly name: string; readonly data?: string; readonly url?: string }
  /** What OpenAI gave, verbatim. */
  | { readonly type: "opaque"; readonly value: ProviderObject }
  /** What only another provider reads. */
  | { readonly type: "foreign" };

/** Splits a content into pieces; blank texts are left out. */
export function toPieces(content: Content): readonly ContentPiece[] {
  const pieces = isText(content) ? [textPiece(content)] : content.map(toPiece);
  return pieces.filter((piece) => piece.type !== "text" || piece.text.trim() !== "");
}

/** The pieces as one text, each on lines of its own; media are named. */
export function joinPieces(pieces: readonly ContentPiece[]): string {
  return pieces.map(nameOf).filter(Boolean).join("\n");
}

/** A piece as text: `[image]`, `[document: chart.pdf]`; empty for what cannot be read. */
export function nameOf(piece: ContentPiece): string {
  switch (piece.type) {
    case "text":
      return piece.text;
    case "image":
      return piece.url.startsWith("data:") ? "[image]" : `[image ${piece.url}]`;
    case "file":
      return `[document: ${[piece.name, piece.url].filter(Boolean).join(" ")}]`;
    case "opaque":
    case "foreign":
      return "";
  }
}

function toPiece(part: ContentPart): ContentPiece {
  switch (part.type) {
    case "text":
      return textPiece(part.text);
    case "attachment":
      return { type: "text", text: attachmentText(part) };
    case "opaque":
      return isOpenAiObject(part) ? { type: "opaque", value: part.value as ProviderObject } : { type: "foreign" };
    case "image":
    case "document":
      return mediaPiece(part);
  }
}

function textPiece(text: Text): ContentPiece {
  return { type: "text", text: plainText(text) };
}

function isOpenAiObject({ provider, value }: Extract<ContentPart, { readonly type: "opaque" }>): boolean {
  return provider === "openai" && typeof value === "object" && value !== null && !Array.isArray(value);
}

function mediaPiece(part: MediaPart): ContentPiece {
  const { type, data, url, title, media_type } = part;
  const name = title ?? (media_type === "application/pdf" ? "document.pdf" : "document");
  if (typeof data === "string") {
    const dataUrl = `data:${media_type ?? "application/octet-stream"};base64,${data}`;
    return type === "image" ? { type, url: dataUrl } : { type: "file", name, data: dataUrl };
  }
  if (url !== undefined) return type === "image" ? { type, url } : { type: "file", name, url };
  return { type: "text", text: data === undefined ? `[${type}]` : plainText(data) };
}
