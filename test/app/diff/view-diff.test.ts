// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffViews } from "../../../src/app/diff/diff.ts";
import type { DiffHunk, HunkRun } from "../../../src/app/diff/diff-hunks.ts";
import { indentLine } from "../../../src/app/diff/view-text.ts";
import type { Event, ProjectedTurn, View } from "../../../src/core/conversation/event.ts";
import { runs } from "../../helpers/runs.ts";
import { answer, call, kept, request, result, summary, thought, view, viewLines } from "../../helpers/sample-view.ts";

/** The lines of a hunk on one side, as they are in the text. */
function sideLines({ runs }: DiffHunk, without: HunkRun["kind"]): string[] {
  return runs
    .filter((run) => run.kind !== without)
    .flatMap((run) => (run.heading ? run.lines : run.lines.map(indentLine)));
}

/** Applies hunks as `patch` does: each replaces its lines in place. */
function applyHunks(lines: readonly string[], hunks: readonly DiffHunk[]): string[] {
  const patched = [...lines];
  for (const hunk of [...hunks].reverse()) {
    const start = hunk.before.count === 0 ? hunk.before.line : hunk.before.line - 1;
    expect(patched.slice(start, start + hunk.before.count)).toEqual(sideLines(hunk, "added"));
    const fresh = sideLines(hunk, "removed");
    expect(fresh).toHaveLength(hunk.after.count);
    patched.splice(start, hunk.before.count, ...fresh);
  }
  return patched;
}

function markedWords(hunk: DiffHunk | undefined): (string[] | undefined)[] {
  return (hunk?.runs ?? []).flatMap((run) =>
    (run.words ?? []).map((ranges, index) => ranges?.map(([start, end]) => run.lines[index]?.slice(start, end) ?? "")),
  );
}

const text = fc
  .array(fc.constantFrom("one", "two", "", "three words here", "four"), { maxLength: 12 })
  .map((l) => l.join("\n"));
const event = fc
  .record({ id: fc.integer({ min: 0, max: 12 }), kind: fc.integer({ min: 0, max: 4 }), text })
  .map(({ id, kind, text: content }): Event => {
    const name = `e${id}`;
    if (kind === 0) return request(name, content);
    if (kind === 1) return answer(name, content);
    if (kind === 2) return thought(name, content);
    return kind === 3 ? call(name, "run", { command: content }) : result(name, `e${id - 1}`, content);
  });
const turn = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.boolean(), fc.array(event, { maxLength: 6 }))
  .map(([index, isSummary, events]): ProjectedTurn => {
    return isSummary ? summary(index, index + 1, "k1", ...events) : kept(index, ...events);
  });
const anyView = fc.array(turn, { maxLength: 6 }).map((turns): View => ({ turns }));

const CALM = view(
  kept(
    0,
    request("r0", "Why is it slow?"),
    call("k0", "read_file", { path: "a.ts" }),
    result("o0", "k0", "x\n".repeat(9)),
    answer("a0", "A loop."),
  ),
  kept(1, request("r1", "Fix it."), answer("a1", "Fixed.")),
);

describe("diffViews", () => {
  it("gives the text after when its hunks are applied to the text before", () => {
    fc.assert(
      fc.property(anyView, anyView, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        const { hunks } = diffViews(before, after, { context });
        expect(applyHunks(viewLines(before), hunks)).toEqual(viewLines(after));
      }),
      { numRuns: runs(300) },
    );
  });

  it("is empty for equal views", () => {
    fc.assert(
      fc.property(anyView, (same) => {
        const { hunks, stat } = diffViews(same, structuredClone(same));
        expect(hunks).toEqual([]);
        expect(stat.turns).toEqual([]);
        expect(stat.total.tokens.before).toBe(stat.total.tokens.after);
      }),
    );
  });

  it("places the after side of its hunks where the text after has them", () => {
    fc.assert(
      fc.property(anyView, anyView, (before, after) => {
        const lines = viewLines(after);
        for (const hunk of diffViews(before, after).hunks) {
          const start = hunk.after.count === 0 ? hunk.after.line : hunk.after.line - 1;
          expect(lines.slice(start, start + hunk.after.count)).toEqual(sideLines(hunk, "removed"));
        }
      }),
    );
  });

  it("names each hunk after its turn and the first event that differs", () => {
    const stripped = view(
      kept(
        0,
        request("r0", "Why is it slow?"),
        call("k0", "read_file", {}),
        result("o0", "k0", "[compacted] read_file: success"),
        answer("a0", "A loop."),
      ),
      ...CALM.turns.slice(1),
    );
    const { hunks } = diffViews(CALM, stripped);
    expect(hunks.map(({ turn: name, title, event: id }) => [name, title, id])).toEqual([
      ["turn 0", "tool call read_file", "k0"],
    ]);
  });

  it("keeps the context of a hunk inside its turn", () => {
    const { hunks } = diffViews(
      CALM,
      view(...CALM.turns.slice(0, 1), kept(1, request("r1", "Fix it now."), answer("a1", "Fixed."))),
    );
    expect(hunks).toHaveLength(1);
    expect(hunks[0]?.runs[0]?.lines).toEqual(["== turn 1 =="]);
  });

  it("shows a summary as turns removed and the summary added", () => {
    const after = view(summary(0, 0, "k3f9q2", request("s", "It was a loop.")), ...CALM.turns.slice(1));
    const { hunks, stat } = diffViews(CALM, after);
    expect(hunks.map((hunk) => [hunk.turn, hunk.before.count > 0, hunk.after.count > 0])).toEqual([
      ["turn 0", true, false],
      ["turn 0: summary k3f9q2", false, true],
    ]);
    expect(stat.turns.map((row) => [row.turn, row.events])).toEqual([
      ["turn 0", { removed: 4, changed: 0, added: 0 }],
      ["turn 0: summary k3f9q2", { removed: 0, changed: 0, added: 1 }],
    ]);
  });

  it("compares the texts of two summaries of the same turns", () => {
    const first = view(summary(0, 3, "k1", request("k1-0", "It was a slow loop in next().")));
    const second = view(summary(0, 3, "k2", request("k2-0", "It was a slow loop in read().")));
    const [heading, text] = [["k1"], ["next"]];
    expect(markedWords(diffViews(first, second).hunks[0])).toEqual([heading, ["k2"], text, ["read"]]);
  });

  it("leaves words unmarked when asked to", () => {
    const before = view(kept(0, answer("a", "one two three")));
    const after = view(kept(0, answer("a", "one two four")));
    expect(markedWords(diffViews(before, after, { words: false }).hunks[0])).toEqual([]);
    expect(markedWords(diffViews(before, after).hunks[0])).toEqual([["three"], ["four"]]);
  });

  it("counts tokens and characters of the whole view in the total", () => {
    const { total } = diffViews(CALM, view(...CALM.turns.slice(1))).stat;
    expect(total.events).toEqual({ removed: 4, changed: 0, added: 0 });
    expect(total.tokens.before).toBeGreaterThan(total.tokens.after);
    expect(total.characters.after).toBe("Fix it.".length + "Fixed.".length);
  });
});
