// What a revert did, in one or two lines.
import type { RevertReport } from "../../app/manage/revert.ts";
import { forTerminalLine, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { groupDigits, renderTokens, shortCommit } from "./render-quantity.ts";

/** Compactions named before the rest is only counted: an edited plan may make one a turn. */
const MOST_NAMED = 10;

/** Renders the outcome of `revert` and `undo`. */
export function renderRevert(report: RevertReport, { style }: Rendering): SafeText {
  const back = new Set(report.restored);
  const named = (verb: SafeText, ids: readonly string[]): SafeText[] => {
    const rest = ids.length - MOST_NAMED;
    const shown = ids.slice(0, MOST_NAMED).map((id) => style.id(forTerminalLine(id)));
    const all = joinSafe(rest > 0 ? [...shown, safe`… ${groupDigits(rest)} more`] : shown, ", ");
    return ids.length === 0 ? [] : [safe`${style.heading(verb)} ${all}`];
  };
  const taken = report.reverted.filter((id) => !back.has(id));
  const returned = report.reverted.filter((id) => back.has(id));
  const done = joinSafe([...named(safe`Reverted`, taken), ...named(safe`Brought back`, returned)], "; ");
  const tokens = report.tokens === undefined ? "" : safe`  view ${renderTokens(report.tokens)}`;
  const where = report.branch === undefined ? "" : safe` on ${forTerminalLine(report.branch)}`;
  return safe`${done}${where}\n${style.commit(safe`commit ${shortCommit(report.commit ?? "none")}`)}${tokens}`;
}
