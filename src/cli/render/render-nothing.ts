// Nothing was compacted: why, and what to type.
import { type NothingReport, sayNothing } from "../../app/compact/compact-report.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Style, unpainted } from "../frame/style.ts";
import { wrapSpans } from "../markdown/spans.ts";

/** Renders it: a line, and one for each hint; wrapped at `width` columns where one is given, else the terminal breaks lines. */
export function renderNothing(report: NothingReport, style: Style, width: number = Number.POSITIVE_INFINITY): SafeText {
  const { title, why, hints } = sayNothing(report);
  const lines = [
    [
      { text: forTerminal(title), paint: style.heading },
      { text: forTerminal(why === "" ? "" : ` ${why}`), paint: unpainted },
    ],
    ...hints.map((hint) => [
      { text: safe`hint:`, paint: style.faint },
      { text: forTerminal(` ${hint}`), paint: unpainted },
    ]),
  ];
  return joinLines(lines.flatMap((spans) => wrapSpans(spans, width)));
}
