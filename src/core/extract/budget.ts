// How long an extract may be, and how a number of characters is shared out among texts of different lengths.

/** Share of the raw tokens that an extract has, up to so many tokens, and of what is beyond. */
const SHARE = 0.08;
const FULL_SHARE_TOKENS = 50_000;
const SHARE_BEYOND = 0.02;
/** Most tokens, however long the range: what is extracted again and again must not grow with the conversation. */
const MOST_TOKENS = 6000;
/** What the sections of a small range need, tokens. */
const LEAST_TOKENS = 250;

/** Characters a token of English prose holds, as `estimateEvent` counts. */
export const CHARS_PER_TOKEN = 4;

/** Gives the usual budget of an extract, tokens, from the tokens of the raw events. */
export function extractBudget(rawTokens: number): number {
  const full = Math.min(rawTokens, FULL_SHARE_TOKENS);
  const tokens = Math.round(SHARE * full + SHARE_BEYOND * (rawTokens - full));
  return Math.min(MOST_TOKENS, Math.max(LEAST_TOKENS, tokens));
}

/** Gives the largest cap so that the lengths, each cut to it, make no more than `chars`; infinite when all fit whole. */
export function fairCap(lengths: readonly number[], chars: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = chars;
  for (const [at, length] of sorted.entries()) {
    const share = left / (sorted.length - at);
    if (length > share) return Math.max(0, Math.floor(share));
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

/** Takes lines in order for as long as they fit into `chars`; a line that does not fit is passed over. */
export function takeLines(lines: readonly string[], chars: number): readonly string[] {
  let left = chars;
  return lines.filter((line) => {
    if (line.length + 1 > left) return false;
    left -= line.length + 1;
    return true;
  });
}

/** Characters that lines take, line ends included. */
export function charsOf(lines: readonly string[]): number {
  return lines.reduce((chars, line) => chars + line.length + 1, 0);
}

/** Hands out a share of what there is, writes something that takes no more, and keeps what it leaves for the next one. */
export type TakeShare = <Written>(
  share: number,
  write: (chars: number) => Written,
  measure: (written: Written) => number,
) => Written;

/** Creates what hands out `chars` characters; none below 0. */
export function createPurse(chars: number): TakeShare {
  const total = Math.max(0, chars);
  let unused = 0;
  return (share, write, measure) => {
    const most = share * total + unused;
    const written = write(most);
    unused = Math.max(0, most - measure(written));
    return written;
  };
}
