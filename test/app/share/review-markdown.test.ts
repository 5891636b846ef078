// @module-tag law
import fc from "fast-check";
import { expect, it } from "vitest";
import { type ReviewReport, reviewMarkdown } from "../../../src/app/share/review.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { anyText } from "../../helpers/any-text.ts";
import { runs } from "../../helpers/runs.ts";

/** Markdown, HTML, signs of hosts, slash commands, ends of fences and code; long. */
const text = fc
  .tuple(
    fc.constantFrom(
      "x",
      "`",
      "```\n",
      "~~~\n",
      "# Title\n",
      "<img src=x>",
      "@a fixes #1 ",
      "\n/merge\n",
      "](x)",
      "😀",
      "| a |\n",
    ),
    fc.constantFrom(0, 1, 3, 9000),
    anyText({ maxLength: 12 }),
  )
  .map(([piece, times, rest]) => piece.repeat(times) + rest);
const change = fc.record({
  turn: text,
  title: text,
  tokens: fc.record({ before: fc.nat(), after: fc.nat() }),
  before: fc.option(text),
  after: fc.option(text),
});
const compaction = text.map(
  (said): Compaction => ({
    type: "compaction",
    id: said,
    timestamp: "2026-11-21T20:30:00Z",
    from_turn: 0,
    to_turn: 2,
    profile: said,
    summary: { summary: said, source: "authored", files: [said], open_tasks: [said] },
  }),
);
const reviewed = fc.record({
  compaction,
  subject: text,
  changes: fc.record({ largest: fc.array(change, { maxLength: 10 }), count: fc.nat() }),
  not_applied: text,
});
const turn = fc.record({ turn: fc.nat(), continued: fc.boolean(), request: text, messages: fc.nat() });
const report = fc.record({
  conversation: fc.constant("c"),
  title: fc.record({ before: text, after: text }),
  fork: text,
  against: text,
  base: fc.constantFrom(null, "0".repeat(40)),
  told: fc.constantFrom(null, "fork", "against"),
  meanwhile: fc.record({ turns: fc.nat(2), compactions: fc.nat(2) }),
  tokens: fc.record({ before: fc.nat(), after: fc.nat() }),
  turns: fc.array(turn, { maxLength: 40 }),
  turns_left_out: fc.nat(2),
  compactions: fc.array(reviewed, { maxLength: 6 }),
  reverted: fc.array(fc.record({ id: text, subject: text }), { maxLength: 30 }),
  settings: fc.array(text, { maxLength: 30 }),
  marks: fc.array(text, { maxLength: 3 }),
});

/** jpg's own words outside of fences; text between backticks is code. */
const OWN = [
  /^# What CODE changes for the model$/,
  /^Compared with CODE( where they parted \(CODE\)|, (which has a summary of it|of which it has a summary) up to CODE)?\. What was said in the conversation is only in code blocks\.$/,
  /^\*\*Merging this here or by git would remove from CODE what it did since the two parted\*\*: CODE has only a summary of that\. CODE keeps it\.$/,
  /^\* (tokens that the model reads: \S+ → \S+ \(estimate\)|compactions added: \d+|turns left out: \d+|added to CODE since: [\w, ]+)$/,
  /^## (Turns added \(\d+\)|Compactions reverted|Title|Settings|Marks|CODE)$/,
  /^To undo it: CODE\.$/,
  /^It has no effect here: CODE$/,
  /^(Details|Files of the summary|Open tasks|Summary \(authored\)):$/,
  /^What the model saw \(-\) and sees now \(\+\), [\w ]+:$/,
  /^There is no room for more here: see its commit message, or CODE\.$/,
  /^\d+ older compactions are not shown: CODE lists them\.$/,
  /^$/,
];

function outside(markdown: string): readonly string[] {
  const lines: string[] = [];
  let open: string | null = null;
  for (const line of markdown.split("\n")) {
    const marker: string | undefined = /^ {0,3}(`{3,})[^`]*$/.exec(line)?.[1];
    if (open === null && marker !== undefined) open = marker;
    else if (open !== null && marker !== undefined && marker.length >= open.length && /^ {0,3}`+ *$/.test(line))
      open = null;
    else if (open === null) lines.push(line.replace(/(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)/g, "CODE"));
  }
  expect(open).toBeNull();
  return lines;
}

it("is at most 60,000 bytes, and says nothing outside code but jpg's own words, whatever was said", () => {
  fc.assert(
    fc.property(report, (drawn) => {
      const markdown = reviewMarkdown(drawn as ReviewReport);
      expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(60_000);
      for (const line of outside(markdown)) expect(OWN.filter((own) => own.test(line)).length, line).toBeGreaterThan(0);
      expect(markdown).not.toMatch(/fixes #1|@a/);
    }),
    { numRuns: runs(60) },
  );
});
