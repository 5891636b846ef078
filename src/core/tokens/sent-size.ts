// What a request of jpg's own comes to. The meter counts what the conversation's agent puts in front of a view; jpg sends its own
// system prompt and tools instead, and knows them.
import type { Compaction } from "../compaction/compaction.ts";
import type { View } from "../projection/view.ts";
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
  if (frame === null || (source === "recorded" && wasAskedByJpg(view))) return { tokens, overhead: meter.overhead };
  const overhead = countFrame(meter, frame);
  return { tokens: Math.max(0, tokens - meter.overhead) + overhead, overhead };
}

/** Counts a frame in the measure of a conversation: whole tokens, estimated. */
export function countFrame({ countEvents }: TokenMeter, { system = "", tools = [] }: Partial<SentFrame>): number {
  const stamp = { id: "", timestamp: "" };
  const definitions = tools.map(({ name, ...definition }) => {
    return { type: "tool_call_request", ...stamp, call_id: "", name, arguments: definition } as const;
  });
  return countEvents([{ type: "chat_request", ...stamp, content: system }, ...definitions]);
}

/** Whether jpg sent the newest request that was counted: of answers that it streamed it keeps the provider's id. */
function wasAskedByJpg({ turns }: View): boolean {
  const events = turns.at(-1)?.events ?? [];
  return events.findLast(({ metadata }) => metadata?.usage !== undefined)?.metadata?.["response_id"] !== undefined;
}
