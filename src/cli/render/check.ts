// What `jpg check`, `doctor` and `fsck` print: a line for each finding, then a summary.
import type { CheckedList, CheckReport, CheckViolation } from "../../app/integrity/check.ts";
import type { LawResult, PluginCheck } from "../../app/integrity/check-plugin.ts";
import { agentsWithSentLog, type SentReport } from "../../app/integrity/check-sent.ts";
import type { DoctorCheck, DoctorReport } from "../../app/integrity/doctor.ts";
import type { FsckFinding, FsckReport } from "../../app/integrity/fsck.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/terminal.ts";
import { renderCount, renderSeverities } from "./quantity.ts";

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

/** The laws of format plug-ins, as printed. */
const LAWS: Readonly<Record<LawResult["law"], SafeText>> = {
  reads: safe`it reads the session`,
  same: safe`the same bytes give the same lines`,
  grows: safe`a longer file only adds events`,
  writes: safe`the same lines give the same session`,
  returns: safe`what it writes reads as what it was given`,
  imports: safe`an import is known again`,
  refuses: safe`what is no session is refused`,
};

/** Renders the laws of a format plug-in, each in a line with what was seen below it. */
export function renderPluginCheck({ laws, format, program, file }: PluginCheck, { style }: Rendering): SafeText {
  const lines = laws.flatMap(({ law, ok, detail }) => {
    const mark = ok === null ? style.faint(safe`not checked`) : ok ? style.good(safe`ok`) : style.bad(safe`broken`);
    return [safe`${mark}  ${LAWS[law]}`, style.faint(safe`    ${forTerminalLine(detail)}`)];
  });
  const failed = laws.filter(({ ok }) => ok === false).length;
  const on = file === null ? safe`a session that it wrote itself` : forTerminalLine(file);
  const total =
    failed === 0 ? style.good(safe`no law is broken`) : style.bad(safe`${renderCount(failed, "law")} broken`);
  return joinLines([...lines, safe`${total} by ${forTerminalLine(format)} (${forTerminalLine(program)}), on ${on}`]);
}

const END_HINT = safe`If a request will be added, use --history: it does not check how the messages end.`;

const IMAGE_RULES: ReadonlySet<string> = new Set(["A24", "C10", "R11", "G13"]);

/** How to remove images; those of a file, after importing it. */
const IMAGE_HINTS: Readonly<Record<CheckReport["kind"], SafeText>> = {
  view: safe`To take images out of the view, type \`jpg compact -s strip-images --keep 0\`.`,
  session: safe`To go on without images, type \`jpg import FILE\`, then \`jpg compact -s strip-images --keep 0\`, then \`jpg resume\`.`,
  request: safe`Take the image out of the request, or replace it by one that fits.`,
};

/** Whether a finding is about the last message, which is fine if a request is to follow. */
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

/**
 * Renders the requests that are not equal, each as `differs request 7 of 19 (line 231): message 12: …`, and a last line with their
 * number. Messages are counted from 0.
 */
export function renderSent(report: SentReport, { style }: Rendering): SafeText {
  const { source, requests, compared, equal, differs, unreadable } = report;
  const from = safe`in ${forTerminalLine(source)}`;
  if (requests === 0)
    return safe`No requests ${from}: nothing to compare. ${forTerminal(agentsWithSentLog().join(", "))} records what it sent in newer versions.`;
  const several = new Set(compared.map(({ session }) => session)).size > 1;
  const lines = compared
    .filter(({ result }) => result !== "equal")
    .map((one) => {
      const mark = one.result === "differs" ? style.bad(safe`differs`) : style.caution(safe`unreadable`);
      const session = several ? safe` of ${forTerminalLine(one.session)}` : "";
      const message = one.message === undefined ? "" : safe`message ${one.message}: `;
      return safe`${mark} request ${one.request}${session} (line ${one.line}): ${message}${forTerminalLine(one.difference ?? "")}`;
    });
  const left = requests - compared.length;
  const counts = joinSafe(
    [
      safe`${equal} equal`,
      ...(differs === 0 ? [] : [safe`${differs} ${forTerminal(differs === 1 ? "differs" : "differ")}`]),
      ...(unreadable === 0 ? [] : [safe`${unreadable} unreadable`]),
      ...(left === 0 ? [] : [safe`${left} older not compared`]),
    ],
    ", ",
  );
  return joinLines([
    ...lines,
    safe`${style[report.ok ? "good" : "bad"](safe`${renderCount(requests, "request")}: ${counts}`)} ${from}`,
  ]);
}

/** Renders checks, each as `ok hooks: …`, `warning …` or `problem …`. */
export function renderDoctor({ checks }: DoctorReport, { style }: Rendering): SafeText {
  return joinLines(checks.flatMap((check) => renderDoctorCheck(check, style)));
}

function renderDoctorCheck(check: DoctorCheck, style: Style): readonly SafeText[] {
  const { name, state, message, hint, fixed } = check;
  const paint = state === "ok" ? style.good : state === "warning" ? style.caution : style.bad;
  const word = fixed === true ? "fixed" : state;
  const line = safe`${paint(forTerminal(word.padEnd(7)))} ${style.heading(forTerminalLine(name))}: ${forTerminalLine(message)}`;
  return hint === undefined ? [line] : [line, style.faint(safe`        ${forTerminalLine(hint)}`)];
}

/** Renders findings, each as `E turn_missing BRANCH PATH: …` with its hint below, and a last line with their number. */
export function renderFsck(report: FsckReport, { style }: Rendering): SafeText {
  const lines = report.findings.flatMap((finding) => {
    const mark = finding.severity === "error" ? style.bad(safe`E`) : style.caution(safe`W`);
    return [
      safe`${mark} ${style.heading(forTerminalLine(finding.code))}${placeOfFinding(finding)}: ${forTerminalLine(finding.message)}`,
      style.faint(safe`  ${forTerminalLine(finding.hint)}`),
    ];
  });
  const where = safe`${renderCount(report.branches, "branch", "branches")}, ${renderCount(report.turns, "turn")}`;
  return joinLines([...lines, safe`${style[report.ok ? "good" : "bad"](totalOfFindings(report))} in ${where}`]);
}

function placeOfFinding({ branch, path, line }: FsckFinding): SafeText {
  const place = [...(branch === null ? [] : [branch]), ...(path === undefined ? [] : [path])].join(" ");
  return place === "" ? "" : safe` ${forTerminalLine(place)}${line === undefined ? "" : safe`:${line}`}`;
}

function totalOfFindings({ findings }: FsckReport): SafeText {
  return findings.length === 0 ? safe`nothing wrong` : renderSeverities(findings);
}
