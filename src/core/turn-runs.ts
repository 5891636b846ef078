// Turns that follow each other, as a sentence names them.

/** Formats runs of turns as `0, 7..9`; positions are 0-based, inclusive. */
export function formatRuns(runs: readonly { readonly from: number; readonly to: number }[]): string {
  return runs.map(({ from, to }) => (from === to ? `${from}` : `${from}..${to}`)).join(", ");
}
