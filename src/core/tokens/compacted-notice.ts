// The line that tells that a context was compacted, worded alike wherever it happens.
import { forTerminal, type SafeText, safe } from "../safe-text.ts";
import { formatTokens } from "./token-estimate.ts";

/** Renders the notice, e.g. `— context compacted (150k → 105k tokens) —`. Tokens of the whole view, before and after. */
export function renderCompacted({ before, after }: { readonly before: number; readonly after: number }): SafeText {
  return safe`— context compacted (${shortly(before)} → ${shortly(after)} tokens) —`;
}

/** As everywhere, but a round number without its zero. */
function shortly(tokens: number): SafeText {
  return forTerminal(formatTokens(tokens).replace(/\.0(?=[kM]$)/, ""));
}
