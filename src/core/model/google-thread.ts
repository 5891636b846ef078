// A view as the contents of Google's generateContent, hardened in the order that works (provider rule G12): remove thoughts, join
// neighbours, pair calls with results, then signatures, roles, and fields that the API does not know.
import {
  attachmentText,
  type ChatRequest,
  type ChatResponse,
  type Content,
  type ContentPart,
  type Event,
  isText,
  type MediaPart,
  mediaOf,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
  type View,
} from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import {
  addAssistantBlock,
  addCall,
  addUserBlocks,
  createMessageBuilder,
  finishMessages,
  type MessageBuilder,
  placeResults,
} from "./anthropic-thread.ts";
import { joinContinued } from "./continued-texts.ts";
import { DUMMY_SIGNATURE, hasGoogleFeature, isSignature } from "./google-rules.ts";
import { isSameModelFamily } from "./model-name.ts";
import { createIdAssignment } from "./openai-thread.ts";
import {
  type BlockOrigin,
  blockOrigins,
  type CallPlan,
  type CallRules,
  formatReminder,
  type HardeningStep,
  missingResult,
  planProviderCalls,
  type Thread,
  type ThreadBlock,
  type ThreadMessage,
} from "./thread.ts";

export interface GoogleOptions {
  /** The model that will be sent the thread; decides about signatures and ids. */
  readonly model?: string;
  /** Whether the thread is sent as it is, so that it must end with the user; default false: a request will follow. */
  readonly complete?: boolean;
}

/** Longest id that all models with ids take, in characters. */
const MAX_ID = 64;
/** Calls and results are matched by their order; few models are sent ids. */
const CALLS: CallRules = {
  answers: "newest",
  rules: { unanswered: "G4", unasked: "G5", repeated: "G4" },
  assignId: () => ({ id: "", rules: [] }),
};
const CALLS_WITH_IDS: CallRules = {
  ...CALLS,
  assignId: createIdAssignment({ max: MAX_ID, invalid: "G11", repeated: "G11" }),
};

interface Writer {
  readonly plan: CallPlan;
  readonly builder: MessageBuilder;
  readonly hardening: HardeningStep[];
  readonly model: string | undefined;
  readonly sendsIds: boolean;
  /** Names the origin of each event's parts. */
  readonly origins: ReadonlyMap<Event, BlockOrigin>;
}

/** Renders a view for Google's generateContent; messages of role `assistant` are contents of role `model`. */
export function toGoogleThread(whole: View, options: GoogleOptions = {}): Thread {
  const view = joinContinued(whole);
  const sendsIds = hasGoogleFeature(options.model, "call_ids");
  const plan = planProviderCalls(view, sendsIds ? CALLS_WITH_IDS : CALLS);
  const hardening: HardeningStep[] = [...plan.hardening];
  const origins = blockOrigins(view);
  const resultsOf = (calls: readonly ToolCallRequest[]): readonly ThreadBlock[] => resultParts(writer, calls);
  const builder = createMessageBuilder(resultsOf, { systemMessages: false, hardening });
  const writer: Writer = { plan, builder, hardening, model: options.model, sendsIds, origins };
  for (const event of origins.keys()) addEvent(writer, event);
  const paired = finishMessages(builder);
  const signed = hasGoogleFeature(options.model, "signed_calls") ? signSteps(paired, hardening) : paired;
  const messages = limitRoles(signed, options.complete ?? false, hardening);
  // The builder splits what follows a call by the rule of the provider it was written for.
  return { messages, hardening: hardening.map((step) => (step.rule === "A5" ? { ...step, rule: "G4" } : step)) };
}

function addEvent(writer: Writer, event: Event): void {
  switch (event.type) {
    case "chat_request":
      addUserBlocks(writer.builder, requestParts(writer, event));
      break;
    case "chat_response":
      for (const part of responseParts(writer, event)) addAssistantBlock(writer.builder, part);
      break;
    case "tool_call_request":
      addToolCall(writer, event);
      break;
    case "tool_call_response":
      if (writer.plan.calls.has(event)) placeResults(writer.builder);
      break;
    default: // not sent to models
  }
}

/** Texts of the harness become reminders; the model gets their images and documents as the user's. */
function requestParts(writer: Writer, event: ChatRequest): readonly ThreadBlock[] {
  if (event.role !== "system" && event.role !== "developer") return convert(writer, event, toParts(event.content));
  const text = textOfContent(event.content);
  const reminder = text.trim() === "" ? toParts(text) : { parts: [{ text: formatReminder(text) }], rules: [] };
  const { parts } = toParts(mediaOf(event.content));
  return convert(writer, event, { parts: [...reminder.parts, ...parts], rules: reminder.rules });
}

