import { describe, expect, it } from "vitest";
import type { CompactReport, CompactSegment } from "../../../src/app/compact/compact-report.ts";
import type { PlanOffer } from "../../../src/app/compact/edit-plan.ts";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderNothing, renderPlan, renderTimeline } from "../../../src/cli/render/compact.ts";
import { type EditItem, parsePlan } from "../../../src/core/compact/edit-plan.ts";
import { FACT_KINDS } from "../../../src/core/conversation/compaction.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const report = {
  reason: "everything that may be removed is already compacted",
  hints: ["`jpg log` lists the compactions."],
};

describe("renderNothing", () => {
  it("says why, as a sentence, and what to type", () => {
    expect(renderNothing(report, PLAIN.style)).toBe(
      "Nothing to compact. Everything that may be removed is already compacted.\nhint: `jpg log` lists the compactions.",
    );
    expect(renderNothing({}, PLAIN.style)).toBe("Nothing to compact.");
  });

  it("leaves names as they are at the start of a sentence", () => {
    for (const reason of ["test/model-1 found no tangent.", "a-b", "3 turns are too few", "Ünter", "$HOME"])
      expect(renderNothing({ reason }, PLAIN.style)).toBe(`Nothing to compact. ${reason.replace(/\.$/, "")}.`);
  });

  it("breaks lines between words where it is told the width", () => {
    expect(renderNothing(report, PLAIN.style, 40).split("\n")).toEqual([
      "Nothing to compact. Everything that may",
      "  be removed is already compacted.",
      "hint: `jpg log` lists the compactions.",
    ]);
  });

  it("lets nothing of a conversation steer the terminal", () => {
    expect(renderNothing({ reason: "\u001b[2Jgone" }, PLAIN.style)).not.toContain("\u001b");
  });
});

const REPORT: CompactReport = {
  conversation: "fix-parser-k3f9",
  branch: "fix-parser-k3f9/main",
  dryRun: false,
  compaction: { type: "compaction", id: "k3f9q2", timestamp: "2026-11-21T20:30:00Z", from_turn: 3, to_turn: 12 },
  commit: "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
  from_turn: 3,
  to_turn: 12,
  policies: "reasoning + tools stripped",
  tokens: { before: 97_300, after: 22_200 },
  tokens_source: "estimate",
  overhead_source: "recorded",
  pruned: null,
  overhead: 0,
  cache: null,
  receipt: null,
  ungrounded: [],
  planned_summary: null,
  report: { events_removed: 40, estimated_tokens_saved: 75_100, steps: [] },
  segments: [
    { from: 0, to: 2, kind: "summary", policies: "summary p0z1aa", tokens: { before: 1200, after: 1200 } },
    {
      from: 3,
      to: 12,
      kind: "compacted",
      policies: "reasoning + tools stripped",
      tokens: { before: 84_200, after: 9100 },
    },
    { from: 13, to: 15, kind: "kept", tokens: { before: 11_900, after: 11_900 } },
  ],
  warnings: [],
};

