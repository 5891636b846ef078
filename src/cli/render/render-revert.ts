// What a revert did, in one or two lines.
import type { RevertReport } from "../../app/manage/revert.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderTokens } from "./render-quantity.ts";

/** Renders the outcome of `revert` and `undo`. */
export function renderRevert(report: RevertReport, { style }: Rendering): string {
  const back = new Set(report.restored);
  const named = (verb: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : [`${style.heading(verb)} ${ids.map((id) => style.id(forTerminalLine(id))).join(", ")}`];
  const done = [
    ...named(
      "Reverted",
      report.reverted.filter((id) => !back.has(id)),
    ),
    ...named(
      "Brought back",
      report.reverted.filter((id) => back.has(id)),
    ),
  ].join("; ");
  const tokens = report.tokens === undefined ? "" : `  view ${renderTokens(report.tokens)}`;
  const where = report.branch === undefined ? "" : ` on ${forTerminalLine(report.branch)}`;
  return `${done}${where}\n${style.commit(`commit ${report.commit?.slice(0, 7) ?? "none"}`)}${tokens}`;
}
