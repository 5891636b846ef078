// Brings session files in: recognises what the store holds of each, and writes only what is new. All sessions of a call
// go through one write, except where two of them meet in one conversation.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import { appendAll } from "../../core/lists.ts";
import type { BranchWrite } from "../../store/store.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { withAgentFiles } from "../sessions/agent-files.ts";
import { type OpenSession, openParts } from "../sessions/open-session.ts";
import type { SessionFile } from "../sessions/session-files.ts";
import { formatByName, formatNames } from "../sessions/session-registry.ts";
import { makeActive, readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readCountCache, writeCountCache } from "./count-cache.ts";
import { findFiles } from "./import-files.ts";
import type { ImportReport } from "./import-report.ts";
import type { ImportRequest } from "./import-request.ts";
import {
  createRun,
  type FoundSource,
  type ImportFailure,
  type ImportRun,
  type KnownSession,
  passOver,
} from "./import-run.ts";
import { type ImportFacts, prepareImport, reportKnown } from "./import-session.ts";
import type { SessionImport } from "./planned-import.ts";
import { heldIn, rememberFound, rememberWritten, tipsAfter } from "./remember-run.ts";
import { createMeeting, type MeetingNames } from "./session-meeting.ts";
import { readSourceCache, writeSourceCache } from "./source-cache.ts";

export interface ImportOutcome {
  readonly sessions: readonly ImportReport[];
  /** Files that could not be imported, folders that could not be read, files beside sessions that cannot be stored. */
  readonly failed: readonly ImportFailure[];
}

/** Tells names of formats from paths among the arguments: `import FORMAT FILE`, `import FILE`, `import AGENT AGENT`. */
export async function parseImportArguments(
  words: readonly string[],
  cwd: string,
): Promise<Pick<ImportRequest, "format" | "paths" | "kept">> {
  const [first, ...rest] = words;
  if (first === undefined || first === "-") return { paths: words };
  const isFormat = (word: string): boolean => formatNames().includes(word);
  // Names alone say whose sessions; before a path, a name says what the path holds.
  if (words.every(isFormat)) return { paths: [], kept: { agents: words } };
  if (isFormat(first)) return { format: first, paths: rest };
  const exists = await stat(resolve(cwd, first)).then(
    () => true,
    () => false,
  );
  if (!exists && /^[a-z][a-z-]*$/.test(first) && rest.length > 0) formatByName(first);
  return { paths: words };
}

/** Imports sessions. What is wrong with one file stops none of the others: it is reported, and thrown where no other was named. */
export async function importSessions(workspace: Workspace, request: ImportRequest): Promise<ImportOutcome> {
  const { store } = workspace;
  const { files: found, failed } = await findFiles(workspace, request);
  const files = await withAgentFiles(found);
  const [counts, sources] = [readCountCache(store), readSourceCache(store)];
  const run = createRun(workspace, request, { files, counts, sources });
  appendAll(run.failed, failed);
  while (run.hasMore()) await importPass(workspace, run);
  await activate(workspace, run, found);
  rememberFound(run, (await readStanding(workspace)).branch);
  await Promise.all([writeCountCache(store, counts), writeSourceCache(store, sources)]);
  const wrote = run.reports.some((report) => report.status !== "unchanged");
  if (wrote) await store.maintain();
  if (run.failure !== null) throw run.failure.error;
  return { sessions: run.reports, failed: run.failed };
}

/**
 * Imports as many sessions as may go through one write of the store, each prepared while git takes in those before it. A
 * second session of one conversation waits for the next pass: it must see what the first one wrote.
 */
async function importPass(workspace: Workspace, run: ImportRun): Promise<void> {
  const { store } = workspace;
  const done: PreparedSession[] = [];
  const [tips, { branch: active }] = await Promise.all([store.listBranches(), readStanding(workspace)]);
  const facts = { tips, active, counts: run.counts };
  const results = await store.write(prepareWrites(workspace, { run, done, facts }));
  let next = 0;
  for (const { file, hasWrite, finish, found } of done) {
    const result = hasWrite ? results[next++] : undefined;
    // Somebody else moved the branch meanwhile: plan again on what stands there now.
    if (result?.moved === false) run.putBack(file);
    else {
      const report = await finish(result);
      if (result !== undefined) await rememberWritten(workspace, run, { result, report });
      // Only the branch that was written holds the file: which one is active then does not matter.
      const stands = result === undefined ? { tips, active } : { tips: tipsAfter(tips, result) };
      if (found !== null)
        run.found.push({ path: file.path, source: { ...found, held: heldIn(report) }, facts: stands });
      run.reports.push(report);
    }
  }
}

