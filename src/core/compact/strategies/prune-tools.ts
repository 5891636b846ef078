import { OWN_TOOLS } from "../../conversation/defined-tools.ts";
import type { Strategy } from "./strategy.ts";

/** `prune-tools`: stops sending the definitions of tools that were never called, except jpg's own, to free context. */
export const pruneTools: Strategy = {
  name: "prune-tools",
  summary: "stop sending the definitions of tools that were never called",
  readsAll: true,
  decide: ({ definedTools, calledTools }) => {
    const unused = definedTools.filter((name) => !calledTools.has(name) && !OWN_TOOLS.includes(name)).sort();
    return unused.length === 0 ? {} : { prune: unused };
  },
};
