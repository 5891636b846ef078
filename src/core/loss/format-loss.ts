// The loss receipt in a few lines of plain text, for the body of a commit.
import { FACT_KINDS, type FactCounts, type FactKind, type LossReceipt } from "../compaction/loss-receipt.ts";

/** Most lines given. */
const MOST_LINES = 8;
/** Facts that are named in the line of those still mentioned. */
const MOST_NAMED = 3;
/** The fates of facts, with what they are called. */
const FATES = [
  ["visible", "visible"],
  ["summary", "in the summary"],
  ["pointer", "by pointer"],
  ["hidden", "hidden"],
] as const;

/**
 * Formats a receipt, one line a kind that loses anything, e.g. `files: 12, of them 9 visible, 3 hidden`, and one line of
 * facts that later turns still mention. At most 8 lines: the kinds with the fewest facts hidden are put together. Texts of
 * the conversation stand in it as they are: make them safe for where they go.
 */
export function formatLoss({ facts, mentioned_later }: LossReceipt): readonly string[] {
  const kinds = FACT_KINDS.flatMap((kind) => {
    const counts = facts[kind];
    return counts === undefined ? [] : [{ kind, counts }];
  });
  const touched = kinds.filter(({ counts }) => counts.visible < counts.total);
  const whole = kinds.filter(({ counts }) => counts.visible === counts.total);
  const mentions = mentioned_later.slice(0, MOST_NAMED).map(({ text, turn }) => `${text} (turn ${turn})`);
  const room = MOST_LINES - (whole.length > 0 ? 1 : 0) - (mentions.length > 0 ? 1 : 0);
  const own = touched.length <= room ? touched : largest(touched, room - 1);
  const others = touched.filter((kind) => !own.includes(kind));
  return [
    ...own.map(({ kind, counts }) => `${kind}: ${formatCounts(counts)}`),
    ...(others.length === 0 ? [] : [`hidden besides: ${others.map(formatHidden).join(", ")}`]),
    ...(whole.length === 0
      ? []
      : [`all visible: ${whole.map(({ kind, counts }) => `${counts.total} ${kind}`).join(", ")}`]),
    ...(mentions.length === 0
      ? []
      : [`gone but mentioned later: ${countMentioned(facts)}, such as ${mentions.join(", ")}`]),
  ];
}

interface KindCounts {
  readonly kind: FactKind;
  readonly counts: FactCounts;
}

/** Those with the most facts hidden, in the order of kinds. */
function largest(kinds: readonly KindCounts[], count: number): readonly KindCounts[] {
  const chosen = new Set([...kinds].sort((a, b) => b.counts.hidden - a.counts.hidden).slice(0, count));
  return kinds.filter((kind) => chosen.has(kind));
}

function formatHidden({ kind, counts }: KindCounts): string {
  return `${counts.hidden} of ${counts.total} ${kind}`;
}

function formatCounts(counts: FactCounts): string {
  const fates = FATES.flatMap(([key, name]) => (counts[key] === 0 ? [] : [`${counts[key]} ${name}`]));
  return `${counts.total}, of them ${fates.join(", ")}`;
}

function countMentioned(facts: LossReceipt["facts"]): number {
  return Object.values(facts).reduce((sum, counts) => sum + counts.mentioned_later, 0);
}
