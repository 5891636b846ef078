// Brings session files in: recognises what the store holds of each, and writes only what is new. All sessions of a call
// go through one write, except where two of them meet in one conversation.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { compareTimestamps } from "../core/compaction.ts";
import { JpgError } from "../core/errors.ts";
import type { BranchWrite } from "../store/conversation-store.ts";
import { startMaintenance } from "../store/maintenance.ts";
import { type EventCounts, readEventCounts, writeEventCounts } from "./event-counts.ts";
import { type ImportFacts, prepareImport, type SessionImport } from "./import-session.ts";
import { type OpenSession, openSession } from "./open-session.ts";
import { refreshViews } from "./refresh-view.ts";
import type { ImportReport } from "./reports.ts";
import { findAgentSessions, findSessionFiles, readSessionFile, type SessionFile } from "./session-files.ts";
import { formatByName, formatNames } from "./session-registry.ts";
import type { PieceLimits } from "./source-pieces.ts";
import type { Workspace } from "./workspace.ts";

export interface ImportRequest {
  /** Format to read, when the first argument names one. */
  readonly format?: string;
  readonly paths: readonly string[];
  /** Also make forks of the branches that the agent left. */
  readonly allBranches: boolean;
  /** Sizes at which sources are cut; absent = those in force. */
  readonly limits?: PieceLimits;
}

export interface ImportOutcome {
  readonly sessions: readonly ImportReport[];
  /** Files that could not be imported and were not named one by one. */
  readonly failed: readonly { readonly path: string; readonly error: JpgError }[];
}

/** Tells a format's name from a path among the arguments: `import claude-code FILE`, `import FILE`. */
export async function parseImportArguments(
  words: readonly string[],
  cwd: string,
): Promise<Pick<ImportRequest, "format" | "paths">> {
  const [first, ...rest] = words;
  if (first === undefined || first === "-") return { paths: words };
  if (formatNames().includes(first)) return { format: first, paths: rest };
  const exists = await stat(resolve(cwd, first)).then(
    () => true,
    () => false,
  );
  if (!exists && /^[a-z][a-z-]*$/.test(first) && rest.length > 0) formatByName(first);
  return { paths: words };
}

/** Imports sessions. Throws for files named one by one; in folders, files that are no sessions are reported and passed over. */
export async function importSessions(workspace: Workspace, request: ImportRequest): Promise<ImportOutcome> {
  const files = await filesOf(workspace, request);
  const counts = await readEventCounts(workspace.store);
  const run = createRun(workspace, request, { files, counts });
  while (run.hasMore()) await importPass(workspace, run);
  await activate(workspace, run.reports, files);
  const { store, runtime } = workspace;
  await writeEventCounts(store, counts);
  const wrote = run.reports.some((report) => report.status !== "unchanged");
  if (wrote && store.engine === "native") startMaintenance(store.root, runtime.env);
  if (run.failure !== null) throw run.failure.error;
  return { sessions: run.reports, failed: run.failed };
}

/** What is left to import, and what came of the rest. */
interface ImportRun {
  readonly reports: ImportReport[];
  readonly counts: EventCounts;
  readonly failed: { readonly path: string; readonly error: JpgError }[];
  /** What ended the run early: what was imported before stays. */
  failure: { readonly error: unknown } | null;
  hasMore(): boolean;
  /** The next session; null when there is none. */
  next(): Promise<OpenSession | null>;
  /** Gives a session back: it is the next one again. */
  putBack(session: SessionFile | OpenSession): void;
}

function createRun(
  workspace: Workspace,
  request: ImportRequest,
  { files, counts }: { readonly files: readonly SessionFile[]; readonly counts: EventCounts },
): ImportRun {
  const waiting: (SessionFile | OpenSession)[] = [...files];
  let ahead: { readonly path: string; readonly bytes: Promise<Buffer> } | null = null;
  /** The bytes of a file; the file after it is read meanwhile. */
  const readAhead = (file: SessionFile): Promise<Buffer> => {
    const bytes = ahead?.path === file.path ? ahead.bytes : readSessionFile(workspace.runtime, file);
    const [next] = waiting;
    ahead = null;
    if (next !== undefined && !("source" in next) && next.path !== "-") {
      ahead = { path: next.path, bytes: readSessionFile(workspace.runtime, next) };
      // It is reported when its turn comes, if it comes.
      ahead.bytes.catch(() => undefined);
    }
    return bytes;
  };
  const run: ImportRun = {
    reports: [],
    counts,
    failed: [],
    failure: null,
    hasMore: () => waiting.length > 0 && run.failure === null,
    putBack: (session) => {
      waiting.unshift(session);
    },
    async next() {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        if ("source" in file) return file;
        try {
          return await openSession(workspace.runtime, file, { ...request, bytes: readAhead(file) });
        } catch (error) {
          passOver(run, file, error);
        }
      }
      return null;
    },
  };
  return run;
}

