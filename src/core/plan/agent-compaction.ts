// Whether a model that asks for a compaction gets one: not for a conversation that is small, nor for one whose view is as
// small already as a compaction would make it (Compaction v2).
import { TARGET_SHARE } from "../strategies/pipelines.ts";

/** Conversations below this are never compacted for a model: it would lose more than it gains. Tokens, estimated. */
export const LEAST_AGENT_TOKENS = 10_000;

/** What comes of a request; `target`: the size that is aimed at, tokens. */
export type AgentVerdict =
  | { readonly type: "too_small" }
  | { readonly type: "not_needed"; readonly target: number }
  | { readonly type: "compact"; readonly target: number };

/** A view before a window. Tokens, estimated; `overhead` is the part that no compaction reaches. */
export interface JudgedView {
  readonly tokens: number;
  readonly overhead: number;
  readonly windowTokens: number;
}

/** Decides over a view. */
export function judgeAgentCompaction({ tokens, overhead, windowTokens }: JudgedView): AgentVerdict {
  if (tokens - overhead < LEAST_AGENT_TOKENS) return { type: "too_small" };
  const target = Math.round(windowTokens * TARGET_SHARE);
  return { type: tokens <= target ? "not_needed" : "compact", target };
}
