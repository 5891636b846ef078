// What a request of jpg's own comes to. The meter counts what the conversation's agent puts in front of a view; jpg sends its own
// system prompt and tools instead, and knows them.
import type { Compaction } from "../compaction/compaction.ts";
import type { ToolCallRequest } from "../event/event.ts";
import { offeredTools } from "../projection/offered-tools.ts";
import type { View } from "../projection/view.ts";
import { estimateEvent } from "./token-estimate.ts";
import type { TokenMeter } from "./token-meter.ts";

/** What stands in front of the view in every request that jpg sends in a conversation. */
export interface SentFrame {
  /** "" = none. */
  readonly system: string;
  readonly tools: readonly { readonly name: string }[];
}

/** Tokens ≥ 0, estimated unless the provider counted this very request. */
export interface SentSize {
  readonly tokens: number;
  /** System prompt and tools: no compaction reaches them. */
  readonly overhead: number;
}

/** Measures a view as jpg sends it under this frame; null = as the conversation's agent would. */
export function sizeToSend(
  meter: TokenMeter,
  { view, compactions }: { readonly view: View; readonly compactions: readonly Compaction[] },
  frame: SentFrame | null,
): SentSize {
  const { tokens, source } = meter.countView(view, compactions);
  const counted = meter.overheadUnder(compactions);
  if (frame === null || (source === "recorded" && wasAskedByJpg(view))) return { tokens, overhead: counted };
  const tools = offeredTools(frame.tools, view, compactions);
  const overhead = countFrame(meter, { ...frame, tools });
  return { tokens: Math.max(0, tokens - counted) + overhead, overhead };
}

/** Counts a frame in the measure of a conversation: whole tokens, estimated. */
export function countFrame({ countEvents }: TokenMeter, { system = "", tools = [] }: Partial<SentFrame>): number {
  return countEvents([{ type: "chat_request", ...STAMP, content: system }, ...tools.map(asCall)]);
}

/** Estimates the definition of a tool: tokens, not rounded, in the plain measure. */
export function estimateTool(tool: SentFrame["tools"][number]): number {
  return estimateEvent(asCall(tool));
}

const STAMP = { id: "", timestamp: "" };

/** A definition is sent much as a call is: a name and JSON. */
function asCall({ name, ...definition }: SentFrame["tools"][number]): ToolCallRequest {
  return { type: "tool_call_request", ...STAMP, call_id: "", name, arguments: definition };
}

/** Whether jpg sent the newest request that was counted: of answers that it streamed it keeps the provider's id. */
export function wasAskedByJpg({ turns }: View): boolean {
  const events = turns.at(-1)?.events ?? [];
  return events.findLast(({ metadata }) => metadata?.usage !== undefined)?.metadata?.["response_id"] !== undefined;
}
