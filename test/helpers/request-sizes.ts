// A conversation's requests and what is calibrated on them, from turns in any order.
import type { Turn } from "../../src/core/conversation/event.ts";
import {
  type Calibration,
  fitLine,
  type RequestSize,
  recordedRequests,
  requestSizes,
} from "../../src/core/model/calibration.ts";
import { type TurnFacts, turnFacts } from "../../src/core/model/usage.ts";

/** Oldest first. */
export function listRequestSizes(turns: Iterable<Turn>): readonly RequestSize[] {
  const facts = factsOf(turns);
  return requestSizes(recordedRequests(facts), facts);
}

/** Null where too few requests tell. */
export function calibrate(turns: Iterable<Turn>): Calibration | null {
  const facts = factsOf(turns);
  const records = recordedRequests(facts);
  return fitLine({ records, requests: requestSizes(records, facts), tokenizer: 1 }).calibration;
}

function factsOf(turns: Iterable<Turn>): readonly TurnFacts[] {
  return [...turns].sort((a, b) => a.index - b.index).map((turn) => turnFacts(turn));
}
