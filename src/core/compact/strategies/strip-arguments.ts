// The strategy strip-arguments: what was written or edited stays in the file; the call keeps its path.
import { callFacts, isWriting } from "../tool-call.ts";
import { decideEach, dropBodies } from "./call-conditions.ts";
import type { Strategy } from "./strategy.ts";
import { BODY_CHARS } from "./supersede.ts";

/** `strip-arguments`: leaves the long texts of writes and edits out, and of tools whose hint is `request = "strip"`. */
export const stripArguments: Strategy = {
  name: "strip-arguments",
  summary: "leave out what was written and edited, keeping the paths",
  takes: ["maxChars"],
  decide: ({ calls, hintFor }, { maxChars = BODY_CHARS }) => ({
    calls: decideEach(calls, (call) => {
      const { kind, path } = callFacts(call.request);
      const hint = hintFor(call.request.name).request;
      const isBulky = isWriting(kind) || hint === "strip";
      return isBulky && hint !== "keep" ? dropBodies(call, maxChars, path) : {};
    }),
  }),
};
