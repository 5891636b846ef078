import { describe, expect, it } from "vitest";
import { type EditVerb, itemsOf, parsePlan, printPlan } from "../../../src/core/compact/edit-plan.ts";
import { checkPlan, type EditSteps, listSteps } from "../../../src/core/compact/edit-steps.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatTurnRange, type Turn } from "../../../src/core/conversation/event.ts";
import type { Pin } from "../../../src/core/conversation/marks.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { parseConversation } from "../../helpers/notation.ts";

interface Given {
  readonly turns: readonly Turn[];
  readonly compactions?: readonly Compaction[];
  readonly pins?: readonly Pin[];
  readonly calls?: boolean;
}

/** The result of verbs by place; what is not named is unchanged. */
function steps(
  { turns, compactions = [], pins = [], calls = false }: Given,
  verbs: Readonly<Record<string, EditVerb>>,
): EditSteps {
  const view = projectTurns(turns, compactions);
  const byIndex = new Map(turns.map((turn) => [turn.index, turn]));
  const items = itemsOf({ view, turns: byIndex, compactions, pins, count: () => 1, calls });
  const lines = items.map(({ place, verb }) => ({ place, verb: verbs[place] ?? verb }));
  expect(Object.keys(verbs).filter((place) => !items.some((item) => item.place === place))).toEqual([]);
  const { plan } = parsePlan(printPlan({ base: { branch: "a-k3f9/main", commit: "0123456", calls }, lines }));
  if (plan === null) throw new Error("a plan of nothing");
  const { choices, problems } = checkPlan(plan, items);
  const found = listSteps(choices, byIndex);
  return { ...found, problems: [...problems, ...found.problems] };
}

const compaction = (from_turn: number, to_turn: number, more: Partial<Compaction>): Compaction => ({
  type: "compaction",
  id: "old",
  timestamp: "2026-02-01T00:00:00Z",
  from_turn,
  to_turn,
  ...more,
});
const told = ({ steps: all }: EditSteps): readonly string[] =>
  all.map(({ verb, range }) => `${verb} ${formatTurnRange(range)}`);
const turns = parseConversation("U A | U T t A | U A | U A | U A | U A");

describe("the steps of a plan", () => {
  it("are one for each run of lines with one verb, in order", () => {
    const found = steps({ turns }, { 0: "strip", 1: "strip", 2: "omit", 4: "summarise", 5: "summarise" });
    expect(told(found)).toEqual(["strip 0..1", "omit 2..2", "summarise 4..5"]);
    expect(found.problems).toEqual([]);
  });

  it("do not reach across what is hidden already", () => {
    const compactions = [compaction(2, 3, { turns: "omit" })];
    expect(told(steps({ turns, compactions }, { 1: "summarise", 4: "summarise" }))).toEqual([
      "summarise 1..1",
      "summarise 4..4",
    ]);
  });

  it("take a summary in force whole, with the rest of the turn in which it ends", () => {
    const compactions = [compaction(0, 1, { to_event: "e1.3", summary: { summary: "text" } })];
    const given = { turns, compactions };
    expect(told(steps(given, { "0..1": "summarise", 1: "summarise", 2: "summarise" }))).toEqual(["summarise 0..2"]);
    expect(told(steps(given, { "0..1": "omit" }))).toEqual(["omit 0..1:e1.3"]);
    expect(steps(given, { "0..1": "strip" }).problems).toMatchObject([
      { line: 2, message: expect.stringContaining("is a summary") },
    ]);
  });

  it("take a summary in force that hides around what it keeps together with that", () => {
    const summary = { summary: "text" };
    const all = parseConversation("U A | U A A U A | U A");
    for (const [cut, behind] of [[{}, "1"] as const, [{ from_event: "e1.2" }, "1@e1.3"] as const]) {
      const compactions = [compaction(1, 1, { ...cut, to_event: "e1.4", keep: ["e1.3"], summary })];
      const verbs = { 0: "summarise", 1: "summarise", "1..1": "summarise", [behind]: "summarise" } as const;
      const found = steps({ turns: all, compactions }, verbs);
      expect(told(found)).toEqual(["summarise 0..1"]);
      expect(found.problems).toEqual([]);
    }
  });

  it("refuse to change a summary in the midst of which something stays", () => {
    const compactions = [compaction(0, 3, { keep: ["e1.1"], summary: { summary: "text" } })];
    expect(steps({ turns, compactions }, { "0..3": "omit" }).problems).toMatchObject([
      { message: expect.stringContaining("`jpg revert old`") },
    ]);
    expect(steps({ turns, compactions }, { "0..3": "omit", 1: "omit" }).problems).toEqual([]);
    const inside = [compaction(1, 1, { to_event: "e1.3", keep: ["e1.2"], summary: { summary: "text" } })];
    expect(steps({ turns, compactions: inside }, { "1..1": "omit" }).problems).toMatchObject([
      { message: expect.stringContaining("is a summary around") },
    ]);
  });

  it("pin and unpin only what a line changes", () => {
    const found = steps({ turns, pins: [{ turn: 0 }, { turn: 1 }, { turn: 2 }] }, { 1: "keep", 2: "strip", 4: "pin" });
    expect(found).toMatchObject({ pins: [{ turn: 4 }], unpins: [{ turn: 1 }, { turn: 2 }], problems: [] });
    expect(told(found)).toEqual(["strip 2..2"]);
  });
});

describe("lines of calls", () => {
  const loop = parseConversation("U R T t T t A | U T t A");

  it("come to one compaction that names them", () => {
    const found = steps({ turns: loop, calls: true }, { "0:e0.3": "omit", "0:e0.5": "truncate", "1:e1.2": "strip" });
    expect(told(found)).toEqual(["calls 0..1"]);
    expect(found.steps[0]?.calls).toEqual([
      { event: "e0.3", request: "omit", response: "omit" },
      { event: "e0.5", response: { truncate: { max_chars: 2000 } } },
      { event: "e1.2", request: "strip", response: "strip" },
    ]);
  });

  it("are summarised with their results and everything between them", () => {
    const found = steps({ turns: loop, calls: true }, { "0:e0.3": "summarise", "0:e0.5": "summarise" });
    expect(told(found)).toEqual(["summarise 0:e0.3..0:e0.6"]);
  });

  it("of one message are summarised together or not at all", () => {
    const parallel = parseConversation("U T T t t A");
    const given = { turns: parallel, calls: true };
    expect(steps(given, { "0:e0.2": "summarise" }).problems).toMatchObject([
      { message: "0:e0.3 was called in one message with 0:e0.2: summarise both" },
    ]);
    expect(told(steps(given, { "0:e0.2": "summarise", "0:e0.3": "summarise" }))).toEqual(["summarise 0:e0.2..0:e0.5"]);
  });

  it("say nothing where their turn is changed or pinned", () => {
    for (const verb of ["strip", "omit", "pin"] as const)
      expect(steps({ turns: loop, calls: true }, { 0: verb, "0:e0.3": "omit" }).problems).toMatchObject([
        { line: 3, message: expect.stringContaining(`line 2 says to ${verb}`) },
      ]);
  });
});
