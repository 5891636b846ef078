// Keeps a store up to date with agents' sessions: imports what grew, then compacts what grew too large if the settings say so.
// Sessions are only read. An error in one does not stop the others.
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { type AutoSituation, autoCompact } from "../compact/auto.ts";
import type { CompactReport } from "../compact/compact-report.ts";
import { loadTip } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { agentSessionFolders, watchFolders } from "../sessions/kept-files.ts";
import { resumingAgents } from "../sessions/session-registry.ts";
import { type ImportOutcome, importSessions } from "./import.ts";
import type { ImportRequest } from "./import-request.ts";

/** Which sessions: files or folders; none = those that agents on this machine keep for this project. */
export type SyncRequest = Pick<ImportRequest, "format" | "paths" | "kept">;

/** Receives messages, one line each; not safe for a terminal yet. */
export interface SyncObserver {
  notice(text: string): void;
  warn(text: string): void;
}

export interface SyncReport extends ImportOutcome {
  readonly compactions: readonly CompactReport[];
}

/** Who gets messages, what ends a pass, and whether to compact what becomes too large without a setting. */
interface SyncWith {
  readonly observer: SyncObserver;
  readonly signal?: AbortSignal;
  readonly guard?: GuardState;
}

/** Makes one pass. Throws as an import does when nothing could be imported, and errors of the store. */
export async function syncSessions(
  workspace: Workspace,
  request: SyncRequest,
  { observer, signal, guard }: SyncWith,
): Promise<SyncReport> {
  const { sessions, failed } = await importEach(workspace, request);
  const compactions: CompactReport[] = [];
  // Nobody continues the session of a sub-agent, so it need not shrink.
  const grown = sessions.filter(({ status, agent_of }) => status !== "unchanged" && agent_of === undefined);
  for (const branch of new Set(grown.map((session) => session.branch))) {
    if (signal?.aborted === true) break;
    const situation: AutoSituation = {
      model: null,
      window: null,
      place: "between_turns",
      notice: (text) => observer.notice(`${branch}: ${text}`),
      warn: (text) => observer.warn(`${branch}: ${text}`),
      signal,
    };
    const report = await (guard === undefined
      ? autoCompact(workspace, branch, situation)
      : guardBranch(workspace, branch, { ...situation, state: guard }));
    if (report !== null) compactions.push(report);
  }
  return { sessions, failed, compactions };
}

/** Imports path by path: an error in a named file ends its import, but not the others'. */
async function importEach(workspace: Workspace, { paths, ...request }: SyncRequest): Promise<ImportOutcome> {
  const all = { ...request, allBranches: false, keepActive: true };
  if (paths.length <= 1) return importSessions(workspace, { ...all, paths });
  const sessions: ImportOutcome["sessions"][number][] = [];
  const failed: ImportOutcome["failed"][number][] = [];
  for (const path of paths) {
    try {
      const outcome = await importSessions(workspace, { ...all, paths: [path] });
      appendAll(sessions, outcome.sessions);
      appendAll(failed, outcome.failed);
    } catch (error) {
      if (!(error instanceof JpgError) || error.kind !== "user") throw error;
      failed.push({ path, error, named: true });
    }
  }
  const [first] = failed;
  if (sessions.length === 0 && first !== undefined) throw first.error;
  return { sessions, failed };
}

/** How long to keep syncing, and who gets the reports. */
interface KeepSyncing {
  /** Longest time between two full passes, milliseconds; null = as rarely as their duration requires. */
  readonly everyMs: number | null;
  /** Ends it after the current pass; a summary in progress is abandoned. */
  readonly signal: AbortSignal;
  readonly observer: SyncObserver;
  readonly guard?: GuardState;
  /** Called after each pass. */
  report(pass: SyncReport): void;
}

/**
 * Makes a pass whenever sessions change, until the signal ends it. Each opens the workspace anew, to see changes of settings and of
 * the store. Throws as the first pass does, because that shows what was mistyped; errors of later passes are reported, and the next
 * one tries again.
 */
export async function keepSyncing(
  open: () => Promise<Workspace>,
  request: SyncRequest,
  { everyMs, report, ...how }: KeepSyncing,
): Promise<void> {
  const { signal, observer } = how;
  const watch = watchFolders(signal);
  let changed: ReadonlySet<string> | null = null;
  let restMs = MIN_REST_MS;
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const files: ReadonlySet<string> | null = changed;
      try {
        await inWorkspace(open, async (workspace) => {
          const began = workspace.runtime.now().getTime();
          // Before anything is read, so that the next pass sees what changes meanwhile.
          if (files === null) watch.follow(await foldersOf(workspace, request));
          report(await syncSessions(workspace, narrowed(workspace, request, files), how));
          if (files === null) restMs = restAfter(workspace.runtime.now().getTime() - began);
        });
      } catch (error) {
        const reason = passingTrouble(error, isFirst);
        if (reason !== null) observer.warn(reason);
      }
      if (!signal.aborted) changed = await watch.changed(everyMs ?? restMs);
    }
  } finally {
    watch.close();
  }
}

