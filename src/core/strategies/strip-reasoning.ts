import { isReasoning } from "../event/event.ts";
import type { Strategy } from "./strategy.ts";

/** `strip-reasoning`: takes the reasoning out. */
export const stripReasoning: Strategy = {
  name: "strip-reasoning",
  summary: "take the reasoning out",
  decide: ({ open }) =>
    open.some(({ event, state }) => state.now === undefined && isReasoning(event)) ? { reasoning: "strip" } : {},
};
