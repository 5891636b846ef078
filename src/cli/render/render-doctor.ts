// What the doctor saw: a line a check, with what to do below those that are not well.
import type { DoctorCheck, DoctorReport } from "../../app/integrity/doctor.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";

/** Renders checks, each as `ok hooks: …`, `warning …` or `problem …`. */
export function renderDoctor({ checks }: DoctorReport, { style }: Rendering): SafeText {
  return joinLines(checks.flatMap((check) => renderCheck(check, style)));
}

function renderCheck(check: DoctorCheck, style: Style): readonly SafeText[] {
  const { name, state, message, hint, fixed } = check;
  const paint = state === "ok" ? style.good : state === "warning" ? style.caution : style.bad;
  const word = fixed === true ? "fixed" : state;
  const line = safe`${paint(forTerminal(word.padEnd(7)))} ${style.heading(forTerminalLine(name))}: ${forTerminalLine(message)}`;
  return hint === undefined ? [line] : [line, style.faint(safe`        ${forTerminalLine(hint)}`)];
}
