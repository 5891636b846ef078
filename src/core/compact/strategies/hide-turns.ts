// Strategies that hide whole turns: as tangents, or under a summary. In a compaction each is exclusive; together with others it becomes a
// compaction of its own (docs/decisions/compaction.md).
import type { Strategy } from "./strategy.ts";
import { TANGENTS } from "./strategy-names.ts";

/** `classify-tangents`: leaves out turns that a person named as tangents, or confirmed. */
export const classifyTangents: Strategy = {
  name: TANGENTS,
  summary: "leave out turns that are off task, named with --tangents or by a model",
  touchesRequests: true,
  hidesTurns: true,
  isExclusive: true,
  decide: () => ({ turns: "omit" }),
};

/** `summarize`: replaces the range by a summary; its text is written elsewhere. */
export const summarize: Strategy = {
  name: "summarize",
  summary: "replace the range with a summary",
  touchesRequests: true,
  hidesTurns: true,
  isExclusive: true,
  summarizes: true,
  decide: () => ({}),
};
