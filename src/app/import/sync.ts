// Keeps a store up with the sessions that agents write: imports what grew, then compacts what grew too large where the
// settings say so. Sessions are only read. What is wrong with one of them stops none of the others.
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

/** Told what happens, a line at a time; not safe for a terminal yet. */
export interface SyncObserver {
  notice(text: string): void;
  warn(text: string): void;
}

/** What one pass did. */
export interface SyncReport extends ImportOutcome {
  readonly compactions: readonly CompactReport[];
}

/** Who is told, what ends a pass, and whether what becomes too large is compacted without being switched on. */
interface SyncWith {
  readonly observer: SyncObserver;
  readonly signal?: AbortSignal;
  readonly guard?: GuardState;
}

/** Makes one pass. Throws what an import throws when nothing could be imported, and errors of the store. */
export async function syncSessions(
  workspace: Workspace,
  request: SyncRequest,
  { observer, signal, guard }: SyncWith,
): Promise<SyncReport> {
  const { sessions, failed } = await importEach(workspace, request);
  const compactions: CompactReport[] = [];
  // Nobody goes on with what a sub-agent did: there is nothing to shorten it for.
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

/** Imports path by path: a file that was named ends an import, and the others are not its concern. */
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

/** How long a sync goes on, and who is told. */
interface KeepSyncing {
  /** Longest time between two looks at everything, milliseconds; null = as seldom as they take long. */
  readonly everyMs: number | null;
  /** Ends it after the pass that it is in; a summary that is being written is given up. */
  readonly signal: AbortSignal;
  readonly observer: SyncObserver;
  readonly guard?: GuardState;
  /** Told of each pass. */
  report(pass: SyncReport): void;
}

/**
 * Makes a pass whenever sessions change, until the signal ends it. Each has a workspace of its own, so that settings and
 * whatever other programs do to the store are seen. Throws what the first pass throws, for that is what was mistyped; a
 * later one that fails is said, and the next one tries again.
 */
export async function keepSyncing(
  open: () => Promise<Workspace>,
  request: SyncRequest,
  { everyMs, report, ...how }: KeepSyncing,
): Promise<void> {
  const { signal, observer } = how;
  const watch = watchFolders(signal);
  let changed: ReadonlySet<string> | null = null;
  let restMs = LEAST_REST_MS;
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const files: ReadonlySet<string> | null = changed;
      try {
        await inWorkspace(open, async (workspace) => {
          const began = workspace.runtime.now().getTime();
          // Before anything is read: what changes meanwhile is seen by the next pass.
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

const LEAST_REST_MS = 30_000;
const MOST_REST_MS = 3_600_000;
/** Looking at everything again takes this share of the time at most, 1 in so many. */
const SELDOM = 100;

/** How long nothing has to happen before everything is looked at again. A clock that was set meanwhile says nothing. */
function restAfter(wholeMs: number): number {
  return Math.min(Math.max(wholeMs * SELDOM, LEAST_REST_MS), MOST_REST_MS);
}

/** What is asked for, as far as some files are concerned; null = all of it. */
function narrowed({ runtime }: Workspace, request: SyncRequest, files: ReadonlySet<string> | null): SyncRequest {
  if (files === null) return request;
  if (request.paths.length === 0) return { ...request, kept: { ...request.kept, only: files } };
  const named = request.paths.filter((path) => files.has(resolve(runtime.cwd, path)));
  return named.length === files.size ? { ...request, paths: named } : request;
}

/** What to say of trouble that may pass; null = nothing. Throws bugs, and in the first pass what was mistyped. */
function passingTrouble(error: unknown, isFirst: boolean): string | null {
  if (!(error instanceof JpgError) || error.kind === "internal") throw error;
  // An agent that was not used here yet may be some day.
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

/** The folders in which sessions change: of a file that was named the one it is in, for it may be replaced. */
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

// The live guard of `jpg sync --compact`: a session that comes near its model's window is compacted without a model, and the user
// is told once how to go on smaller. Where a pass gains little, it leaves the session alone from then on.

/** What a guard has said and given up, for as long as it runs. By branch. */
export interface GuardState {
  readonly ready: Set<string>;
  readonly stopped: Set<string>;
}

/** A pass that takes out less than this share of the context is not worth what it costs. */
const LEAST_FREED = 0.1;

/** Begins to guard. */
export function createGuard(): GuardState {
  return { ready: new Set(), stopped: new Set() };
}

/** Compacts a branch that grew too large; null when nothing was done. Throws for bugs only. */
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
  if (freed !== null && freed < LEAST_FREED) {
    state.stopped.add(branch);
    const id = conversationOf(branch);
    const percent = Math.round(freed * 100);
    situation.warn(
      `compacting it took out ${percent} % of the context, so it is left alone from now on; \`jpg compact ${id} --profile heavy\` replaces old turns with a summary`,
    );
  }
  return report;
}

/** In the agent that the session is of, where that resumes any. */
async function resumeCommand({ store }: Workspace, branch: string): Promise<string | null> {
  const format = (await loadTip(store, branch))?.header.source?.format;
  const agents = resumingAgents().map(({ name }) => name);
  const agent = agents.find((name) => name === format) ?? agents[0];
  return agent === undefined ? null : `jpg resume ${branch} --with ${agent}`;
}
