// The largest changes of a view as one fence in the manner of a diff: what a model saw, what it sees now.

import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { type FencedLine, forLine, hostLine } from "../../core/safe-text.ts";
import { cutLine, quote } from "./quoted-text.ts";
import type { LargestChanges, ViewChange } from "./view-change.ts";

/** Ten changes take 22 KB at most. */
const SAW = { bytes: 1200, lines: 12, width: 120 } as const;
const SEES = { bytes: 700, lines: 6, width: 120 } as const;
/** Longest name of a change, bytes. */
const NAME_BYTES = 150;

/** Says how many there are, of how many. */
export function countChanges({ largest, count }: LargestChanges): string {
  if (count === 1) return "the only change";
  return largest.length === count ? `all ${count} changes` : `the ${largest.length} largest of ${count} changes`;
}

/** Quotes them, largest first. */
export function quoteChanges({ largest }: LargestChanges): readonly FencedLine[] {
  return largest.flatMap((change, at) => [...(at === 0 ? [] : [BLANK]), ...quoteChange(change)]);
}

const BLANK: FencedLine = { mark: "  ", text: "" };

function quoteChange({ turn, title, tokens, before, after }: ViewChange): readonly FencedLine[] {
  const whole = hostLine(forLine(`${turn}, ${title}`, NAME_BYTES));
  const name = cutLine(whole, { bytes: NAME_BYTES, width: Number.POSITIVE_INFINITY }) ?? "";
  return [
    { mark: "@@ ", text: `${name}: ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens` },
    ...side(before, "- ", SAW),
    ...side(after, "+ ", SEES),
  ];
}

function side(text: string | null, mark: "- " | "+ ", limits: typeof SAW | typeof SEES): readonly FencedLine[] {
  if (text === null) return [];
  return text.trim() === "" ? [{ mark, text: "(empty)" }] : quote(text, mark, limits);
}
