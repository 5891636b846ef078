// What `jpg import`, `import --list` and `sync` print, and their exit codes.

import type { ImportOutcome } from "../../app/import/import.ts";
import type { ImportReport, LeftTurns } from "../../app/import/import-report.ts";
import type { KeptRow } from "../../app/import/list-kept.ts";
import type { SyncReport } from "../../app/import/sync.ts";
import { shortNames } from "../../app/names/short-names.ts";
import { appendAll } from "../../core/lists.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, type Column, renderTable, renderTableText } from "../frame/table.ts";
import { fitMiddle, type Rendering, type Style } from "../frame/terminal.ts";
import { wrapProse } from "../frame/wrap.ts";
import { renderLostTurns } from "./damage.ts";
import { groupDigits, renderAge, renderBytes, renderCount, renderPath } from "./quantity.ts";

/** Errors about files that are no sessions; a folder may hold such files. */
const NO_TROUBLE: readonly string[] = ["not_a_session", "empty_session", "side_file_left_out", "unclear_project"];

/** Returns 2 if a named file was not imported, 1 if a found one was not or none was found, else 0. */
export function exitCodeAfterImport({ sessions, failed }: ImportOutcome): number {
  if (failed.some(({ named }) => named === true)) return 2;
  return sessions.length === 0 || failed.some(({ error }) => !NO_TROUBLE.includes(error.code)) ? 1 : 0;
}

interface ImportRendering extends Rendering {
  /** Name all skipped lines, however many, and the conversations of sub-agents. */
  readonly verbose?: boolean;
  /** Name the first skipped lines, with paths relative to this absolute directory. */
  readonly namesIn?: string;
}

/** A name is never cut: it is what the next command takes. */
const HEADER = ["STATUS", "TITLE", "TURNS", "EVENTS", "COMP", "SKIPPED", "ID"];
const COLUMNS: readonly Column[] = [
  {},
  { shrinkTo: 8 },
  { align: "right" },
  { align: "right" },
  { align: "right" },
  { align: "right" },
  {},
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
  // Many files are imported again and again: only what changed has a row, and the totals count the others.
  const rows = verbose === true || shown.length === 1 ? shown : shown.filter(({ status }) => status !== "unchanged");
  const header = HEADER.map((text) => ({ text, paint: style.faint }));
  const table =
    rows.length === 0
      ? []
      : renderTable([header, ...rows.map((report) => cells(report, shortNames(reports), style))], {
          columns: COLUMNS,
          width,
        });
  const nameOf = shortNames(reports);
  const lines = [
    ...skippedLines(reports, rendering),
    ...reports.flatMap(sideFileNotes),
    ...reports.flatMap(rewrittenFile),
    ...reports.flatMap((report) => unreachedTurns(report, nameOf)),
  ];
  const notes = [
    ...lines,
    totals(shown),
    ...sharedNotes(shown),
    ...turnsLeft(reports),
    ...subAgentsWithoutRow(reports, shown),
    ...newerAgentNotes(reports),
  ];
  return joinLines([...table, ...notes.flatMap((note) => wrapProse(note, width))]);
}

