// What a compaction removes from the view: nothing that was hidden before, whether it is loaded or not.

import { expect, it } from "vitest";
import { hiddenBy } from "../../../src/app/compact/compact-report.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { live } from "../../helpers/plan-request.ts";

const turns = new Map(
  parseConversation("U T:old t A | U T:old t A | U T:new t A | U A").map((turn) => [turn.index, turn]),
);
const summary = live(0, 1, { summary: { summary: "in short" } });
const strip = { policy: "strip", request: true, response: true } as const;

const toolsHidden = (newer: Compaction): readonly string[] => {
  const input = { turnCount: 4, turns };
  const [before, after] = [
    project({ ...input, compactions: [summary] }),
    project({ ...input, compactions: [summary, newer] }),
  ];
  return hiddenBy(newer, { turns, before, after, meter: { countEvent: estimateEvent } }).tools.map(({ name }) => name);
};

it("counts what is no longer shown, or shown in another way", () => {
  expect(toolsHidden({ ...live(0, 2, { tool_calls: strip }), timestamp: "2026-02-02T00:00:00Z" })).toEqual(["new"]);
});

it("counts all that a new summary replaces", () => {
  const newer = { ...live(0, 2, { summary: { summary: "shorter" } }), timestamp: "2026-02-02T00:00:00Z" };
  expect(toolsHidden(newer)).toEqual(["old", "new"]);
});
