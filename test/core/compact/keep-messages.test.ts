// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepMessages } from "../../../src/core/compact/compaction-request.ts";
import { planCompaction, trialOf } from "../../../src/core/compact/plan.ts";
import { isNothing } from "../../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import type { RangeBound } from "../../../src/core/conversation/range-bound.ts";
import { countMessages } from "../../../src/core/model/token-meter.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { randomTurns } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const boundOf = (notation: string, keep: number, compactions: readonly Compaction[] = []): RangeBound | null =>
  keepMessages(projectTurns(parseConversation(notation), compactions), keep);

/** Messages of the view after a summary up to the bound; null when there is nothing to summarise. */
function messagesLeft(turns: readonly Turn[], compactions: readonly Compaction[], to: RangeBound): number | null {
  const plan = planCompaction({
    range: { to },
    policies: { summary: { policy: "summarize" } },
    turnCount: turns.length,
    turnTimes: [],
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    compactions,
    now: "2027-01-01T00:00:00Z",
  });
  if (isNothing(plan)) return null;
  return countMessages(projectTurns(turns, [...compactions, trialOf(plan.compaction, true)])).messages;
}

/** 13 messages. */
const LONG = `U ${"A ".repeat(12)}`;
const CHAT = "U A | U A | U A | U A";

describe("where a compaction ends that keeps recent messages", () => {
  it.each([
    ["whole turns, exactly as many", CHAT, 4, { type: "turn", turn: 1 }],
    ["whole turns, rather one more than one fewer", CHAT, 3, { type: "turn", turn: 1 }],
    ["none kept", CHAT, 0, { type: "turn", turn: 3 }],
    ["one kept", CHAT, 1, { type: "turn", turn: 2 }],
    ["all kept", CHAT, 8, null],
    ["more kept than there are", CHAT, 9, null],
    ["an empty conversation", "", 0, null],
    ["turns without messages before the kept ones", "N | S | U A", 2, null],
    [
      "a large turn is cut before the oldest message that stays",
      `U A | ${LONG}`,
      2,
      { type: "event", turn: 1, event: "e1.11" },
    ],
    ["a turn of ten messages too many stays whole", `U A | ${LONG}`, 3, { type: "turn", turn: 0 }],
    [
      "a large turn is cut for what it must keep in addition to the turns after it",
      `U A | ${LONG} | U A`,
      4,
      { type: "event", turn: 1, event: "e1.11" },
    ],
    ["one large turn", LONG, 2, { type: "event", turn: 0, event: "e0.11" }],
    ["one turn that is not so large", "U A A A", 2, null],
    ["a turn that is not so large stays whole", "U A | U A A A A A", 2, { type: "turn", turn: 0 }],
    ["calls are no messages", "U A | U T t T t T t T t A", 2, { type: "turn", turn: 0 }],
  ] as const)("%s", (_what, notation, keep, expected) => {
    expect(boundOf(notation, keep)).toEqual(expected);
  });

  it("is after an older summary, which the new one replaces", () => {
    const summary = makeCompaction("k", [0, 0], summaryOf("what was said"));
    expect(boundOf(CHAT, 2, [summary])).toEqual({ type: "turn", turn: 2 });
    expect(boundOf(CHAT, 6, [summary])).toBeNull();
  });

  it("is not inside a turn whose beginning a summary already replaces", () => {
    const summary = makeCompaction("k", [1, 2], { to_event: "e2.2", ...summaryOf("what was said") });
    expect(boundOf("U A | U A | U A A A | U A", 4, [summary])).toEqual({ type: "turn", turn: 1 });
  });

  it("is nowhere when only a part of the turn that a summary cuts precedes what stays", () => {
    const summary = makeCompaction("k", [1, 1], {
      from_event: "e1.3",
      to_event: "e1.4",
      ...summaryOf("what was said"),
    });
    expect(boundOf("N | U A T t A A", 2, [summary])).toBeNull();
    expect(boundOf("U A | U A T t A A", 2, [summary])).toEqual({ type: "turn", turn: 0 });
  });

  it("is not inside a replacement list, however long it is", () => {
    const [long] = parseConversation(LONG);
    const list = makeCompaction("k", [1, 2], { replacement: long!.events });
    expect(boundOf("U A | U A | U A", 2, [list])).toEqual({ type: "turn", turn: 0 });
    expect(boundOf("N | U A | U A", 2, [list])).toBeNull();
  });

  it("does not count a replacement list after what stays as something before it", () => {
    const [turn] = parseConversation("U A");
    const list = makeCompaction("k", [0, 2], { replacement: turn!.events });
    const keeping = makeCompaction("m", [0, 1], { keep: ["e0.0", "e0.1", "e1.0", "e1.1", "e1.2"] }, 2);
    expect(boundOf("N | U A | U A | U A", 6, [list, keeping])).toBeNull();
    expect(boundOf("U | U A | U A | U A", 6, [list, keeping])).toEqual({ type: "turn", turn: 0 });
  });

  it("leaves at least as many messages as asked for, and always fewer than before", () => {
    fc.assert(
      fc.property(randomTurns, fc.nat(8), fc.option(fc.nat(5)), (turns, keep, summarised) => {
        const older = summarised === null ? [] : [makeCompaction("k", [0, summarised], summaryOf("what was said"))];
        const view = projectTurns(turns, older);
        const bound = keepMessages(view, keep);
        if (bound === null) return;
        const left = messagesLeft(turns, older, bound);
        if (left !== null) expect(left).toBeGreaterThanOrEqual(keep);
        expect(left ?? 0).toBeLessThanOrEqual(countMessages(view).messages);
      }),
      { numRuns: runs(500) },
    );
  });
});
