// What automatic compaction says of what it measured and did.
import type { Config } from "../../config/config.ts";
import { formatTokens, renderCompacted } from "../../core/conversation/token-estimate.ts";
import { type CompactReport, overallTokens } from "../plan/compact-report.ts";
import type { MeasuredView } from "./auto-measure.ts";
import type { AutoRules } from "./auto-rules.ts";

/** What comes of a context that is large, but not compacted. */
export function nextStep(
  turns: number,
  ratio: number,
  { min_turns: most }: Config["conversation"]["compaction"]["auto"],
): string {
  return turns > most
    ? `above ${Math.round(ratio * 100)} % it is compacted`
    : `conversations of up to ${most} turns are left alone`;
}

/** Completes what is said of a context of which no pass took anything out. */
export const NOTHING_MORE =
  "and nothing more can be taken out automatically: `jpg compact --keep 0` also compacts the newest turns, `jpg compact --profile heavy` replaces turns with a summary, `jpg query --fork=3` continues with only the last 3 turns";

/** Says what was done, in sizes of what is sent next: with the open turn, and with jpg's own system prompt where jpg sends it. */
export function tellCompaction(
  report: CompactReport,
  { name, measured }: { readonly name: AutoRules["name"]; readonly measured: MeasuredView },
  to: { notice(text: string): void },
): void {
  const { before, after } = overallTokens(report);
  const beside = measured.openTokens - measured.uncounted;
  to.notice(renderCompacted({ before: before + beside, after: after + beside }));
  for (const { compaction, from_turn, to_turn, policies } of [report, ...(report.further ? [report.further] : [])])
    to.notice(`turns ${from_turn}..${to_turn} by ${name}: ${policies}; \`jpg revert ${compaction?.id}\` undoes it`);
}

/** What share of the context a pass took out, 0..1. */
export function freedShare(report: CompactReport): number {
  const { before, after } = overallTokens(report);
  return before === 0 ? 0 : 1 - after / before;
}

/** Says how large a context is. */
export function describeSize({ tokens, windowTokens, model }: MeasuredView): string {
  return `the context has ${formatTokens(tokens)} tokens, ${Math.round((tokens / windowTokens) * 100)} % of the window of ${model}`;
}
