import { isReasoning } from "../../conversation/event.ts";
import type { Strategy } from "./strategy.ts";

/** `strip-reasoning`: takes the reasoning out. */
export const stripReasoning: Strategy = {
  name: "strip-reasoning",
  summary: "leave out the reasoning",
  decide: ({ open }) =>
    open.some(({ event, state }) => state.now === undefined && isReasoning(event)) ? { reasoning: "strip" } : {},
};
