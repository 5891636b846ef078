// What a check found: a line a violation, then what was checked.
import type { CheckedList, CheckReport, CheckViolation } from "../../app/check/check-report.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";

const KINDS: Readonly<Record<CheckReport["kind"], string>> = {
  view: "view of",
  session: "session",
  request: "request",
};

/** Renders violations, each as `E A1 message 12, block 3: …`, and a last line with their number. Positions are 0-based. */
export function renderCheck(report: CheckReport, { style }: Rendering): string {
  const several = report.checked.length > 1;
  const lines = report.violations.map((violation) => {
    const isError = violation.severity === "error";
    const mark = isError ? style.bad("E") : style.caution("W");
    const provider = several ? `${violation.provider} ` : "";
    return `${mark} ${provider}${style.heading(violation.rule)} ${placeOf(violation)}: ${forTerminalLine(violation.message)}`;
  });
  const what = `${KINDS[report.kind]} ${forTerminalLine(report.source)}`;
  const lists = report.checked.map(describe).join("; ");
  const hint = judgesEnd(report) ? [style.faint(END_HINT)] : [];
  return [...lines, ...hint, `${style[report.ok ? "good" : "bad"](total(report))} in ${what} (${lists})`].join("\n");
}

const END_HINT = "A request will still be added? --history leaves the end of the list unjudged.";

/** Whether a last message is found wrong: a list that was written to be continued ends so. */
function judgesEnd({ kind, checked, violations }: CheckReport): boolean {
  if (kind !== "request") return false;
  const last = new Map<string, number>(checked.map(({ provider, messages }) => [provider, messages - 1]));
  return violations.some(
    ({ provider, position, message }) => position.message === last.get(provider) && message.startsWith("The last "),
  );
}

function placeOf({ position, event }: CheckViolation): string {
  const block = position.block === undefined ? "" : `, block ${position.block}`;
  return `message ${position.message}${block}${event === undefined ? "" : ` (event ${forTerminalLine(event)})`}`;
}

function describe({ provider, model, messages }: CheckedList): string {
  const of = model === undefined ? "" : ` for ${forTerminalLine(model)}`;
  return `${provider}${of}: ${messages} ${messages === 1 ? "message" : "messages"}`;
}

function total({ violations }: CheckReport): string {
  if (violations.length === 0) return "no violations";
  const errors = violations.filter(({ severity }) => severity === "error").length;
  const counts = [count(errors, "error"), count(violations.length - errors, "warning")];
  return counts.filter((text) => !text.startsWith("0 ")).join(", ");
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
