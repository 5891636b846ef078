import { describe, expect, it } from "vitest";
import { diffViews } from "../../../src/app/diff/diff.ts";
import { renderDiff, renderDiffStat } from "../../../src/cli/render/diff.ts";
import type { View } from "../../../src/core/conversation/event.ts";
import { PLAIN, WORD_MARKS } from "../../helpers/plain-rendering.ts";
import { answer, call, kept, request, result, summary, thought, view } from "../../helpers/sample-view.ts";

const LONG = Array.from({ length: 500 }, (_, line) => `line ${line}`).join("\n");
const turnOf = (index: number, output = "ok") =>
  kept(
    index,
    request(`r${index}`, `Request ${index}`),
    thought(`t${index}`, "Hm."),
    call(`k${index}`, "run", { command: "npm test" }),
    result(`o${index}`, `k${index}`, output),
    answer(`a${index}`, `Answer ${index}.`),
  );

function render(before: View, after: View, options = {}): string {
  return renderDiff({ from: "before", to: "after", ...diffViews(before, after) }, { ...PLAIN, ...options });
}

describe("renderDiff", () => {
  it("breaks no word of a long line at the terminal's width; each row has the sign", () => {
    const said = (text: string): View => view(kept(0, request("r0", text)));
    const before = said(`One two three, ${"four five six ".repeat(4)}end.`);
    const rows = render(before, said("One."), { width: 40 }).split("\n").slice(3);
    expect(rows).toEqual([
      " == turn 0 ==",
      " user",
      "-  One two three, four five six four",
      "-    five six four five six four five",
      "-    six end.",
      "+  One.",
    ]);
  });

  it("is a unified diff with the turn and event in each header", () => {
    const after = view(
      kept(
        0,
        request("r0", "Request 0"),
        call("k0", "run", {}),
        result("o0", "k0", "[compacted] run: success"),
        answer("a0", "Answer 0."),
      ),
    );
    expect(render(view(turnOf(0)), after)).toMatchInlineSnapshot(`
      "--- before
      +++ after
      @@ -1,11 +1,9 @@ turn 0 · assistant (reasoning)
       == turn 0 ==
       user
         Request 0
      -assistant (reasoning)
      -  Hm.
       tool call run
      -  command: npm test
      +  {}
       tool result run
      -  ok
      +  [compacted] run: success
       assistant
         Answer 0."
    `);
  });

  it("is empty when a model sees the same", () => {
    expect(render(view(turnOf(0)), view(turnOf(0)))).toBe("");
  });

  it("folds the middle of a long text, unless asked for the full one", () => {
    const after = view(turnOf(0, "[compacted] run: success"));
    const folded = render(view(turnOf(0, LONG)), after);
    expect(folded.split("\n").filter((line) => line.startsWith("-  "))).toMatchInlineSnapshot(`
      [
        "-  line 0",
        "-  line 1",
        "-  line 2",
        "-  line 3",
        "-  line 4",
        "-  line 5",
        "-  line 6",
        "-  line 7",
        "-  … 488 lines …",
        "-  line 496",
        "-  line 497",
        "-  line 498",
        "-  line 499",
      ]
    `);
    expect(render(view(turnOf(0, LONG)), after, { full: true }).split("\n").length).toBeGreaterThan(500);
  });

  it("folds the middle of many turns that a summary replaced", () => {
    const turns = Array.from({ length: 12 }, (_, index) => turnOf(index));
    const text = render(view(...turns), view(summary(0, 11, "k3f9q2", request("s", "All went well."))));
    expect(text.split("\n").filter((line) => line.startsWith("@@"))).toMatchInlineSnapshot(`
      [
        "@@ -1,11 +0,0 @@ turn 0",
        "@@ -12,11 +0,0 @@ turn 1",
        "@@ -23,11 +0,0 @@ turn 2",
        "@@ … 7 turns more removed (3..9), 77 lines … @@",
        "@@ -111,11 +0,0 @@ turn 10",
        "@@ -122,11 +0,0 @@ turn 11",
        "@@ -132,0 +1,3 @@ turns 0..11: summary k3f9q2",
      ]
    `);
  });

  it("folds the middle events of a turn that went as a whole", () => {
    const events = Array.from({ length: 20 }, (_, index) => answer(`b${index}`, `Answer ${index}.`));
    expect(render(view(kept(0, ...events), turnOf(1)), view(turnOf(1)))).toMatchInlineSnapshot(`
      "--- before
      +++ after
      @@ -1,41 +0,0 @@ turn 0
      -== turn 0 ==
      -assistant
      -  Answer 0.
      -assistant
      -  Answer 1.
      -  … 16 events, 32 lines …
      -assistant
      -  Answer 18.
      -assistant
      -  Answer 19."
    `);
  });

  it("marks the words that differ inside changed lines", () => {
    const [before, after] = ["The parser reads the line twice.", "The parser reads the line once."].map((text) =>
      view(kept(0, answer("a", text))),
    );
    expect(
      render(before as View, after as View, { style: WORD_MARKS })
        .split("\n")
        .slice(-2),
    ).toEqual(["-  The parser reads the line [-twice-].", "+  The parser reads the line {+once+}."]);
  });

  it("cuts a very long line around its first difference", () => {
    const [before, after] = ["old", "new"].map((word) =>
      view(kept(0, answer("a", `${"x ".repeat(3000)}${word}${" y".repeat(3000)}`))),
    );
    const lines = render(before as View, after as View).split("\n");
    expect(lines.every((line) => line.length < 1200)).toBe(true);
    expect(lines.filter((line) => /^[-+].*(old|new)/.test(line))).toHaveLength(2);
  });

  it("never sends a control character of a conversation", () => {
    const text = render(view(kept(0, answer("a", "one"))), view(kept(0, answer("a", "\u001b]0;x\u0007\u009b2J"))));
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });
});

describe("renderDiffStat", () => {
  it("has a row per turn that differs, neighbours that went joined, and a total", () => {
    const turns = Array.from({ length: 4 }, (_, index) => turnOf(index, LONG));
    const after = view(summary(0, 2, "k3f9q2", request("s", "All went well.")), turnOf(3, "short"));
    const { stat } = diffViews(view(...turns), after);
    expect(renderDiffStat(stat, PLAIN)).toMatchInlineSnapshot(`
      "TURN                        EVENTS        TOKENS           CHARACTERS
      turns 0..2                  -15         4.4k → 0   -100%   13,281 → 0
      turns 0..2: summary k3f9q2  +1             0 → 4               0 → 14
      turn 3                      ~1         1.5k → 19    -99%   4,427 → 43
      total                       -15 ~1 +1  5.9k → 23  -99.6%  17,708 → 57"
    `);
  });

  it("is empty when nothing differs", () => {
    expect(renderDiffStat(diffViews(view(turnOf(0)), view(turnOf(0))).stat, PLAIN)).toBe("");
  });
});
