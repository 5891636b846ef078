// Strategies that hide whole turns: left out as tangents, or told by a summary. In a compaction each stands alone; beside others
// it makes one of its own (decision 033).
import type { Strategy } from "./strategy.ts";
import { TANGENTS } from "./strategy-names.ts";

/** `classify-tangents`: leaves out turns that a person named as tangents, or confirmed. */
export const classifyTangents: Strategy = {
  name: TANGENTS,
  summary: "leave out turns that are off task, named with --turns or by a model",
  touchesRequests: true,
  hidesTurns: true,
  isExclusive: true,
  decide: () => ({ turns: "omit" }),
};

/** `summarize`: has a summary stand for the range; the text is written elsewhere. */
export const summarize: Strategy = {
  name: "summarize",
  summary: "replace the range with a summary",
  touchesRequests: true,
  hidesTurns: true,
  isExclusive: true,
  summarizes: true,
  decide: () => ({}),
};