describe("renderTimeline", () => {
  it("shows what is kept, compacted and summarised, and what it saves", () => {
    expect(renderTimeline(REPORT, PLAIN)).toMatchInlineSnapshot(`
      "Compacted fix-parser-k3f9/main 3..12: reasoning + tools stripped
      commit 3fa9c1d  compaction k3f9q2
          0..2  summary    summary p0z1aa                       1.2k        █
         3..12  compacted  reasoning + tools stripped   84.2k → 9.1k  -89%  █░░░░░░░
        13..15  kept                                           11.9k        █
         total  estimate                               97.3k → 22.2k  -77%"
    `);
  });

  it("tells what stands in front of the events, what the cache makes of it and what a summary has no ground for", () => {
    const cache = { prefix_kept: 13_000, rewritten: 8200, saved_per_call: 75_100, break_even_calls: 2 };
    const ungrounded = [{ kind: "sha", text: "beef123" }] as const;
    const shown = renderTimeline({ ...REPORT, overhead: 12_000, cache, ungrounded }, PLAIN);
    expect(shown.split("\n").slice(5)).toEqual([
      "                     system prompt and tools             12.0k",
      "   total  estimate                               97.3k → 22.2k  -77%",
      "",
      "  cache: 13.0k kept, 8.2k rewritten once; 75.1k saved a call, pays after 2 calls",
      "",
      "  In the summary, but in none of the events it replaces:",
      "    sha  beef123",
    ]);
  });

  it("says in two lines what the next calls cost, where that is known", () => {
    const cache = { prefix_kept: 13_000, rewritten: 8200, saved_per_call: 75_100, break_even_calls: 2 };
    const cost = { model: "claude-x", is_warm: true, without_usd: 0.03, with_usd: 0.35, extra_usd: 0.32 };
    const shown = (more: object): string[] =>
      renderTimeline({ ...REPORT, cache, cost: { ...cost, saved_usd: 0.011, pays_after: 30, ...more } }, PLAIN)
        .split("\n")
        .slice(6);
    expect(shown({})).toEqual([
      "",
      "  The next call costs $0.32 more: 8.2k tokens are written to the cache anew.",
      "  Each one after it costs $0.011 less: pays after 30 calls (claude-x).",
    ]);
    expect(shown({ is_warm: false, extra_usd: -0.2, pays_after: 0 })).toEqual([
      "",
      "  The next call costs $0.20 less: the cache has expired anyway.",
      "  Each one after it costs $0.011 less: pays at once (claude-x).",
    ]);
    expect(shown({ saved_usd: 0, pays_after: null })).toEqual([]);
  });

  it("fits a terminal of 24 lines when it is short, whatever there is to say", () => {
    const segments = Array.from(
      { length: 300 },
      (_, at): CompactSegment => ({ from: at, to: at, kind: "compacted", tokens: { before: 9, after: 8 } }),
    );
    const counts = { total: 90, visible: 30, summary: 0, pointer: 0, hidden: 60, mentioned_later: 7 };
    const facts = Object.fromEntries(FACT_KINDS.map((kind, at) => [kind, { ...counts, hidden: 60 - at }]));
    const mentioned_later = Array.from(
      { length: 20 },
      (_, at) => ({ kind: "files", text: `f${at}.ts`, turn: 9 }) as const,
    );
    const steps = ["a", "b", "c"].map((strategy) => ({ strategy, events_removed: 3, estimated_tokens_saved: 9 }));
    const report = {
      ...REPORT,
      dryRun: true,
      segments,
      overhead: 12_000,
      receipt: { facts, mentioned_later },
      lost: FACT_KINDS.map((kind, at) => ({ kind, facts: Array(60 - at).fill("long/name"), mentioned: 7 })),
      report: { events_removed: 9, estimated_tokens_saved: 27, steps },
      cache: { prefix_kept: 13_000, rewritten: 8200, saved_per_call: 75_100, break_even_calls: 0 },
      warnings: ["one of them"],
    };
    const lines = renderTimeline(report, { ...PLAIN, width: 80 }, { isFull: false }).split("\n");
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines).toContain("  saved by: a 9, b 9, c 9");
    expect(lines.filter((line) => /^ +60 files +long\/name, .*, …$/.test(line))).toHaveLength(1);
    expect(lines.join(" ").replace(/ +/g, " ")).toMatch(
      / 555 facts are hidden: these, and .*\. Later turns mention 70 of them\. Add --full for all names\./,
    );
    expect(renderTimeline(report, { ...PLAIN, width: 80 }).split("\n").length).toBeGreaterThan(60);
  });

  it("leaves out the middle of a long timeline, and says how much", () => {
    const segments = Array.from(
      { length: 2001 },
      (_, at): CompactSegment => ({
        from: at,
        to: at,
        kind: at % 2 === 0 ? "kept" : "compacted",
        tokens: { before: 9, after: 9 },
      }),
    );
    const lines = renderTimeline({ ...REPORT, segments }, PLAIN)
      .split("\n")
      .slice(2, -1);
    expect(lines).toHaveLength(41);
    expect(lines[19]).toMatch(/^ +turn 19 /);
    expect(lines[20]).toMatch(/^ +… +1,961 more$/);
    expect(lines[21]).toMatch(/^ +turn 1981 /);
    const whole = renderTimeline({ ...REPORT, segments: segments.slice(0, 41) }, PLAIN);
    expect(whole).not.toContain("more");
    expect(whole).toMatch(/\n +turn 20 /);
  });

  it("explains a turn that stands in two rows, and only such a one", () => {
    const [older, range, kept] = REPORT.segments as [CompactSegment, CompactSegment, CompactSegment];
    const divided = { ...REPORT, segments: [older, range, { ...kept, from: 12 }] };
    expect(renderTimeline(divided, PLAIN)).toContain("  turn 12 is divided: the beginning is in one row, ");
    expect(renderTimeline(REPORT, PLAIN)).not.toContain("divided");
  });

  it("does not guess how long a summary will be that is not written yet", () => {
    const [older, range, kept] = REPORT.segments as [CompactSegment, CompactSegment, CompactSegment];
    const unwritten = { ...range, kind: "summary", policies: "summary", tokens: { before: 84_200, after: 9 } } as const;
    const shown = renderTimeline(
      {
        ...REPORT,
        dryRun: true,
        policies: "summary",
        planned_summary: { from_turn: 3, to_turn: 12, model: "anthropic/claude-haiku" },
        tokens: { before: 97_300, after: 13_100 },
        segments: [older, unwritten, kept],
      },
      PLAIN,
    );
    expect(shown).toMatchInlineSnapshot(`
      "Would compact fix-parser-k3f9/main 3..12: summary
          0..2  summary   summary p0z1aa                     1.2k  █
         3..12  summary   summary                       84.2k → ?  █░░░░░░░
        13..15  kept                                        11.9k  █
         total  estimate                  97.3k → 13.1k + summary
      note: will generate a summary for turns 3-12 using model anthropic/claude-haiku"
    `);
  });

  it("names what is hidden when it is short, and counts it in a whole dry run only", () => {
    const counts = { total: 3, visible: 1, summary: 0, pointer: 0, hidden: 2, mentioned_later: 0 };
    const receipt = { facts: { files: counts }, mentioned_later: [] };
    const lost = [{ kind: "files", facts: ["a.ts", "b.ts"], mentioned: 0 }] as const;
    const shown = (dryRun: boolean, isFull: boolean) =>
      renderTimeline({ ...REPORT, dryRun, receipt, lost }, PLAIN, { isFull });
    expect(shown(true, true)).toContain("HIDDEN: not shown, kept by jpg.");
    expect(shown(false, true)).not.toContain("a.ts");
    for (const isDry of [true, false])
      expect(shown(isDry, false)).toContain("2 files  a.ts, b.ts\n    2 facts are hidden.");
  });

  it("says what each of several strategies added to those before it", () => {
    const steps = [
      { strategy: "dedup-tools", events_removed: 1204, estimated_tokens_saved: 70_000 },
      { strategy: "strip-tool-results", events_removed: 0, estimated_tokens_saved: 5100 },
    ];
    const report = { events_removed: 1204, estimated_tokens_saved: 75_100, steps };
    const lines = (shown: typeof report) =>
      renderTimeline({ ...REPORT, report: shown }, PLAIN)
        .split("\n")
        .slice(6);
    expect(lines(report)).toEqual([
      "",
      "  dedup-tools         1,204 events removed  70.0k saved",
      "  strip-tool-results                         5.1k saved",
    ]);
    expect(lines({ ...report, steps: steps.slice(0, 1) })).toEqual([]);
  });

  it("says that a dry run only would, and names no commit", () => {
    expect(renderTimeline({ ...REPORT, dryRun: true, commit: null }, PLAIN).split("\n")[0]).toBe(
      "Would compact fix-parser-k3f9/main 3..12: reasoning + tools stripped",
    );
    expect(renderTimeline({ ...REPORT, dryRun: true, commit: null }, PLAIN)).not.toContain("commit");
  });

  it("gives the reason when there is nothing to compact", () => {
    const nothing = { ...REPORT, compaction: null, commit: null, reason: "Turn 9 is past the last turn, 5." };
    expect(renderTimeline(nothing, PLAIN)).toBe("Nothing to compact. Turn 9 is past the last turn, 5.");
  });

  it("ends with the warnings", () => {
    const warnings = ["hidden by summary p0z1aa until p0z1aa is reverted"];
    expect(
      renderTimeline({ ...REPORT, warnings }, PLAIN)
        .split("\n")
        .at(-1),
    ).toBe(`note: ${warnings[0]}`);
  });

  it("fits on 80 columns", () => {
    expect(
      renderTimeline(REPORT, PLAIN)
        .split("\n")
        .every((line) => line.length <= 80),
    ).toBe(true);
  });
});

