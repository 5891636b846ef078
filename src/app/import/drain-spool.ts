// Imports the sessions that agents' hooks put into the spool, each into the store of the directory that it was begun in. A session
// that cannot be imported stays in the spool, with the reason.
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { JpgError, messageOf } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { makeFolders } from "../../store/files.ts";
import { isLocked, withLock } from "../../store/locks.ts";
import { projects } from "../conversation/engine.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { openWorkspace, type Workspace } from "../conversation/workspace.ts";
import { canonicalOf } from "../sessions/agent-stores.ts";
import { startOfSession } from "../sessions/kept-files.ts";
import { type ImportOutcome, importSessions } from "./import.ts";
import type { ImportReport } from "./import-report.ts";
import type { ImportRequest } from "./import-request.ts";
import { beginsWith, hookPaths, listSpool, noteProblem, removeEntry, type SpoolEntry } from "./spool.ts";

interface DrainReport {
  readonly sessions: readonly ImportReport[];
  readonly failed: ImportOutcome["failed"];
}

interface DrainOptions {
  /** Whether to try again what failed within `AGAIN_MS`. */
  readonly again: boolean;
}

/** Milliseconds after which a failed import is tried again. */
const AGAIN_MS = 24 * 3600 * 1000;

/**
 * Imports the whole spool. Does nothing while another jpg does so: that one looks again before it ends. Throws errors of stores;
 * what is left waits for the next time.
 */
export async function drainSpool(runtime: Runtime, { again }: DrainOptions): Promise<DrainReport> {
  const places = hookPaths(runtime);
  const sessions: ImportReport[] = [];
  const failed: ImportOutcome["failed"][number][] = [];
  const tried = new Set<string>();
  const waiting = async (): Promise<readonly SpoolEntry[]> =>
    (await listSpool(places, runtime.now())).filter(
      (entry) => !tried.has(entry.folder) && isDue(entry, runtime.now(), again),
    );
  // Look again after the lock is released: a hook that found it locked left its session to this process.
  while ((await waiting()).length > 0) {
    makeFolders(dirname(places.lock), 0o700);
    if (await isLocked(places.lock)) break;
    await withLock(places.lock, async () => {
      for (const entry of await waiting()) {
        tried.add(entry.folder);
        const outcome = await importEntry(entry, runtime);
        appendAll(sessions, outcome.sessions);
        appendAll(failed, outcome.failed);
      }
    });
  }
  return { sessions, failed };
}

/** Drains the spool before the agents' sessions are imported. An error does not stop that; `warn` reports it. */
export async function drainFirst(
  runtime: Runtime,
  { paths }: Pick<ImportRequest, "paths">,
  warn: (text: string) => void,
): Promise<void> {
  if (paths.length > 0) return;
  try {
    await drainSpool(runtime, { again: false });
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind === "internal") throw error;
    warn(`What agents' hooks put aside could not be imported and is kept: ${messageOf(error)}`);
  }
}

function isDue({ problem }: SpoolEntry, now: Date, again: boolean): boolean {
  return problem === null || again || now.getTime() - Date.parse(problem.at) > AGAIN_MS;
}

async function importEntry(entry: SpoolEntry, runtime: Runtime): Promise<DrainReport> {
  const paths = await pathsOf(entry);
  if (paths.length === 0) {
    await removeEntry(entry);
    return NOTHING;
  }
  try {
    const workspace = await openWorkspace(
      { ...runtime, cwd: (await folderOfSession({ ...entry, platform: runtime.platform })) ?? runtime.home },
      { create: true },
    );
    try {
      const outcome = await importAll(workspace, paths);
      await removeEntry(entry);
      return outcome;
    } finally {
      await workspace.close();
    }
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind === "internal") throw error;
    if (error.code === "empty_session") await removeEntry(entry);
    else await noteProblem(entry, { message: error.message, at: runtime.now().toISOString() });
    return error.code === "empty_session" ? NOTHING : { sessions: [], failed: [{ path: paths[0] ?? "", error }] };
  }
}

const NOTHING: DrainReport = { sessions: [], failed: [] };

/** The copy in the spool, then the file as it is now; only the file, if it has just grown since. */
async function pathsOf({ kept, transcript }: SpoolEntry): Promise<readonly string[]> {
  const now = transcript !== null && (await isRegular(transcript)) ? transcript : null;
  if (kept === null) return now === null ? [] : [now];
  if (now === null) return [kept];
  return beginsWith(now, kept) ? [now] : [kept, now];
}

/** Imports states of one session in turn. If a later state cannot be read, the first is still imported. */
async function importAll(workspace: Workspace, paths: readonly string[]): Promise<DrainReport> {
  const sessions: ImportReport[] = [];
  for (const [index, path] of paths.entries()) {
    try {
      const outcome = await importSessions(workspace, { paths: [path], allBranches: false, keepActive: true });
      appendAll(sessions, outcome.sessions);
    } catch (error) {
      if (index === 0 || !(error instanceof JpgError) || error.kind !== "user") throw error;
    }
  }
  return { sessions, failed: [] };
}

async function isRegular(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/**
 * The directory that the session was begun in, else the one in which the agent called the hook: a session belongs to one project,
 * wherever its agent went later. For a directory that is gone, such as a worktree, its project's folder.
 */
export async function folderOfSession({
  transcript,
  kept,
  agent,
  cwd,
  platform,
}: Pick<SpoolEntry, "transcript" | "kept" | "agent" | "cwd"> & Pick<Runtime, "platform">): Promise<string | null> {
  const files = [transcript, kept].filter((file) => file !== null);
  const starts = await Promise.all(
    files.map((file) => startOfSession({ path: file, agent, kept: transcript ?? file, platform })),
  );
  for (const path of [...starts, cwd]) {
    if (path === null) continue;
    const { path: whole, existing } = canonicalOf(path, platform);
    if (whole === existing ? statSync(existing).isDirectory() : (await projects.around(existing)) !== null)
      return existing;
  }
  return null;
}
