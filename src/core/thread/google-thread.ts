// A view as the contents of Google's generateContent, hardened in the order that works (provider rule G12): thoughts out,
// neighbours joined, calls paired with results, signatures, roles, no field that the API does not know.
import { appendAll } from "../append-all.ts";
import { defined } from "../defined.ts";
import { mediaOf, textOfContent } from "../event/content.ts";
import type { ChatRequest, ChatResponse, Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import { hasGoogleFeature } from "../provider-rules/google-models.ts";
import {
  addAssistantBlock,
  addCall,
  addUserBlocks,
  createMessageBuilder,
  finishMessages,
  type MessageBuilder,
  placeResults,
} from "./anthropic-messages.ts";
import { type CallPlan, type CallRules, INTERRUPTED_RESULT, planProviderCalls } from "./call-plan.ts";
import { limitRoles, signatureOf, signSteps } from "./google-hardening.ts";
import { type Part, type PartList, toArguments, toFunctionName, toParts, toResponse } from "./google-parts.ts";
import { createIdAssignment } from "./openai-calls.ts";
import { formatReminder } from "./reminder.ts";
import { type BlockOrigin, blockOrigins, type HardeningStep, type Thread, type ThreadBlock } from "./thread.ts";

export interface GoogleOptions {
  /** The model that will be sent the thread; decides about signatures and ids. */
  readonly model?: string;
  /** Whether the thread is sent as it stands, so that it must end with the user; default false: a request will follow. */
  readonly complete?: boolean;
}

/** Longest id that all models with ids take, in characters. */
const MAX_ID = 64;
/** Calls and results are matched by their order; ids are sent to few models. */
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
  /** What names the origin of each event's parts. */
  readonly origins: ReadonlyMap<Event, BlockOrigin>;
}

/** Renders a view for Google's generateContent; messages of role `assistant` are contents of role `model`. */
export function toGoogleThread(view: View, options: GoogleOptions = {}): Thread {
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
  // The builder splits what stands behind a call by the rule of the provider it was written for.
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
    default: // what no model is sent
  }
}

/** Texts of the harness become reminders; their images and documents go to the model as the user's. */
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
  const part = { functionCall, ...defined({ thoughtSignature: signature }) };
  addCall(writer.builder, blockOf(writer, event, part), event);
}

/** Results in the order of their calls, then what of them is no text (G6). */
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
  const response = { error: INTERRUPTED_RESULT };
  return { block: { functionResponse: { ...idOf(writer, call), name: toFunctionName(call.name), response } } };
}

function idOf(writer: Writer, call: ToolCallRequest): { readonly id?: string } {
  const id = writer.plan.ids.get(call);
  return writer.sendsIds && id !== undefined ? { id } : {};
}

/** Gives parts their event; what fell out of its content is listed as dropped when nothing is left, else as changed. */
function convert(writer: Writer, event: Event, { parts, rules }: PartList): readonly ThreadBlock[] {
  for (const rule of rules)
    writer.hardening.push({ rule, event: event.id, action: parts.length === 0 ? "dropped" : "changed" });
  return parts.map((part) => blockOf(writer, event, part));
}

function blockOf(writer: Writer, event: Event, block: Part): ThreadBlock {
  return { ...(writer.origins.get(event) ?? { event: event.id }), block };
}
