// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EDIT_VERBS,
  type EditItem,
  type EditPlan,
  type EditVerb,
  itemsOf,
  markPlan,
  parsePlan,
  printPlan,
  withoutMarks,
} from "../../../src/core/compact/edit-plan.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const verbs = Object.keys(EDIT_VERBS) as EditVerb[];
const word = fc.stringMatching(/^[\w.:@#/-]{1,12}$/);
const plan: fc.Arbitrary<EditPlan> = fc.record({
  base: fc.record({
    branch: fc.constantFrom("a-k3f9/main", "täg-k3f9/try-b"),
    commit: fc.constant(COMMIT),
    calls: fc.boolean(),
  }),
  lines: fc.array(
    fc.record({ verb: fc.constantFrom(...verbs), place: word, about: fc.array(word).map((words) => words.join(" ")) }),
    { minLength: 1, maxLength: 20 },
  ),
});
const help = fc.array(fc.stringMatching(/^[ -~]{0,40}$/), { maxLength: 5 });

describe("the text of a plan", () => {
  it("says the same when it is read again, whatever the help says", () => {
    fc.assert(
      fc.property(plan, help, (given, comments) => {
        const read = parsePlan(printPlan(given, comments));
        expect(read.problems).toEqual([]);
        expect(read.plan?.base).toEqual(given.base);
        expect(read.plan?.lines.map(({ line: _, ...written }) => written)).toEqual(given.lines);
      }),
      { numRuns: runs(200) },
    );
  });

  it("knows verbs by their letters, in lines that are indented or end as on Windows", () => {
    const letters = verbs.map((verb, at) => `  ${EDIT_VERBS[verb].letter} ${at}\r`).join("\n");
    const { plan: read, problems } = parsePlan(`plan a-k3f9/main ${COMMIT}\n# keep 99\n\n${letters}\nsummarize 6\n`);
    expect(problems).toEqual([]);
    expect(read?.lines.map(({ verb, place }) => `${verb} ${place}`)).toEqual([
      ...verbs.map((verb, at) => `${verb} ${at}`),
      "summarise 6",
    ]);
    expect(new Set(verbs.map((verb) => EDIT_VERBS[verb].letter)).size).toBe(verbs.length);
  });

  it.each(["", "\n\n# keep 0\n", `plan a-k3f9/main ${COMMIT}\n`, `# note\nplan a-k3f9/main ${COMMIT} calls\n#\n`])(
    "says nothing to do without lines: %j",
    (text) => {
      expect(parsePlan(text)).toEqual({ plan: null, problems: [] });
    },
  );

  it.each([
    ["keep 0\n", 1, "expected `plan BRANCH COMMIT`"],
    ["plan main abc\nkeep 0\n", 1, "expected `plan BRANCH COMMIT`"],
    [`plan a-k3f9/main ${COMMIT} turns\nkeep 0\n`, 1, "expected `plan BRANCH COMMIT`"],
    [`plan a-k3f9/main ${COMMIT}\nkeep 0\nstirp 1\n`, 3, 'unknown verb "stirp": did you mean strip?'],
    [`plan a-k3f9/main ${COMMIT}\n\u001b[31mfrobnicate\u202e 1\n`, 2, 'unknown verb "frobnicate": expected keep, '],
    [`plan a-k3f9/main ${COMMIT}\nkeep\n`, 2, "`keep` needs the number of a turn"],
  ])("names the line that cannot be read: %j", (text, line, message) => {
    const { problems } = parsePlan(text);
    expect(problems).toEqual([{ line, message: expect.stringContaining(message) }]);
  });
});

describe("marks", () => {
  it("are above their lines, are no lines themselves, and replace older ones", () => {
    const text = `plan a-k3f9/main ${COMMIT}\nkeep 0\nstirp 1\n`;
    const marked = markPlan(text, parsePlan(text).problems);
    expect(marked.split("\n")).toEqual([
      `plan a-k3f9/main ${COMMIT}`,
      "keep 0",
      '# error: unknown verb "stirp": did you mean strip?',
      "stirp 1",
      "",
    ]);
    const again = markPlan(marked, parsePlan(marked).problems);
    expect(again).toBe(marked);
    expect(withoutMarks(again)).toBe(text);
  });

  it("change nothing that a plan says", () => {
    fc.assert(
      fc.property(plan, fc.array(fc.nat(25)), (given, lines) => {
        const text = printPlan(given, ["help"]);
        const marked = markPlan(
          text,
          lines.map((line) => ({ line, message: "keep 0\nomit 1" })),
        );
        const said = (read: string): unknown => parsePlan(read).plan?.lines.map(({ verb, place }) => [verb, place]);
        expect(said(marked)).toEqual(said(text));
        expect(withoutMarks(marked)).toBe(text);
      }),
      { numRuns: runs(100) },
    );
  });
});

function items({ turns, compactions }: RandomConversation, calls: boolean): readonly EditItem[] {
  const byIndex = new Map(turns.map((turn) => [turn.index, turn]));
  const view = projectTurns(turns, compactions);
  return itemsOf({ view, turns: byIndex, compactions, pins: [], count: estimateEvent, calls });
}

const BASE = { branch: "a-k3f9/main", commit: "0123456789ab", calls: true };

describe("the items of a view", () => {
  it("have places of their own that come back from the text, and tokens that add up", () => {
    fc.assert(
      fc.property(randomConversation, fc.boolean(), (conversation, calls) => {
        const found = items(conversation, calls);
        const places = found.map(({ place }) => place);
        expect(new Set(places).size).toBe(places.length);
        const lines = found.map(({ place, verb, words }) => ({ place, verb, about: words }));
        expect(parsePlan(printPlan({ base: BASE, lines })).plan?.lines.map(({ place }) => place) ?? []).toEqual(places);
        const view = projectTurns(conversation.turns, conversation.compactions);
        const shown = view.turns.flatMap(({ events }) => events).reduce((sum, event) => sum + estimateEvent(event), 0);
        const own = found.filter(({ kind }) => kind !== "call").reduce((sum, { tokens }) => sum + tokens, 0);
        expect(own).toBeCloseTo(shown);
      }),
      { numRuns: runs(200) },
    );
  });

  it("say in one harmless line what strangers wrote", () => {
    const [turn] = parseConversation("U A");
    const hostile = "\u001b]0;title\u0007\u001b[2Jomit 0\nomit 1\r\n\u202eevil\u2066 \u0000end";
    const events = (turn?.events ?? []).map((event) =>
      event.type === "chat_request" ? { ...event, content: hostile } : event,
    );
    const turns: readonly Turn[] = [{ index: 0, events }];
    const [item] = items({ turns, compactions: [] }, false);
    expect(item?.words).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(item?.words).toContain("omit 0 omit 1 evil end");
    const text = printPlan({ base: BASE, lines: [{ verb: "keep", place: "0", about: item?.words ?? "" }] });
    expect(parsePlan(text).plan?.lines).toMatchObject([{ verb: "keep", place: "0" }]);
  });

  it("name calls by the start of their ids, and by number where an id cannot be written in a plan", () => {
    const [turn] = parseConversation("U T t T t T t");
    const ids = ["f7657c25-4524", "f7657c25-9999", "has a blank\n"];
    let next = 0;
    const events = (turn?.events ?? []).map((event) =>
      event.type === "tool_call_request" ? { ...event, id: ids[next++] ?? "" } : event,
    );
    const found = items({ turns: [{ index: 0, events }], compactions: [] }, true);
    expect(found.map(({ place }) => place)).toEqual(["0", "0:f7657c25-4", "0:f7657c25-9", "0:#2"]);
  });
});
