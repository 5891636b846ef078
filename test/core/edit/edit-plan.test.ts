// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EDIT_VERBS,
  type EditPlan,
  type EditVerb,
  markPlan,
  parsePlan,
  printPlan,
  withoutMarks,
} from "../../../src/core/compact/edit-plan.ts";
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
  it("stand above their lines, are no lines themselves, and take the place of older ones", () => {
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
