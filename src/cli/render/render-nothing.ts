// Nothing was compacted: why, and what to type.
import { type NothingReport, sayNothing } from "../../app/plan/compact-report.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Style } from "../frame/style.ts";

/** Renders it: a line, and one for each hint. */
export function renderNothing(report: NothingReport, style: Style): SafeText {
  const { title, why, hints } = sayNothing(report);
  return joinLines([
    safe`${style.heading(forTerminal(title))}${why === "" ? "" : safe` ${forTerminal(why)}`}`,
    ...hints.map((hint) => safe`${style.faint(safe`hint:`)} ${forTerminal(hint)}`),
  ]);
}
