import { describe, expect, it } from "vitest";
import { decideImport, type ImportCandidate } from "../../../src/app/import/import-place.ts";

const branch = (name: string, turns: string, facts: Partial<ImportCandidate> = {}): ImportCandidate => ({
  branch: name,
  commit: `commit of ${name}`,
  turnOids: [...turns],
  lastTurnGrew: false,
  active: false,
  ...facts,
});
const decide = (turns: string, ...candidates: ImportCandidate[]) =>
  decideImport({ oids: [...turns], turnCount: turns.length }, candidates);

describe("decideImport", () => {
  it("creates a conversation where no branch holds the session", () => {
    expect(decide("abc")).toEqual({ kind: "create" });
  });

  it("finds the branch that holds all turns", () => {
    expect(decide("abc", branch("main", "abc"))).toMatchObject({ kind: "same", candidate: { branch: "main" } });
  });

  it("extends a branch that the session begins with", () => {
    expect(decide("abcd", branch("main", "ab"))).toMatchObject({ kind: "extend", firstTurn: 2, grew: false });
  });

  it("writes the newest turn again when it grew", () => {
    const main = branch("main", "ab", { lastTurnGrew: true });
    expect(decide("aBc", main)).toMatchObject({ kind: "extend", firstTurn: 1, grew: true });
    expect(decide("aB", main)).toMatchObject({ kind: "extend", firstTurn: 1, grew: true });
  });

  it("forks where the session left the branch, and where the branch has other turns", () => {
    expect(decide("abX", branch("main", "abc"))).toMatchObject({ kind: "fork", commonTurns: 2 });
    expect(decide("ab", branch("main", "abc"))).toMatchObject({ kind: "fork", commonTurns: 2 });
    expect(decide("X", branch("main", "abc", { lastTurnGrew: true }))).toMatchObject({ kind: "fork", commonTurns: 0 });
  });

  it("takes the branch that shares most turns, then one that it continues, then the active one", () => {
    const short = branch("short", "ab");
    expect(decide("abcX", short, branch("long", "abcd"))).toMatchObject({
      kind: "fork",
      candidate: { branch: "long" },
    });
    expect(decide("abX", branch("other", "abY"), short)).toMatchObject({ kind: "extend", candidate: short });
    const active = branch("active", "ab", { active: true });
    expect(decide("abX", short, active)).toMatchObject({ kind: "extend", candidate: active });
  });
});
