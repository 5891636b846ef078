// Whether a model that asks for a compaction gets one: not for a conversation that is small, nor for one whose view is as
// small already as a compaction would make it (Compaction v2).
import { TARGET_SHARE } from "../strategies/pipelines.ts";

/** Views below this are never compacted for a model: it would lose more than it gains. Tokens, estimated. */
export const LEAST_AGENT_TOKENS = 10_000;

/** What comes of a request; `target`: the size that is aimed at, tokens. */
export type AgentVerdict =
  | { readonly type: "too_small" }
  | { readonly type: "not_needed"; readonly target: number }
  | { readonly type: "compact"; readonly target: number };

/** Decides over a view of so many tokens, estimated, before a window of so many. */
export function judgeAgentCompaction(viewTokens: number, windowTokens: number): AgentVerdict {
  if (viewTokens < LEAST_AGENT_TOKENS) return { type: "too_small" };
  const target = Math.round(windowTokens * TARGET_SHARE);
  return { type: viewTokens <= target ? "not_needed" : "compact", target };
}