/** Notes what was wrong with a file that was found in a folder; what the user named, or a broken store, ends the run. */
function passOver(run: ImportRun, file: Pick<SessionFile, "path" | "named">, error: unknown): null {
  if (file.named || !(error instanceof JpgError) || error.kind !== "user") throw error;
  run.failed.push({ path: file.path, error });
  return null;
}

/**
 * Imports as many sessions as may go through one write of the store, each prepared while git takes in those before it. A
 * second session of one conversation waits for the next pass: it must see what the first one wrote.
 */
async function importPass(workspace: Workspace, run: ImportRun): Promise<void> {
  const done: PreparedSession[] = [];
  const facts = { tips: await workspace.store.listBranches(), counts: run.counts };
  const results = await workspace.store.write(prepareWrites(workspace, { run, done, facts }));
  let next = 0;
  for (const { file, session } of done) {
    const result = session.write === null ? undefined : results[next++];
    // Somebody else moved the branch meanwhile: plan again on what stands there now.
    if (result?.moved === false) run.putBack(file);
    else {
      const report = await session.finish();
      if (result !== undefined) run.counts.set(result.commit, report.events);
      run.reports.push(report);
    }
  }
}

/** A session on its way, without its text: that is let go when its commits are written. */
interface PreparedSession {
  /** To read it again from; standard input cannot be, and is kept. */
  readonly file: SessionFile | OpenSession;
  readonly names: SessionNames;
  readonly session: SessionImport;
}

type SessionNames = Pick<OpenSession, "sessionId" | "origin">;

async function* prepareWrites(
  workspace: Workspace,
  { run, done, facts }: { readonly run: ImportRun; readonly done: PreparedSession[]; readonly facts: ImportFacts },
): AsyncGenerator<BranchWrite> {
  for (;;) {
    try {
      const open = await run.next();
      if (open === null) return;
      if (done.some(({ names }) => isRelated(names, open))) return run.putBack(open);
      const session = await prepareImport(workspace, open, facts).catch((error: unknown) => passOver(run, open, error));
      if (session === null) continue;
      done.push({ file: fileOf(open), names: { sessionId: open.sessionId, origin: open.origin }, session });
      if (session.write !== null) yield session.write;
    } catch (error) {
      // What was prepared before is written; then the error is reported.
      run.failure = { error };
      return;
    }
  }
}

function fileOf(open: OpenSession): SessionFile | OpenSession {
  return open.path === "-" ? open : { path: open.path, named: open.named };
}

/** Whether two sessions may meet in one conversation. */
function isRelated(a: SessionNames, b: SessionNames): boolean {
  if (a.sessionId === b.sessionId) return true;
  return a.origin !== null || b.origin !== null;
}

async function filesOf(workspace: Workspace, request: ImportRequest): Promise<SessionFile[]> {
  const { runtime, location } = workspace;
  if (request.paths.length > 0) return findSessionFiles(runtime, request.paths);
  const directories = location.project === undefined ? [runtime.cwd] : [location.project.root, runtime.cwd];
  const files = await findAgentSessions(runtime, directories);
  if (files.length === 0) {
    throw new JpgError("user", "no_sessions", `No agent on this machine keeps sessions for ${directories[0]}.`, {
      hints: [
        "Name a session file or a folder of them: `jpg import FILE`.",
        "Claude Code keeps its sessions under ~/.claude/projects (or CLAUDE_CONFIG_DIR).",
      ],
      data: { directories },
    });
  }
  return files;
}

/** The session that changed last becomes active, a single named one in any case; the views of all that changed are brought along. */
async function activate(
  workspace: Workspace,
  reports: readonly ImportReport[],
  files: readonly SessionFile[],
): Promise<void> {
  const changed = reports.filter((report) => report.status !== "unchanged");
  const newest =
    [...changed].sort((a, b) => compareTimestamps(a.updated_at ?? "", b.updated_at ?? "")).at(-1) ??
    (files.length === 1 ? reports[0] : undefined);
  if (newest === undefined) return;
  if ((await workspace.store.readActiveBranch()) !== newest.branch) await workspace.store.useBranch(newest.branch);
  await refreshViews(workspace, new Set([newest.branch, ...changed.map((report) => report.branch)]));
}