function cells(report: ImportReport, idOf: (row: ImportReport) => string, style: Style): Cell[] {
  const paint = report.status === "unchanged" ? style.faint : report.status === "forked" ? style.caution : style.good;
  const grown = report.status === "updated" && report.turns_added !== undefined ? ` (+${report.turns_added})` : "";
  return [
    { text: report.status, paint },
    report.title ?? report.id,
    groupDigits(report.turns) + grown,
    groupDigits(report.events),
    report.compactions === 0 ? "-" : groupDigits(report.compactions),
    report.skipped_lines === 0 ? "-" : { text: groupDigits(report.skipped_lines), paint: style.caution },
    { text: idOf(report), paint: style.id },
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

/** Most files named that were not stored. */
const LEFT_SHOWN = 5;

/** Says which files of a session's folder were stored, and which were left because the agent did not write them. */
function sideFileNotes({ source, side_files }: ImportReport): SafeText[] {
  if (side_files === undefined || source === undefined) return [];
  const { files, bytes, left } = side_files;
  const names = left.slice(0, LEFT_SHOWN).map(forTerminalLine);
  const more = left.length > names.length ? safe` and ${left.length - names.length} more` : "";
  const stored = files === 0 ? [] : [safe`stored ${renderCount(files, "file")} of the agent (${renderBytes(bytes)})`];
  const others = left.length === 0 ? [] : [safe`left ${joinSafe(names, ", ")}${more}: not written by the agent`];
  // The folder has the name of its session's file.
  const place = source.endsWith(".jsonl") ? `${source.slice(0, -".jsonl".length)}/` : source;
  return [safe`${forTerminalLine(place)}: ${joinSafe([...stored, ...others], "; ")}.`];
}

/** Says that a file lost what it held when it was imported, and where that is. */
function rewrittenFile({ source, branch, file_state, status }: ImportReport): SafeText[] {
  if (file_state === undefined) return [];
  const [name, place] = [forTerminalLine(source ?? branch), forTerminalLine(branch)];
  if (file_state === "shorter")
    return [safe`${name} is shorter than what was imported of this session before: the rest stays in ${place}.`];
  const former =
    status === "forked"
      ? safe`the conversation's other branches have it as it was`
      : safe`earlier commits of ${place} have it as it was`;
  return [safe`${name} was rewritten since it was imported: ${former}.`];
}

type NameOf = ReturnType<typeof shortNames>;

/** Says which turns the agent no longer reaches in its damaged file, and what hands them back. */
function unreachedTurns({ id, branch, unreached, agent_of: of }: ImportReport, nameOf: NameOf): SafeText[] {
  if (unreached === undefined || of !== undefined) return [];
  const { turns, compacted_turns: compacted = [] } = unreached;
  const [agent, whole] = [forTerminalLine(unreached.agent), forTerminalLine(id)];
  const name = forTerminalLine(nameOf({ id, branch }));
  const repair = safe`\`jpg resume ${name} --repair --all\``;
  const lost =
    turns.length === 0
      ? []
      : [
          safe`${agent} will not see ${renderLostTurns(turns)} of ${whole} on resume (broken chain); jpg has them: ${repair} hands them back.`,
        ];
  if (compacted.length === 0) return lost;
  return [
    ...lost,
    safe`${agent} has compacted ${renderLostTurns(compacted)} of ${whole}, and its file leads to them no more (broken chain); jpg has them: \`jpg undo --agent ${name}\`, then ${repair} hand them back.`,
  ];
}

/** Names the branches that an agent abandoned, by their first requests. */
function leftAt({ after_turn: after, turns, request }: LeftTurns): SafeText {
  const place = after < 0 ? safe`before turn 0` : safe`after turn ${after}`;
  const said = request === "" ? "" : safe`: "${forTerminalLine(request)}"`;
  return safe`  ${place}, ${renderCount(turns, "turn")}${said}`;
}

/** Says that turns are on no branch, which, and how to import them. */
function turnsLeft(reports: readonly ImportReport[]): SafeText[] {
  const count = reports.reduce((sum, { turns_left: left = 0 }) => sum + left, 0);
  if (count === 0) return [];
  const named = reports.length === 1 ? (reports[0]?.left_at ?? []).map(leftAt) : [];
  const where = count === 1 ? safe`is on a branch` : safe`are on branches`;
  return [
    safe`${renderCount(count, "turn")} ${where} that the agent abandoned: \`jpg import --all-branches\` imports ${count === 1 ? "it as a fork" : "them as forks"}.`,
    ...named,
  ];
}

/** Says what happened to conversations of sub-agents that have no row. */
function subAgentsWithoutRow(reports: readonly ImportReport[], shown: readonly ImportReport[]): SafeText[] {
  const agents = reports.filter((report) => !shown.includes(report));
  if (agents.length === 0) return [];
  return [
    safe`${renderCount(agents.length, "sub-agent")} of these: ${outcomes(agents)}; \`jpg ls --branches\` lists them.`,
  ];
}

/** Says which sessions are by newer agents than jpg was tested with: some of their lines may have been left out. */
function newerAgentNotes(reports: readonly ImportReport[]): SafeText[] {
  const newer = new Map(
    reports.flatMap(({ newer_agent: found }) => (found === undefined ? [] : [[found.agent, found]])),
  );
  return [...newer.values()].map(({ agent, version, tried }) => {
    const [name, own, known] = [agent, version, tried].map(forTerminalLine) as [SafeText, SafeText, SafeText];
    return safe`${name} ${own} is newer than the versions jpg was tested with (${known}): lines that jpg does not know are kept with the source.`;
  });
}

const STATUSES = ["created", "updated", "forked", "unchanged"] as const;

/** Counts a file named twice as one session, and the turns of a conversation once for all its sessions. */
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

/** Says which conversations several of the files belong to: there are fewer conversations than files. */
function sharedNotes(reports: readonly ImportReport[]): SafeText[] {
  const files = new Map<string, Set<string>>();
  for (const { id, source } of reports)
    if (source !== undefined) files.set(id, (files.get(id) ?? new Set()).add(source));
  const idOf = shortNames(reports);
  const shared = [...files].filter(([, sources]) => sources.size > 1);
  if (shared.length === 0) return [];
  const named = shared
    .slice(0, LEFT_SHOWN)
    .map(
      ([id, { size }]) => safe`${size} are of one conversation, ${forTerminalLine(idOf({ id, branch: `${id}/main` }))}`,
    );
  const more = shared.length > LEFT_SHOWN ? safe`, and so on` : "";
  const total = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return [safe`${renderCount(files.size, "conversation")} from ${total} files: ${joinSafe(named, ", ")}${more}.`];
}

function outcomes(sessions: readonly ImportReport[]): SafeText {
  const counts = STATUSES.map(
    (status) => [status, sessions.filter((report) => report.status === status).length] as const,
  );
  const named = counts.filter(([, count]) => count > 0).map(([status, count]) => safe`${count} ${status}`);
  return joinSafe(named, ", ");
}

/** Returns the JSON document of one pass: sessions as in `import`, compactions as in `compact`. */
export function syncDocument({ sessions, failed, compactions }: SyncReport): Readonly<Record<string, unknown>> {
  return {
    sessions,
    failed: failed.map(({ path, error: { kind, code, message, hints } }) => ({
      path,
      error: { kind, code, message, hints },
    })),
    compactions: compactions.map(({ compaction, dryRun: _, ...rest }) => ({
      compaction: compaction?.id ?? null,
      source: compaction?.source ?? null,
      profile: compaction?.profile ?? null,
      ...rest,
    })),
  };
}

// `jpg import --list`: what agents keep for this project, one session a line; and the same with numbers to pick by.

const KEPT_HEADER = ["AGENT", "AGE", "TURNS", "SIZE", "TITLE"];
const KEPT_COLUMNS: readonly Column[] = [{}, {}, { align: "right" }, { align: "right" }, { shrinkTo: 16 }];

interface KeptRendering extends Rendering {
  readonly now: Date;
}

/** Columns of the other columns with a short title, and of a file at least. */
const BESIDE_FILE = 48;
const LEAST_FILE = 24;

/** Renders sessions in the order given, the file of each last, of which its folder's middle is left out. */
export function renderKept(
  rows: readonly KeptRow[],
  { style, width, now, home }: KeptRendering & { readonly home: string },
): SafeText {
  if (rows.length === 0) return safe`No agent on this machine keeps any such sessions for this project.`;
  const cells = [...KEPT_HEADER, "FILE"].map((text): Cell => ({ text, paint: style.faint }));
  const room = Math.max(LEAST_FILE, width - BESIDE_FILE);
  for (const row of rows) appendAll(cells, [...cellsOf(row, style, now), fitMiddle(renderPath(row.path, home), room)]);
  return renderTableText(cells, { columns: [...KEPT_COLUMNS, {}], width });
}

/** Renders sessions in the order given, numbered from 1. */
export function renderPick(rows: readonly KeptRow[], { style, width, now }: KeptRendering): SafeText {
  const cells = ["#", ...KEPT_HEADER].map((text): Cell => ({ text, paint: style.faint }));
  for (const [at, row] of rows.entries()) appendAll(cells, [String(at + 1), ...cellsOf(row, style, now)]);
  return renderTableText(cells, { columns: [{ align: "right" }, ...KEPT_COLUMNS], width });
}

function cellsOf({ agent, updated_at, turns, bytes, title, problem, is_beginning }: KeptRow, style: Style, now: Date) {
  return [
    agent,
    renderAge(updated_at, now),
    turns === undefined ? "-" : `${turns}${is_beginning === true ? "+" : ""}`,
    renderBytes(bytes),
    problem === undefined ? (title ?? "") : { text: problem, paint: style.caution },
  ] satisfies Cell[];
}
