// Takes in what agents' hooks have put aside: each session into the store of the directory that it was begun in. What cannot be
// imported stays where it is, with the reason.
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
import { beginsWith, hookPlaces, listSpool, noteProblem, removeEntry, type SpoolEntry } from "./spool.ts";

/** What was taken in. */
interface DrainReport {
  readonly sessions: readonly ImportReport[];
  readonly failed: ImportOutcome["failed"];
}

interface DrainOptions {
  /** Whether what failed a short while ago is tried again. */
  readonly again: boolean;
}

/** What failed is tried again after this long, milliseconds. */
const AGAIN_MS = 24 * 3600 * 1000;

/**
 * Takes in all of it. Where another jpg is at it already, nothing is done: it looks again before it ends. Throws errors of
 * stores: what was not taken in then waits for the next time.
 */
export async function drainSpool(runtime: Runtime, { again }: DrainOptions): Promise<DrainReport> {
  const places = hookPlaces(runtime);
  const sessions: ImportReport[] = [];
  const failed: ImportOutcome["failed"][number][] = [];
  const tried = new Set<string>();
  const waiting = async (): Promise<readonly SpoolEntry[]> =>
    (await listSpool(places, runtime.now())).filter(
      (entry) => !tried.has(entry.folder) && isDue(entry, runtime.now(), again),
    );
  // Looked at once more after the lock is let go: a hook that came meanwhile has left it to this process.
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

/** Takes it in before what agents keep is imported, which it does not stop. `warn` is told what was wrong. */
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
      { ...runtime, cwd: (await folderOf(entry)) ?? runtime.home },
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

/** What was kept comes first, then what the file has become; where that only grew, what was kept says nothing more. */
async function pathsOf({ kept, transcript }: SpoolEntry): Promise<readonly string[]> {
  const now = transcript !== null && (await isRegular(transcript)) ? transcript : null;
  if (kept === null) return now === null ? [] : [now];
  if (now === null) return [kept];
  return beginsWith(now, kept) ? [now] : [kept, now];
}

/** One after the other: they are states of one session. What has become of the file since is no trouble of what was kept. */
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
 * The directory that the session was begun in, else the one that the agent was in when it called the hook: a session belongs to one
 * project, wherever its agent went meanwhile. For one that is gone, such as a worktree, the folder of the project that it was in.
 */
async function folderOf({ transcript, kept, agent, cwd }: SpoolEntry): Promise<string | null> {
  const files = [transcript, kept].filter((file) => file !== null);
  const starts = await Promise.all(files.map((file) => startOfSession(file, agent, transcript ?? file)));
  for (const path of [...starts, cwd]) {
    if (path === null) continue;
    const { path: whole, existing } = canonicalOf(path);
    if (whole === existing ? statSync(existing).isDirectory() : (await projects.around(existing)) !== null)
      return existing;
  }
  return null;
}
