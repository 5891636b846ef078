// A conversation's requests and what is calibrated on them, from turns in any order.
import type { Turn } from "../../src/core/event/turn.ts";
import { type Calibration, calibrateOn, type RequestSize, recordRequests } from "../../src/core/tokens/calibration.ts";

/** Oldest first. */
export function listRequestSizes(turns: Iterable<Turn>): readonly RequestSize[] {
  return recordRequests([...turns].sort((a, b) => a.index - b.index)).requests;
}

/** Null where too few requests tell. */
export function calibrate(turns: Iterable<Turn>): Calibration | null {
  return calibrateOn(listRequestSizes(turns));
}
