// Content of events as parts and items of the Responses API. What OpenAI gave goes back as it was: a part inside its message,
// anything else as an item of its own.
import { isText, plainText } from "../event/content.ts";
import type { ChatResponse, Content } from "../event/event.ts";
import { isSameModelFamily, modelFamily } from "../model/model-family.ts";
import { checkOpenAiResponses } from "../provider-rules/openai-responses.ts";
import { type ContentPiece, nameOf, toPieces } from "./openai-pieces.ts";
import type { ProviderObject } from "./openai-thread.ts";

/** Types of parts, which are no items. */
const PART_TYPE = /^(?:(?:input|output)_(?:text|image|file|audio)|refusal)$/;
/** Items whose id only binds them to the reasoning before it, which is sent without (R5, R7). */
const NEEDS_NO_ID: ReadonlySet<string> = new Set(["message", "web_search_call"]);
const OPENAI_FAMILY = /^(?:gpt|chatgpt|codex|o\d)/;

/** A piece that we made ourselves. */
type PlainPiece = Exclude<ContentPiece, { readonly type: "opaque" | "foreign" }>;

/** A content as the API takes it. */
export interface ResponsesContent {
  readonly parts: readonly ProviderObject[];
  /** Items of their own. */
  readonly items: readonly ProviderObject[];
  /** Rules that something fell out under, in order. */
  readonly rules: readonly string[];
}

/** Content of the user's or a system message; `frame` is put around each text. */
export function toInputContent(content: Content, frame: (text: string) => string = (text) => text): ResponsesContent {
  return toContent(content, "user", (piece) => inputPart(piece, frame));
}

/** Content of the assistant's message: text; media are named. */
export function toOutputContent(content: Content): ResponsesContent {
  return toContent(content, "assistant", (piece) => ({ type: "output_text", text: nameOf(piece) }));
}

/** The output of a call: a text, which may be empty, or parts where it holds media. */
export function toCallOutput(content: Content): {
  readonly output: string | readonly ProviderObject[];
  readonly isCut: boolean;
} {
  if (isText(content)) return { output: plainText(content), isCut: false };
  const { parts, items, rules } = toInputContent(content);
  const isCut = items.length + rules.length > 0;
  if (parts.some((part) => part["type"] !== "input_text")) return { output: parts, isCut };
  return { output: parts.map((part) => part["text"]).join("\n"), isCut };
}

/** Reasoning as an item without id; absent when it is not OpenAI's own or another model's (R7). */
export function toReasoningItem({ metadata }: ChatResponse, model: string | undefined): ProviderObject | undefined {
  const { provider, model: maker, encrypted } = metadata ?? {};
  const isOwn = provider === "openai" || (provider === undefined && OPENAI_FAMILY.test(modelFamily(maker ?? "")));
  if (!isOwn || encrypted === undefined || encrypted === "") return undefined;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return undefined;
  return { type: "reasoning", summary: [], encrypted_content: encrypted };
}

/** Whether it is OpenAI's own, opaque summary of what stood before it (R8). */
export function isCompactionItem(item: ProviderObject): boolean {
  return item["type"] === "compaction" || item["type"] === "compaction_summary";
}

function toContent(
  content: Content,
  role: "user" | "assistant",
  toPart: (piece: PlainPiece) => ProviderObject,
): ResponsesContent {
  const pieces = toPieces(content);
  const sent = pieces.map((piece) => toSent(piece, role, toPart));
  const rules = sent.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  const hasBlank = !isText(content) && pieces.length < content.length;
  return {
    parts: sent.flatMap(({ part }) => (part === undefined ? [] : [part])),
    items: sent.flatMap(({ item }) => (item === undefined ? [] : [item])),
    rules: hasBlank || pieces.length === 0 ? [...rules, "R0"] : rules,
  };
}

/** What a piece becomes: a part, an item of its own, or nothing because of a rule. */
interface SentPiece {
  readonly part?: ProviderObject;
  readonly item?: ProviderObject;
  readonly rule?: string;
}

function toSent(
  piece: ContentPiece,
  role: "user" | "assistant",
  toPart: (piece: PlainPiece) => ProviderObject,
): SentPiece {
  if (piece.type === "foreign") return { rule: "R7" };
  if (piece.type !== "opaque") return { part: toPart(piece) };
  const type = String(piece.value["type"]);
  if (PART_TYPE.test(type)) {
    const rule = refusalOf({ role, content: [piece.value] });
    return rule === undefined ? { part: piece.value } : { rule };
  }
  if (type === "reasoning" || type === "item_reference") return { rule: "R7" };
  const item = NEEDS_NO_ID.has(type) ? withoutId(piece.value) : piece.value;
  const rule = refusalOf(item);
  return rule === undefined ? { item } : { rule };
}

/** The first rule that an item breaks by itself: half of a pair breaks R1 or R2. What is wrong with an image, a check says. */
function refusalOf(item: ProviderObject): string | undefined {
  return checkOpenAiResponses([item]).find(({ rule, severity }) => severity === "error" && rule !== "R11")?.rule;
}

function withoutId({ id: _, ...item }: ProviderObject): ProviderObject {
  return item;
}

function inputPart(piece: PlainPiece, frame: (text: string) => string): ProviderObject {
  switch (piece.type) {
    case "text":
      return { type: "input_text", text: frame(piece.text) };
    case "image":
      return { type: "input_image", image_url: piece.url };
    case "file":
      return piece.data === undefined
        ? { type: "input_file", file_url: piece.url }
        : { type: "input_file", filename: piece.name, file_data: piece.data };
  }
}
