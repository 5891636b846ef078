// What a check found: a line a violation, then what was checked.
import type { CheckedList, CheckReport, CheckViolation } from "../../app/integrity/check.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderCount, renderSeverities } from "./render-quantity.ts";

const KINDS = { view: "view of", session: "session", request: "request" } as const;

/** Renders violations, each as `E A1 message 12, block 3: …`, and a last line with their number. Positions are 0-based. */
export function renderCheck(report: CheckReport, { style }: Rendering): SafeText {
  const several = report.checked.length > 1;
  const lines = report.violations.map((violation) => {
    const isError = violation.severity === "error";
    const mark = isError ? style.bad(safe`E`) : style.caution(safe`W`);
    const provider = several ? safe`${forTerminalLine(violation.provider)} ` : "";
    return safe`${mark} ${provider}${style.heading(forTerminalLine(violation.rule))} ${placeOf(violation)}: ${forTerminalLine(violation.message)}`;
  });
  const what = safe`${KINDS[report.kind]} ${forTerminalLine(report.source)}`;
  const lists = joinSafe(report.checked.map(describe), "; ");
  const hint = [
    ...(judgesEnd(report) ? [style.faint(END_HINT)] : []),
    ...(report.violations.some(({ rule }) => IMAGE_RULES.has(rule)) ? [style.faint(IMAGE_HINTS[report.kind])] : []),
  ];
  return joinLines([
    ...lines,
    ...hint,
    safe`${style[report.ok ? "good" : "bad"](total(report))} in ${what} (${lists})`,
  ]);
}

const END_HINT = safe`If a request will be added, use --history: it does not check how the messages end.`;

const IMAGE_RULES: ReadonlySet<string> = new Set(["A24", "C10", "R11", "G13"]);

/** How images are taken out: those of a file by importing it first. */
const IMAGE_HINTS: Readonly<Record<CheckReport["kind"], SafeText>> = {
  view: safe`To take images out of the view, type \`jpg compact -s strip-attachments --keep 0\`.`,
  session: safe`To go on without images, type \`jpg import FILE\`, then \`jpg compact -s strip-attachments --keep 0\`, then \`jpg resume\`.`,
  request: safe`Take the image out of the request, or replace it by one that fits.`,
};

/** Whether a last message is found wrong: a list that was written to be continued ends so. */
function judgesEnd({ kind, checked, violations }: CheckReport): boolean {
  if (kind !== "request") return false;
  const last = new Map<string, number>(checked.map(({ provider, messages }) => [provider, messages - 1]));
  return violations.some(
    ({ provider, position, message }) => position.message === last.get(provider) && message.startsWith("The last "),
  );
}

function placeOf({ position, event }: CheckViolation): SafeText {
  const block = position.block === undefined ? "" : safe`, block ${position.block}`;
  return safe`message ${position.message}${block}${event === undefined ? "" : safe` (event ${forTerminalLine(event)})`}`;
}

function describe({ provider, model, messages }: CheckedList): SafeText {
  const of = model === undefined ? "" : safe` for ${forTerminalLine(model)}`;
  return safe`${forTerminalLine(provider)}${of}: ${renderCount(messages, "message")}`;
}

function total({ violations }: CheckReport): SafeText {
  return violations.length === 0 ? safe`no violations` : renderSeverities(violations);
}
