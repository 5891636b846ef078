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
import { forTerminal, forTerminalLine, linesOf, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, INTERRUPTED } from "../frame/command.ts";
import { untilStopped } from "../frame/interrupt.ts";
import { MARK_WIDTH, pickRow, type RowKey } from "../frame/pick-row.ts";
import { renderList } from "../render/conversations.ts";

type Row = OverviewRow & Partial<Pick<MachineRow, "project">>;

type Action = "resume" | "show" | "compact" | "undo" | "page" | "all projects" | "this project";

const ROW_KEYS: readonly RowKey<Action>[] = [
  { key: "r", action: "resume", ofRow: true },
  { key: "s", action: "show", ofRow: true },
  { key: "c", action: "compact", ofRow: true },
  { key: "u", action: "undo", ofRow: true },
  { key: "w", action: "page", ofRow: true },
];

const LOADERS: Readonly<Partial<Record<Action, () => Promise<{ readonly command: CommandSpec }>>>> = {
  resume: () => import("./resume.ts"),
  show: () => import("./show.ts"),
  compact: () => import("./compact.ts"),
  undo: () => import("./undo.ts"),
  page: () => import("./serve.ts"),
};

/**
 * Shows the list until something is chosen, and does it. Returns the exit code; null = there is nothing to list.
 * `startsWide`: with the whole machine.
 */
export async function runDailyScreen(context: CommandContext, startsWide: boolean): Promise<number | null> {
  let isMachine = startsWide;
  for (;;) {
    const rows = await readRows(context, isMachine);
    if (rows.length === 0 && isMachine === startsWide) return null;
    const picked = await pick(context, rows, isMachine);
    if (picked === null) return INTERRUPTED;
    if (picked === "left") return 0;
    if (picked.action === "all projects" || picked.action === "this project") isMachine = !isMachine;
    else return runOn(context, picked.row, picked.action);
  }
}

async function readRows(context: CommandContext, isMachine: boolean): Promise<readonly Row[]> {
  const { runtime, output } = context;
  if (!isMachine) return listProject(await context.open({ create: true }));
  const warn = (text: string): void => output.warn(forTerminal(text));
  return (await listMachine(runtime, { progress: output.counts, warn })).rows;
}

interface Picked {
  readonly action: Action;
  readonly row: Row;
}

/** `left` = the person left the list; null = a signal ended it. */
async function pick(
  { output, runtime }: CommandContext,
  rows: readonly Row[],
  isMachine: boolean,
): Promise<Picked | "left" | null> {
  const { style, width } = output;
  const table = renderList(rows, { style, width: width - MARK_WIDTH, now: runtime.now() });
  const [heading = "", ...lines] = linesOf(table);
  const other = isMachine ? "this project" : "all projects";
  const keys = [...ROW_KEYS, { key: "tab", action: other, ofRow: false } as const];
  const shown = lines.slice(0, rows.length);
  const texts = rows.map((row, at) => [shown[at], row.title, row.branch, row.session?.path, row.project].join(" "));
  const list = { heading, lines: shown, texts, keys, style, height: process.stdout.rows || 24 };
  return untilStopped(async (signal) => {
    const picked = await pickRow<Action>(list, signal);
    if (picked === null) return signal.aborted ? null : "left";
    const row = rows[picked.row ?? 0] ?? rows[0];
    return row === undefined ? "left" : { action: picked.action, row };
  });
}

/** Runs a command on the row's conversation, in its own project. */
async function runOn(given: CommandContext, row: Row, action: Action): Promise<number> {
  const load = LOADERS[action];
  if (load === undefined) return 0;
  const { command } = await load();
  const opened: Workspace[] = [];
  const context = row.project === undefined ? withoutAll(given) : inPlace(given, row.project, opened);
  try {
    const branch = row.session === undefined ? row.branch : await importRow(context, row.session.path);
    const words = command.arguments === undefined ? [] : [branch];
    const { info, errorStyle } = given.output;
    info(errorStyle.faint(safe`$ jpg ${forTerminalLine([command.name, ...words].join(" "))}`));
    return (await command.run({ ...context, args: words })) ?? 0;
  } finally {
    for (const workspace of opened) await workspace.close();
  }
}

function withoutAll(context: CommandContext): CommandContext {
  return { ...context, options: { ...context.options, all: undefined } };
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
