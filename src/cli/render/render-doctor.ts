// What the doctor saw: a line a check, with what to do below those that are not well.
import type { DoctorCheck, DoctorReport } from "../../app/integrity/doctor.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";

/** Renders checks, each as `ok hooks: …`, `warning …` or `problem …`. */
export function renderDoctor({ checks }: DoctorReport, { style }: Rendering): string {
  return checks.flatMap((check) => renderCheck(check, style)).join("\n");
}

function renderCheck(check: DoctorCheck, style: Style): readonly string[] {
  const { name, state, message, hint, fixed } = check;
  const paint = state === "ok" ? style.good : state === "warning" ? style.caution : style.bad;
  const word = fixed === true ? "fixed" : state;
  const line = `${paint(word.padEnd(7))} ${style.heading(name)}: ${forTerminalLine(message)}`;
  return hint === undefined ? [line] : [line, style.faint(`        ${forTerminalLine(hint)}`)];
}