const MIN_REST_MS = 30_000;
const MAX_REST_MS = 3_600_000;
/** Full passes take at most one part in so many of the time. */
const FULL_PASS_FRACTION = 100;

/** Milliseconds without a change before the next full pass. A duration may be wrong if the clock was set meanwhile. */
function restAfter(wholeMs: number): number {
  return Math.min(Math.max(wholeMs * FULL_PASS_FRACTION, MIN_REST_MS), MAX_REST_MS);
}

/** The request limited to some files; null = all of it. */
function narrowed({ runtime }: Workspace, request: SyncRequest, files: ReadonlySet<string> | null): SyncRequest {
  if (files === null) return request;
  if (request.paths.length === 0) return { ...request, kept: { ...request.kept, only: files } };
  const named = request.paths.filter((path) => files.has(resolve(runtime.cwd, path)));
  return named.length === files.size ? { ...request, paths: named } : request;
}

/** The message for an error that may pass; null = none. Throws bugs, and in the first pass what was mistyped. */
function passingTrouble(error: unknown, isFirst: boolean): string | null {
  if (!(error instanceof JpgError) || error.kind === "internal") throw error;
  // The agent may be used here later.
  if (error.code === "no_sessions") return null;
  if (isFirst) throw error;
  return error.message;
}

async function inWorkspace<Value>(
  open: () => Promise<Workspace>,
  use: (workspace: Workspace) => Promise<Value>,
): Promise<Value> {
  const workspace = await open();
  try {
    return await use(workspace);
  } finally {
    await workspace.close();
  }
}

/** The folders to watch for sessions: for a named file its folder, because the file may be replaced. */
async function foldersOf(workspace: Workspace, { paths }: SyncRequest): Promise<readonly string[]> {
  const { runtime } = workspace;
  if (paths.length === 0) return agentSessionFolders(workspace);
  const named = paths.map((path) => resolve(runtime.cwd, path));
  return Promise.all(named.map(async (path) => ((await isFolder(path)) ? path : dirname(path))));
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

// The guard of `jpg sync --compact`: compacts a session that comes near its model's window, without a model, and tells the user
// once how to continue with the smaller one. If a pass gains little, it skips the session from then on.

/** The branches that a guard has reported and given up, while it runs. */
export interface GuardState {
  readonly ready: Set<string>;
  readonly stopped: Set<string>;
}

/** A pass that removes less than this share of the context costs more than it saves. */
const MIN_FREED_SHARE = 0.1;

export function createGuard(): GuardState {
  return { ready: new Set(), stopped: new Set() };
}

/** Compacts a branch that grew too large; null when nothing was done. Throws only bugs. */
export async function guardBranch(
  workspace: Workspace,
  branch: string,
  { state, ...situation }: Omit<AutoSituation, "guard"> & { readonly state: GuardState },
): Promise<CompactReport | null> {
  if (state.stopped.has(branch)) return null;
  let freed: number | null = null;
  const guard = (share: number): void => {
    freed = share;
  };
  const report = await autoCompact(workspace, branch, { ...situation, guard });
  if (report !== null && !state.ready.has(branch)) {
    state.ready.add(branch);
    const command = await resumeCommand(workspace, branch);
    if (command !== null) situation.notice(`\`${command}\` continues there`);
  }
  if (freed !== null && freed < MIN_FREED_SHARE) {
    state.stopped.add(branch);
    const id = conversationOf(branch);
    const percent = Math.round(freed * 100);
    situation.warn(
      `compacting it removed only ${percent} % of the context, so it is not tried again; \`jpg compact ${id} --profile heavy\` replaces old turns with a summary`,
    );
  }
  return report;
}

/** The command to resume in the agent of the session, if it can. */
async function resumeCommand({ store }: Workspace, branch: string): Promise<string | null> {
  const format = (await loadTip(store, branch))?.header.source?.format;
  const agents = resumingAgents().map(({ name }) => name);
  const agent = agents.find((name) => name === format) ?? agents[0];
  return agent === undefined ? null : `jpg resume ${branch} --with ${agent}`;
}
