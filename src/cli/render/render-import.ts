// `jpg import`: what became of each session, the lines that were no events, and totals.
import type { ImportReport } from "../../app/import/import-report.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering, Style } from "../frame/style.ts";
import { type Cell, type Column, renderTable } from "../frame/table.ts";
import { groupDigits, renderBytes, renderCount } from "./render-quantity.ts";

/** How an import is shown. */
export interface ImportRendering extends Rendering {
  /** Name all skipped lines, however many, and the conversations of sub-agents. */
  readonly verbose?: boolean;
  /** Name the first skipped lines; paths in this directory, absolute, are shown as seen from there. */
  readonly namesIn?: string;
}

const HEADER = ["STATUS", "CONVERSATION", "BRANCH", "TURNS", "EVENTS", "COMPACTIONS", "SKIPPED"];
const COLUMNS: readonly Column[] = [
  {},
  { shrinkTo: 16 },
  { shrinkTo: 8 },
  { align: "right" },
  { align: "right" },
  { align: "right" },
  { align: "right" },
];

/** Renders why a file was not imported, on one line. */
export function renderFailure({ path, error }: { readonly path: string; readonly error: Error }): SafeText {
  return error.message.includes(path) ? forTerminal(error.message) : forTerminal(`${path}: ${error.message}`);
}

/** Renders the outcome of an import: a row per session, totals last. */
export function renderImport(reports: readonly ImportReport[], rendering: ImportRendering): SafeText {
  if (reports.length === 0) return safe`No sessions imported.`;
  const { style, width, verbose } = rendering;
  const own = reports.filter(({ agent_of }) => agent_of === undefined);
  const shown = own.length === 0 || verbose === true ? reports : own;
  const header = HEADER.map((text) => ({ text, paint: style.faint }));
  const table = renderTable([header, ...shown.map((report) => cells(report, style))], { columns: COLUMNS, width });
  const lines = [...skippedLines(reports, rendering), ...reports.flatMap(sideFiles)];
  return joinLines([...table, ...lines, totals(shown), ...leftAgents(reports, shown), ...newerAgents(reports)]);
}

function cells(report: ImportReport, style: Style): Cell[] {
  const paint = report.status === "unchanged" ? style.faint : report.status === "forked" ? style.caution : style.good;
  const grown = report.status === "updated" && report.turns_added !== undefined ? ` (+${report.turns_added})` : "";
  return [
    { text: report.status, paint },
    { text: report.id, paint: style.id },
    report.branch.startsWith(`${report.id}/`) ? report.branch.slice(report.id.length + 1) : report.branch,
    groupDigits(report.turns) + grown,
    groupDigits(report.events),
    report.compactions === 0 ? "-" : groupDigits(report.compactions),
    report.skipped_lines === 0 ? "-" : { text: groupDigits(report.skipped_lines), paint: style.caution },
  ];
}

function skippedLines(reports: readonly ImportReport[], { style, verbose, namesIn }: ImportRendering): SafeText[] {
  if (verbose !== true && namesIn === undefined) return [];
  const named = reports.flatMap(({ id, source = id, skipped = [], skipped_lines }) => {
    const isBelow = namesIn !== undefined && source.startsWith(`${namesIn}/`);
    const path = forTerminalLine(isBelow ? source.slice(namesIn.length + 1) : source);
    const lines = skipped.map(({ line, reason }) => safe`${path}:${line}: ${forTerminalLine(reason)}`);
    const rest = skipped_lines - skipped.length;
    if (rest > 0 && skipped.length > 0) lines.push(safe`${path}: ${groupDigits(rest)} more`);
    return lines.map((line) => safe`${style.caution(safe`skipped:`)} ${line}`);
  });
  if (verbose === true || named.length <= NAMED_SHOWN) return named;
  const others = groupDigits(named.length - NAMED_SHOWN);
  return [...named.slice(0, NAMED_SHOWN), safe`${style.caution(safe`skipped:`)} ${others} more (--json lists them)`];
}

/** How many skipped lines are named without `-v`. */
const NAMED_SHOWN = 10;

/** How many names of what was left are shown. */
const LEFT_SHOWN = 5;

/** What was taken from beside a session, and what stands there that is not the agent's. */
function sideFiles({ source, side_files }: ImportReport): SafeText[] {
  if (side_files === undefined || source === undefined) return [];
  const { files, bytes, left } = side_files;
  const names = left.slice(0, LEFT_SHOWN).map(forTerminalLine);
  const more = left.length > names.length ? safe` and ${left.length - names.length} more` : "";
  const stored = files === 0 ? [] : [safe`stored ${renderCount(files, "file")} of the agent (${renderBytes(bytes)})`];
  const others = left.length === 0 ? [] : [safe`left ${joinSafe(names, ", ")}${more}: not written by the agent`];
  // A folder is called as its session's file.
  const place = source.endsWith(".jsonl") ? `${source.slice(0, -".jsonl".length)}/` : source;
  return [safe`${forTerminalLine(place)}: ${joinSafe([...stored, ...others], "; ")}.`];
}

/** What became of the conversations of sub-agents that have no row. */
function leftAgents(reports: readonly ImportReport[], shown: readonly ImportReport[]): SafeText[] {
  const agents = reports.filter((report) => !shown.includes(report));
  if (agents.length === 0) return [];
  return [safe`${renderCount(agents.length, "sub-agent")} of these: ${outcomes(agents)}; \`jpg ls --all\` lists them.`];
}

/** Sessions of versions of agents that jpg does not know: what is new in them may have been left out. */
function newerAgents(reports: readonly ImportReport[]): SafeText[] {
  const newer = new Map(
    reports.flatMap(({ newer_agent: found }) => (found === undefined ? [] : [[found.agent, found]])),
  );
  return [...newer.values()].map(({ agent, version, tried }) => {
    const [name, own, known] = [agent, version, tried].map(forTerminalLine) as [SafeText, SafeText, SafeText];
    return safe`${name} ${own} is newer than the versions jpg was tested with (${known}): lines that jpg does not know are kept with the source.`;
  });
}

const STATUSES = ["created", "updated", "forked", "unchanged"] as const;

/** A file that was named twice is one session; several sessions of one conversation have its turns once. */
function totals(reports: readonly ImportReport[]): SafeText {
  const sessions = reports.filter(({ source }, index) => {
    return source === undefined || reports.findIndex((report) => report.source === source) === index;
  });
  const branches = new Map(reports.map(({ branch, turns }) => [branch, turns]));
  const turns = [...branches.values()].reduce((sum, count) => sum + count, 0);
  const skipped = sessions.reduce((sum, report) => sum + report.skipped_lines, 0);
  const kept =
    skipped === 0
      ? ""
      : safe` ${renderCount(skipped, "line")} ${skipped === 1 ? "is not an event" : "are not events"}; kept with the source.`;
  return safe`${renderCount(sessions.length, "session")}: ${outcomes(sessions)}; ${renderCount(turns, "turn")}.${kept}`;
}

function outcomes(sessions: readonly ImportReport[]): SafeText {
  const counts = STATUSES.map(
    (status) => [status, sessions.filter((report) => report.status === status).length] as const,
  );
  const named = counts.filter(([, count]) => count > 0).map(([status, count]) => safe`${count} ${status}`);
  return joinSafe(named, ", ");
}
