// `jpg` alone on a terminal: this project's conversations and the sessions that are not imported, newest first, with one key for what
// people do each day. A session is imported when something is to be done with it.

import type { Workspace } from "../../app/conversation/workspace.ts";
import { importSessions } from "../../app/import/import.ts";
import {
  listMachine,
  listProject,
  type MachineRow,
  type OverviewRow,
  openPlace,
  runtimeAt,
} from "../../app/overview/machine.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { forTerminal, linesOf } from "../../core/safe-text.ts";
import { type CommandContext, INTERRUPTED } from "../frame/command.ts";
import { untilStopped } from "../frame/interrupt.ts";
import { MARK_WIDTH, pickRow, type RowKey } from "../frame/pick-row.ts";
import { activeNote, listNotes, renderList } from "../render/conversations.ts";
import { type RowAction, runRowAction } from "./daily-actions.ts";

type Row = OverviewRow & Partial<Pick<MachineRow, "project">>;

type Action = RowAction | "machine" | "project";

const ROW_KEYS: readonly RowKey<Action>[] = [
  { key: "r", action: "resume", ofRow: true },
  { key: "s", action: "show", ofRow: true },
  { key: "c", action: "compact", ofRow: true },
  { key: "d", action: "diff", ofRow: true },
  { key: "u", action: "undo", ofRow: true },
  { key: "w", action: "page", ofRow: true },
];

/** Where the person is in the list. */
interface At {
  /** Whether it is the whole machine's. */
  readonly isMachine: boolean;
  /** Null = the first one. */
  readonly row: Row | null;
  readonly filter: string;
}

/**
 * Shows the list, and after what is done with a row again, until the person leaves it. Returns the exit code; null = there is nothing
 * to list. `startsWide`: with the whole machine.
 */
export async function runDailyScreen(context: CommandContext, startsWide: boolean): Promise<number | null> {
  let at: At = { isMachine: startsWide, row: null, filter: "" };
  for (;;) {
    const rows = await readRows(context, at.isMachine);
    if (rows.length === 0 && at.isMachine === startsWide) return null;
    const picked = await pick(context, rows, at);
    if (picked === null) return INTERRUPTED;
    if (picked === "left") return 0;
    const next = await doPicked(context, at, picked);
    if (typeof next === "number") return next;
    at = next;
  }
}

/** Returns the exit code if the list has ended with it, else where the person is then. */
async function doPicked(context: CommandContext, at: At, { action, row, filter }: Picked): Promise<At | number> {
  if (action === "machine" || action === "project") return { isMachine: !at.isMachine, row: null, filter: "" };
  if (row === null) return at;
  const { code, id } = await runOn(context, row, action);
  return code ?? { ...at, row: { ...row, id }, filter };
}

async function readRows(context: CommandContext, isMachine: boolean): Promise<readonly Row[]> {
  const { runtime, output } = context;
  if (!isMachine) {
    const workspace = await context.open({ create: true });
    try {
      return await listProject(workspace);
    } finally {
      await workspace.close();
    }
  }
  const warn = (text: string): void => output.warn(forTerminal(text));
  return (await listMachine(runtime, { progress: output.counts, warn })).rows;
}

interface Picked {
  readonly action: Action;
  readonly row: Row | null;
  readonly filter: string;
}

/** `left` = the person left the list; null = a signal ended it. */
async function pick(
  { output, runtime }: CommandContext,
  rows: readonly Row[],
  { isMachine, row: chosen, filter }: At,
): Promise<Picked | "left" | null> {
  const { style, width } = output;
  const table = renderList(rows, { style, width: width - MARK_WIDTH, now: runtime.now() });
  const [heading = "", ...lines] = linesOf(table);
  const keys = [...ROW_KEYS, { key: "tab", action: isMachine ? "project" : "machine", ofRow: false } as const];
  const shown = lines.slice(0, rows.length);
  const texts = rows.map((row, at) => [shown[at], row.title, row.branch, row.session?.path, row.project].join(" "));
  const notes = [...activeNote(rows), ...listNotes(rows, style)];
  const start = { row: rows.findIndex((row) => chosen !== null && isSame(row, chosen)), filter };
  const list = { heading, lines: shown, texts, keys, style, height: process.stdout.rows || 24, notes, start };
  return untilStopped(async (signal) => {
    const picked = await pickRow<Action>(list, signal);
    if (picked === null) return signal.aborted ? null : "left";
    return { action: picked.action, row: rows[picked.row ?? -1] ?? null, filter: picked.filter };
  });
}

/** Whether it is the row of the same conversation, which a session becomes when it is imported. */
function isSame(row: Row, chosen: Row): boolean {
  if (row.project !== chosen.project) return false;
  return row.id === "" ? row.session?.path === chosen.session?.path : row.id === chosen.id;
}

/** What came of it: an exit code if the list ended with it, and the conversation's id. */
interface Done {
  readonly code: number | null;
  readonly id: string;
}

/** Runs a command on the row's conversation, in its own project. */
async function runOn(given: CommandContext, row: Row, action: RowAction): Promise<Done> {
  const opened: Workspace[] = [];
  const context = row.project === undefined ? inThis(given, opened) : inPlace(given, row.project, opened);
  try {
    const branch = row.session === undefined ? row.branch : await importRow(context, row.session.path);
    return { code: await runRowAction(context, action, branch), id: conversationOf(branch) };
  } finally {
    for (const workspace of opened) await workspace.close();
  }
}

/** The context as it is, without the options of the list. */
function inThis(context: CommandContext, opened: Workspace[]): CommandContext {
  const open: CommandContext["open"] = async (how) => {
    const workspace = await context.open(how);
    opened.push(workspace);
    return workspace;
  };
  const { all: _, screen: __, ...options } = context.options;
  return { ...context, options, open };
}

/** The context as in a project's folder; null = in none. */
function inPlace(context: CommandContext, project: string | null, opened: Workspace[]): CommandContext {
  const runtime = runtimeAt(context.runtime, project ?? context.runtime.home);
  const open = async (): Promise<Workspace> => {
    const warn = (text: string): void => context.output.warn(forTerminal(text));
    const workspace = await openPlace(runtime, { directory: runtime.cwd }, { progress: context.output.counts, warn });
    opened.push(workspace);
    return workspace;
  };
  return { ...context, runtime, options: {}, open };
}

async function importRow(context: CommandContext, path: string): Promise<string> {
  const { sessions } = await importSessions(await context.open({ create: true }), {
    paths: [path],
    allBranches: false,
  });
  const [report] = sessions;
  if (report === undefined) throw new Error("an import of one session reports it");
  return report.branch;
}
