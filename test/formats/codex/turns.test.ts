// Going back in a rollout: what the agent goes on from, and what was left. Each case was tried with Codex 0.169: it counts
// requests, those typed while it worked too, and forgets a compaction that it goes back behind.
import { describe, expect, it } from "vitest";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import {
  answer,
  type CodexLine,
  compacted,
  compactedSummary,
  complete,
  developer,
  importRollout,
  meta,
  outline,
  prompt,
  said,
  saidIn,
  started,
  turnsOf,
  wentBack,
} from "../../helpers/codex-session.ts";

const turn = (name: string): readonly CodexLine[] => [
  started(name),
  prompt(name),
  answer(`re ${name}`),
  complete(name),
];
const active = (session: ImportedSession) => turnsOf(session).map(({ index }) => outline(saidIn(session, index)));
const left = (session: ImportedSession) =>
  session.abandoned.map((branch) => ({
    common: branch.commonTurns,
    turns: turnsOf(branch).map(({ events }) => outline(events).filter((line) => !/^(turn_start|note)/.test(line))),
  }));

describe("a rollout in which the user went back", () => {
  it("goes on from what is left, and keeps what was left as a branch", () => {
    const session = importRollout([
      meta(),
      ...turn("One"),
      ...turn("Two"),
      ...turn("Three"),
      wentBack(2),
      ...turn("Four"),
    ]);
    expect(active(session)).toEqual([
      ["user: One", "answer: re One"],
      ["user: Four", "answer: re Four"],
    ]);
    expect(left(session)).toEqual([
      {
        common: 1,
        turns: [
          ["user: One", "answer: re One"],
          ["user: Two", "answer: re Two"],
          ["user: Three", "answer: re Three"],
        ],
      },
    ]);
    expect(session.abandoned[0]?.name).toMatch(/^left-[0-9a-z]{8}$/);
    expect(session.turnLine(1)).toBe(15);
  });

  it("goes back by one request that was typed while the agent worked", () => {
    const session = importRollout([
      meta(),
      started("t"),
      prompt("One"),
      answer("a"),
      prompt("faster"),
      answer("b"),
      complete("t"),
      wentBack(1),
      ...turn("Two"),
    ]);
    expect(active(session)).toEqual([
      ["user: One", "answer: a"],
      ["user: Two", "answer: re Two"],
    ]);
    expect(left(session)).toEqual([{ common: 0, turns: [["user: One", "answer: a", "queued: faster", "answer: b"]] }]);
  });

  it("drops what introduced the request", () => {
    const introduced = [started("t"), developer("<model_switch>x</model_switch>"), prompt("Two"), complete("t")];
    const session = importRollout([meta(), ...turn("One"), ...introduced, wentBack(1), ...turn("Three")]);
    expect(active(session)[1]).toEqual(["user: Three", "answer: re Three"]);
  });

  it("goes back to the first request at most, and keeps the notes before it", () => {
    const session = importRollout([meta(), ...turn("One"), wentBack(9), ...turn("Two")]);
    expect(outline(session.readTurn(0))).toEqual(["turn_start", "note session_meta", "user: Two", "answer: re Two"]);
    expect(left(session)).toEqual([{ common: 0, turns: [["user: One", "answer: re One"]] }]);
  });

  it("forgets a compaction that it goes back behind", () => {
    const compaction = compacted([said("One"), { type: "compaction", encrypted_content: "X" }]);
    const lines = [meta(), ...turn("One"), ...turn("Two"), compaction, ...turn("Three")];
    expect(importRollout(lines).compactions).toHaveLength(1);
    expect(importRollout([...lines, wentBack(1)]).compactions).toHaveLength(1);
    expect(importRollout([...lines, wentBack(2)]).compactions).toHaveLength(0);
  });

  it("forgets a compaction with the task that it was made in, whatever of that task stays", () => {
    const compaction = compacted([said("One"), { type: "compaction", encrypted_content: "X" }]);
    const summary = compactedSummary("One was asked.");
    const count = (...lines: readonly CodexLine[]): number => importRollout([meta(), ...lines]).compactions.length;
    const compactedFirst = [started("t"), compaction, prompt("Two"), answer("b"), complete("t")];
    const compactedWithin = [started("t"), prompt("Two"), compaction, prompt("faster"), answer("b"), complete("t")];
    const compactedAlone = [started("c"), compaction, complete("c"), ...turn("Two")];
    for (const lines of [compactedFirst, compactedWithin, compactedAlone])
      expect(count(...turn("One"), ...lines)).toBe(1);
    expect(count(...turn("One"), ...compactedFirst, wentBack(1))).toBe(0);
    expect(count(...turn("One"), ...compactedWithin, wentBack(1))).toBe(0);
    expect(count(...turn("One"), ...compactedAlone, wentBack(1))).toBe(1);
    expect(count(...turn("One"), ...compactedFirst, ...turn("Three"), wentBack(1), ...turn("Four"))).toBe(1);
    expect(count(...turn("One"), ...compactedFirst, ...turn("Three"), wentBack(1), wentBack(1))).toBe(0);
    // Of before tasks were written down, all is one task; a summary alone is forgotten only where the words before it are.
    expect(count(prompt("One"), compaction, prompt("Two"), prompt("Three"), wentBack(1))).toBe(0);
    expect(count(prompt("One"), summary, prompt("Two"), prompt("Three"), wentBack(1))).toBe(1);
  });

  it("shares with an earlier left branch what a later one left as well", () => {
    const session = importRollout([
      meta(),
      ...turn("One"),
      ...turn("Two"),
      wentBack(1),
      ...turn("Three"),
      wentBack(2),
      ...turn("Four"),
    ]);
    expect(left(session).map(({ common, turns }) => [common, turns.length])).toEqual([
      [0, 2],
      [0, 2],
    ]);
    expect(new Set(session.abandoned.map(({ name }) => name)).size).toBe(2);
  });

  it.each([[0], [-1], ["2"], [null]])("stays where it is by %j requests", (turns) => {
    const session = importRollout([meta(), ...turn("One"), wentBack(turns as number)]);
    expect([session.turnCount, session.abandoned]).toEqual([1, []]);
  });
});
