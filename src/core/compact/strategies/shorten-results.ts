// Strategies that shorten results without looking at what was called: long ones, or all but the newest.
import { decideEach, forResponse } from "./call-conditions.ts";
import { isGone } from "./encode-decisions.ts";
import type { Strategy } from "./strategy.ts";

/** Longest result that `truncate-results` leaves whole, characters: about a screen, enough for a model to know what it saw. */
export const RESULT_CHARS = 2000;
/** Results that `mask-results` leaves alone: the published observation masking keeps the newest ten. */
const NEWEST_RESULTS = 10;

/** `truncate-results`: keeps the head and tail of long results. A hint can only keep a result whole. */
export const truncateResults: Strategy = {
  name: "truncate-results",
  summary: "keep only the head and tail of long results",
  takes: ["maxChars", "head"],
  decide: ({ calls, hintFor }, { maxChars = RESULT_CHARS, head }) => {
    const truncate = { max_chars: maxChars, head };
    return {
      calls: decideEach(calls, (call) =>
        hintFor(call.request.name).response === "keep" ? {} : forResponse(call, { truncate }),
      ),
    };
  },
};

/** `mask-results`: strips all results but the newest, counted from the end of the conversation. */
export const maskResults: Strategy = {
  name: "mask-results",
  summary: "strip all results but the newest",
  takes: ["newest"],
  decide: ({ calls, hintFor }, { newest = NEWEST_RESULTS }) => {
    const shown = calls.filter(({ responseState }) => responseState !== null && !isGone(responseState));
    const older = newest === 0 ? shown : shown.slice(0, -newest);
    return {
      calls: decideEach(older, (call) =>
        hintFor(call.request.name).response === "keep" ? {} : forResponse(call, "strip"),
      ),
    };
  },
};