function responseParts(writer: Writer, event: ChatResponse): readonly ThreadBlock[] {
  if (event.reasoning !== undefined) {
    writer.hardening.push({ rule: "G12", event: event.id, action: "dropped" });
    return [];
  }
  const list = toParts(event.message ?? JSON.stringify(event.data ?? null));
  return convert(writer, event, list);
}

function addToolCall(writer: Writer, event: ToolCallRequest): void {
  if (!writer.plan.ids.has(event)) return;
  const signature = signatureOf(event, writer.model);
  if (signature === undefined && event.metadata?.signature !== undefined)
    writer.hardening.push({ rule: "G9", event: event.id, action: "changed" });
  const name = toFunctionName(event.name);
  if (name !== event.name) writer.hardening.push({ rule: "G11", event: event.id, action: "changed" });
  const functionCall = { ...idOf(writer, event), name, args: toArguments(event.arguments) };
  const part = { functionCall, thoughtSignature: signature };
  addCall(writer.builder, blockOf(writer, event, part), event);
}

/** Results in the order of their calls, then their parts that are no text (G6). */
function resultParts(writer: Writer, calls: readonly ToolCallRequest[]): readonly ThreadBlock[] {
  const media: ThreadBlock[] = [];
  const responses = calls.map((call) => {
    const result = writer.plan.results.get(call) ?? null;
    return result === null ? interruptedPart(writer, call) : responsePart(writer, { call, result, media });
  });
  return [...responses, ...media];
}

function responsePart(
  writer: Writer,
  answer: { readonly call: ToolCallRequest; readonly result: ToolCallResponse; readonly media: ThreadBlock[] },
): ThreadBlock {
  const { call, result } = answer;
  const { response, media, rules } = toResponse(result.content, result.is_error);
  for (const rule of rules) writer.hardening.push({ rule, event: result.id, action: "changed" });
  appendAll(
    answer.media,
    media.map((part) => blockOf(writer, result, part)),
  );
  return blockOf(writer, result, {
    functionResponse: { ...idOf(writer, call), name: toFunctionName(call.name), response },
  });
}

function interruptedPart(writer: Writer, call: ToolCallRequest): ThreadBlock {
  writer.hardening.push({ rule: "G4", action: "added" });
  const response = { error: missingResult(call) };
  return { block: { functionResponse: { ...idOf(writer, call), name: toFunctionName(call.name), response } } };
}

function idOf(writer: Writer, call: ToolCallRequest): { readonly id?: string } {
  const id = writer.plan.ids.get(call);
  return writer.sendsIds && id !== undefined ? { id } : {};
}

/** Assigns parts to their event; what was lost of its content is listed as dropped when nothing is left, else as changed. */
function convert(writer: Writer, event: Event, { parts, rules }: PartList): readonly ThreadBlock[] {
  for (const rule of rules)
    writer.hardening.push({ rule, event: event.id, action: parts.length === 0 ? "dropped" : "changed" });
  return parts.map((part) => blockOf(writer, event, part));
}

function blockOf(writer: Writer, event: Event, block: Part): ThreadBlock {
  return { ...(writer.origins.get(event) ?? { event: event.id }), block };
}

/** Precedes a content of the model that would be the first (G1). */
const OPENING: ThreadBlock = { block: { text: "[Earlier messages are not shown.]" } };
/** Follows a content of the model that would be the last of a request (G2). */
const CLOSING: ThreadBlock = { block: { text: "[No new message.]" } };

/** The signature an event is sent with: only one that the same model made (G9). Absent when there is none. */
export function signatureOf(event: Event, model: string | undefined): string | undefined {
  const { provider, model: maker, signature } = event.metadata ?? {};
  const isOwn = model === undefined || (maker !== undefined && isSameModelFamily(model, maker));
  return provider === "google" && isOwn && isSignature(signature) ? signature : undefined;
}

/**
 * Gives the first call of each step without a signature a dummy (G8, G10). Older turns, where the API does not require it, get it too, so
 * that what was sent once does not change.
 */
