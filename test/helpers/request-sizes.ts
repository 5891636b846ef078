// A conversation's requests and what is calibrated on them, from turns in any order.
import type { Turn } from "../../src/core/event/turn.ts";
import { type Calibration, calibrateOn, type RequestSize, requestSizes } from "../../src/core/tokens/calibration.ts";
import { recordedRequests } from "../../src/core/tokens/recorded-requests.ts";
import { turnFacts } from "../../src/core/tokens/turn-facts.ts";

/** Oldest first. */
export function listRequestSizes(turns: Iterable<Turn>): readonly RequestSize[] {
  const facts = [...turns].sort((a, b) => a.index - b.index).map((turn) => turnFacts(turn));
  return requestSizes(recordedRequests(facts), facts);
}

/** Null where too few requests tell. */
export function calibrate(turns: Iterable<Turn>): Calibration | null {
  return calibrateOn(listRequestSizes(turns));
}
