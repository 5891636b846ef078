// Strategies that hide whole turns: left out as tangents, or told by a summary. Each stands alone, for it leaves nothing to
// the others.
import type { Strategy } from "./strategy.ts";

/** `classify-tangents`: leaves out turns that a person named as tangents, or confirmed. */
export const classifyTangents: Strategy = {
  name: "classify-tangents",
  summary: "leave out turns that are off the task: named with --turns, or by a model",
  touchesRequests: true,
  hidesTurns: true,
  standsAlone: true,
  decide: () => ({ turns: "omit" }),
};

/** `summarize`: has a summary stand for the range; the text is written elsewhere. */
export const summarize: Strategy = {
  name: "summarize",
  summary: "have a summary stand for the range",
  touchesRequests: true,
  hidesTurns: true,
  standsAlone: true,
  summarizes: true,
  decide: () => ({}),
};