export function signSteps(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  return messages.map((message) => {
    const first = message.blocks.findIndex(({ block }) => block["functionCall"] !== undefined);
    const call = message.blocks[first];
    if (call === undefined || call.block["thoughtSignature"] !== undefined) return message;
    hardening.push({ rule: "G10", action: "changed", event: call.event });
    const signed = { ...call, block: { ...call.block, thoughtSignature: DUMMY_SIGNATURE } };
    return { ...message, blocks: message.blocks.with(first, signed) };
  });
}

/** Makes the list start with the user (G1) and, when `complete`, end with the user (G2). */
export function limitRoles(
  messages: readonly ThreadMessage[],
  complete: boolean,
  hardening: HardeningStep[],
): readonly ThreadMessage[] {
  const limited = [...messages];
  if (limited[0]?.role === "assistant") {
    hardening.push({ rule: "G1", action: "added" });
    limited.unshift({ role: "user", blocks: [OPENING] });
  }
  if (complete && limited.at(-1)?.role === "assistant") {
    hardening.push({ rule: "G2", action: "added" });
    limited.push({ role: "user", blocks: [CLOSING] });
  }
  return limited;
}

// Content of events as parts of Google's generateContent. Blank texts, which the API rejects, are left out here.

/** A part as the API takes it. */
type Part = Readonly<Record<string, unknown>>;

/** What a content became, and the rules that changed it on the way. */
interface PartList {
  readonly parts: readonly Part[];
  /** Ids of provider rules, in the order they were applied; empty when the content is unchanged. */
  readonly rules: readonly string[];
}

/** What an opaque part of this provider may contain; calls and results are events. */
const OPAQUE_KINDS = ["executableCode", "codeExecutionResult", "fileData"];

/** Converts the content of a request or a message. */
export function toParts(content: Content): PartList {
  if (isText(content)) return textPart(textOfContent(content));
  const lists = content.map(convertPart);
  return { parts: lists.flatMap((list) => list.parts), rules: lists.flatMap((list) => list.rules) };
}

/**
 * Converts the content of a tool result: its text is the response, under the name that distinguishes success from failure; anything else
 * becomes parts of their own.
 */
export function toResponse(
  content: Content,
  isError: boolean,
): { readonly response: Part; readonly media: readonly Part[]; readonly rules: readonly string[] } {
  const { parts, rules } = toParts(isText(content) ? [] : content.filter((part) => !hasText(part)));
  return { response: { [isError ? "error" : "output"]: textOfContent(content) }, media: parts, rules };
}

/** Arguments as the object that the API takes; other values are wrapped in one under `input`. */
export function toArguments(value: unknown): Part {
  if (value === undefined || value === null) return {};
  return typeof value === "object" && !Array.isArray(value) ? (value as Part) : { input: value };
}

/** The name of a function as the API takes it: 1–64 letters, digits, `_`, `.`, `:` or `-`, the first a letter or `_`. */
export function toFunctionName(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_.:-]/g, "_").replace(/^(?![a-zA-Z_])/, "_");
  return valid.slice(0, 64);
}

function hasText(part: ContentPart): boolean {
  return part.type === "text" || (part.type === "attachment" && part.text !== undefined);
}

function textPart(text: string): PartList {
  return text.trim() === "" ? { parts: [], rules: ["G7"] } : { parts: [{ text }], rules: [] };
}

function convertPart(part: ContentPart): PartList {
  switch (part.type) {
    case "text":
      return textPart(textOfContent(part.text));
    case "attachment":
      return textPart(attachmentText(part));
    case "opaque":
      return opaquePart(part);
    case "image":
    case "document":
      return { parts: [mediaPart(part)], rules: [] };
  }
}

function opaquePart({ provider, value }: Extract<ContentPart, { readonly type: "opaque" }>): PartList {
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const known =
    fields.length === 1 && OPAQUE_KINDS.includes(fields[0]?.[0] ?? "") && typeof fields[0]?.[1] === "object";
  return provider === "google" && known && fields[0]?.[1] !== null
    ? { parts: [Object.fromEntries(fields)], rules: [] }
    : { parts: [], rules: ["G11"] };
}

function mediaPart(part: MediaPart): Part {
  const { type, data, media_type, url } = part;
  if (typeof data === "string") return { inlineData: { mimeType: media_type ?? "application/octet-stream", data } };
  if (url !== undefined && media_type !== undefined) return { fileData: { mimeType: media_type, fileUri: url } };
  if (url !== undefined) return { text: `[${type} ${url}]` };
  return { text: data === undefined ? `[${type}]` : textOfContent(data) };
}