const item = (place: string, words: string, tokens: number, time = "2026-02-01T00:00:00Z"): EditItem => ({
  place,
  kind: "turn",
  range: { from: 0, to: 0 },
  verb: "keep",
  tokens,
  time,
  words,
});
const offer = (items: readonly EditItem[], more: Partial<PlanOffer> = {}): PlanOffer => ({
  base: { branch: "tide-k3f9/main", commit: "0123456789ab", calls: false },
  items,
  verbs: new Map(),
  size: { tokens: 42_000, source: "estimate" },
  overhead: 12_000,
  windowTokens: 200_000,
  lost: [],
  ...more,
});
const layout = { columns: 80, now: new Date("2026-02-03T12:00:00Z") };
const body = (text: string): readonly string[] => text.split("\n").filter((line) => /^(keep|omit)/.test(line));

describe("a plan on the screen", () => {
  it("has verb, place, tokens, share, age and first words in columns", () => {
    const items = [
      item("0..9", "[summary] What was done", 1234),
      item("10", "And now the pier", 25_000, "2026-02-03T09:00:00Z"),
      item("11", "", 0, ""),
    ];
    expect(
      renderPlan(offer(items, { verbs: new Map([["10", "omit"]]) }), layout)
        .split("\n")
        .slice(0, 6),
    ).toEqual([
      "plan tide-k3f9/main 0123456789ab",
      "keep 0..9   1.2k <1% 2d  [summary] What was done",
      "omit   10  25.0k 13% 3h  And now the pier",
      "keep   11      0  0%  -",
      "",
      "# 3 lines, 42.0k tokens of a window of 200.0k, 12.0k of them in front of it",
    ]);
  });

  it("measures by the view where the window is not known", () => {
    const text = renderPlan(offer([item("0", "x", 21_000)], { windowTokens: null, overhead: 0 }), layout);
    expect(body(text)).toEqual(["keep 0  21.0k 50% 2d  x"]);
    expect(text).toContain("# 1 line, 42.0k tokens\n# a line: verb, turn, tokens, share of the view, age");
  });

  it.each([
    ["wide characters", "潮の満ち引きを桟橋で毎日測ってください。".repeat(6)],
    ["families and flags", "👨‍👩‍👧‍👦🇯🇵e\u0301 ".repeat(30)],
    ["a word without an end", "x".repeat(500)],
  ])("is 80 columns wide at most: %s", (_, words) => {
    const text = renderPlan(offer([item("7", words, 5), item("8", words, 12_345)]), layout);
    expect(text.split("\n").every((line) => displayWidth(line) <= 80)).toBe(true);
    for (const line of body(text)) {
      expect(displayWidth(line)).toBeGreaterThan(75);
      expect(line.endsWith("…")).toBe(true);
    }
  });

  it("has nothing that steers a terminal or passes for a line, whatever was said", () => {
    const words = "\u001b[2Jfine\u0007\nomit 8\r\u202etxt\u2066";
    const text = renderPlan(offer([item("7", words, 5), item("8", "next", 5)]), layout, ["\u001b]0;x\u0007"]);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(parsePlan(text).plan?.lines.map(({ verb, place }) => `${verb} ${place}`)).toEqual(["keep 7", "keep 8"]);
  });
});