/** A session on its way, without its text and its commits: they are let go when they are written. */
interface PreparedSession {
  /** To read it again from; standard input cannot be, and is kept. */
  readonly file: SessionFile | OpenSession;
  readonly hasWrite: boolean;
  /** Whether the store may be another once it is finished. */
  readonly mayChange: boolean;
  readonly finish: SessionImport["finish"];
  /** What will be known of the file. */
  readonly found: FoundSource | null;
}

async function* prepareWrites(
  workspace: Workspace,
  { run, done, facts }: { readonly run: ImportRun; readonly done: PreparedSession[]; readonly facts: ImportFacts },
): AsyncGenerator<BranchWrite> {
  const written = createMeeting();
  for (;;) {
    try {
      const next = await run.next(facts);
      if (next === null) return;
      const names = namesOf(next);
      if (written.awaits(names)) return run.putBack("known" in next ? next.file : next);
      const prepared = await prepareNext(workspace, run, next, facts);
      if (prepared === null) continue;
      const { write, ...session } = prepared;
      done.push({ ...session, hasWrite: write !== null });
      written.add(names, session);
      if (write !== null) yield write;
    } catch (error) {
      // What was prepared before is written; then the error is reported.
      run.failure = { error };
      return;
    }
  }
}

type Prepared = Omit<PreparedSession, "hasWrite"> & Pick<SessionImport, "write">;

async function prepareNext(
  workspace: Workspace,
  run: ImportRun,
  open: OpenSession | KnownSession,
  facts: ImportFacts,
): Promise<Prepared | null> {
  if ("known" in open) {
    const { write, finish } = reportKnown(open);
    return { file: open.file, write, mayChange: false, finish, found: null };
  }
  const session = await prepareImport(workspace, open, facts).catch((error: unknown) => passOver(run, open, error));
  if (session === null) return null;
  appendAll(run.failed, open.beside.leftOut);
  const { write, finish, holder, parts = [] } = session;
  for (const part of openParts(open, parts).toReversed()) run.putBack(part);
  const found = holder === null ? null : describeSource(run, open, holder);
  return { file: fileOf(open), write, mayChange: write !== null || open.allBranches, finish, found };
}

/** What will be known of a session's file; null where its next import has more to say or to do. */
function describeSource(run: ImportRun, open: OpenSession, branch: string): PreparedSession["found"] {
  const { fingerprint, format, sessionId: session, origin } = open;
  if (fingerprint === null || open.beside.leftOut.length > 0 || open.allBranches) return null;
  const named = run.request.format ?? null;
  return {
    fingerprint: fingerprint.digest,
    named,
    format: format.name,
    importer: format.importer,
    session,
    origin,
    branch,
  };
}

function namesOf(session: OpenSession | KnownSession): MeetingNames {
  if ("known" in session) return { sessionId: session.known.session, origin: session.known.origin, forkedOff: [] };
  const { sessionId, origin, descent } = session;
  return { sessionId, origin, forkedOff: descent?.kind === "fork" ? descent.sessions : [] };
}

function fileOf(open: OpenSession): SessionFile | OpenSession {
  const { path, named, isPart, isBeside } = open;
  return path === "-" || isPart ? open : { path, named, ...(isBeside && { isBeside }) };
}

/**
 * The session that changed last becomes active, a single named one in any case, unless the active one is to stay; the views
 * of all that changed are brought along.
 */
async function activate(
  workspace: Workspace,
  { request, reports }: ImportRun,
  files: readonly SessionFile[],
): Promise<void> {
  const { store } = workspace;
  const changed = reports.filter((report) => report.status !== "unchanged");
  // What an agent's agents did is looked at, not gone on with.
  const own = reports.filter(({ agent_of }) => agent_of === undefined);
  const candidates = own.length === 0 ? reports : own;
  const newest =
    candidates
      .filter(({ status }) => status !== "unchanged")
      .sort((a, b) => compareTimestamps(a.updated_at ?? "", b.updated_at ?? ""))
      .at(-1) ?? (files.length === 1 ? candidates[0] : undefined);
  if (newest === undefined) return;
  const { branch: active, commit } = await readStanding(workspace);
  const isThere = active !== null && (await store.readBranch(active)) !== null;
  const isFoundAgent = own.length === 0 && files.every(({ named }) => !named);
  // Nobody who looks at a commit, in a bisect say, is taken away from it.
  const stays = commit !== null || ((request.keepActive === true || isFoundAgent) && isThere);
  if (!stays && active !== newest.branch) await makeActive(workspace, newest.branch);
  await refreshViews(workspace, new Set([...(stays ? [] : [newest.branch]), ...changed.map(({ branch }) => branch)]));
}
