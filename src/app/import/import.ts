// Brings session files in: recognises what the store holds of each, and writes only what is new. All sessions of a call
// go through one write, except where two of them meet in one conversation.
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import { JpgError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { appendAll } from "../../core/lists.ts";
import type { BranchWrite, WriteResult } from "../../store/store.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { rememberWhole } from "../conversation/spliced-turns.ts";
import { makeActive, readStanding } from "../conversation/standing.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveBranch, resolveTree } from "../names/resolve-id.ts";
import { withAgentFiles } from "../sessions/agent-stores.ts";
import { type OpenSession, openParts } from "../sessions/open-session.ts";
import type { SessionFile } from "../sessions/session-files.ts";
import { agents, formatByName, formatNames } from "../sessions/session-registry.ts";
import { createMeeting, type MeetingNames } from "./import-place.ts";
import {
  type HeldContent,
  type ImportReport,
  proofOf,
  readSourceCache,
  type StoreFacts,
  writeSourceCache,
} from "./import-report.ts";
import {
  createRun,
  type FoundSource,
  findFiles,
  type ImportFailure,
  type ImportRequest,
  type ImportRun,
  type KnownSession,
  passOver,
} from "./import-run.ts";
import { prepareImport, reportKnown } from "./import-session.ts";
import type { SessionImport } from "./planned-import.ts";

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
  const sources = readSourceCache(store);
  const run = createRun(workspace, request, { files, sources });
  appendAll(run.failed, failed);
  while (run.hasMore()) await importPass(workspace, run);
  await activate(workspace, run, found);
  rememberFound(run, (await readStanding(workspace)).branch);
  await writeSourceCache(store, sources);
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
  const facts = { tips, active };
  const results = await store.write(prepareWrites(workspace, { run, done, facts }));
  let next = 0;
  for (const { file, hasWrite, finish, found } of done) {
    const result = hasWrite ? results[next++] : undefined;
    // Somebody else moved the branch meanwhile: plan again on what stands there now.
    if (result?.moved === false) run.putBack(file);
    else {
      const report = await finish();
      await noteCreated(store, report, result);
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
  { run, done, facts }: { readonly run: ImportRun; readonly done: PreparedSession[]; readonly facts: StoreFacts },
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
  facts: StoreFacts,
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

/** That a conversation that jpg just made is whole is known without looking. */
async function noteCreated(
  store: Workspace["store"],
  { status }: ImportReport,
  result: WriteResult | undefined,
): Promise<void> {
  if (result !== undefined && status === "created") await rememberWhole(store, result);
}

/** What of a report is remembered with the file. */
function heldIn({ turns, events, compactions, title, agent_of }: ImportReport): HeldContent {
  const named = { ...defined({ title, agent_of }) };
  return { turns, events, compactions, ...named };
}

/** The branches as one write left them; other writes of the pass are of other sessions. */
function tipsAfter(tips: StoreFacts["tips"], write: WriteResult): StoreFacts["tips"] {
  const others = tips.filter(({ name }) => name !== write.branch);
  const written = { name: write.branch, commit: write.commit };
  return [...others, written].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Keeps what was found, the newest last. Of several branches that hold a file the active one is reported. */
function rememberFound({ sources, found }: ImportRun, active: string | null): void {
  for (const { path, source, facts } of found) {
    sources.delete(path);
    sources.set(path, { ...source, proof: proofOf({ active, ...facts }, source) });
  }
}

// Which conversation an agent means by its own: its session is brought in first, for it has grown since it was imported, if
// it was. What the user has made active stays so.

interface CallerConversation {
  readonly tree: BranchTree;
  /** Whether it is that of a session that an agent on this machine keeps, and may go on writing. */
  readonly isKept: boolean;
  /** What was imported to get there, a sentence; null when nothing was. */
  readonly imported: string | null;
}

/**
 * Imports what agents keep for this project and gives the conversation that an id names, without one that of the agent which
 * asks. What is only read, or forked, may be a commit: that of a detached HEAD, or any that the id names. Throws `no_conversation`,
 * `unknown_id`, `ambiguous_id`, and where it is to be written `detached_head`, `not_a_branch`.
 */
export async function loadCallerConversation(
  workspace: Workspace,
  id: string | undefined,
  use: "read" | "fork" | "write",
): Promise<CallerConversation> {
  const reports = await importQuietly(workspace);
  const { env } = workspace.runtime;
  const { JPG_CONVERSATION: chosen = "" } = env;
  const meant = id ?? (chosen === "" ? callerBranch(reports, env) : undefined);
  const tree =
    use === "write"
      ? await resolveBranch(workspace, meant)
      : await resolveTree(workspace, meant, { changes: use === "fork" });
  const isKept = reports.some(({ branch }) => branch === tree.branch);
  const own = reports.find(({ branch, status }) => branch === tree.branch && status !== "unchanged");
  const others = reports.filter(({ branch, status }) => branch !== tree.branch && status !== "unchanged").length;
  const sentences = [
    ...(own === undefined ? [] : [`Its session was imported first (${turns(own.turns_added ?? own.turns)}).`]),
    ...(others === 0 ? [] : [`${others} other ${others === 1 ? "session was" : "sessions were"} imported too.`]),
  ];
  return { tree, isKept, imported: sentences.length === 0 ? null : sentences.join(" ") };
}

/**
 * The branch of the session that asks: the one that the agent names to its servers, unless it has not grown and another has
 * (it names the session that it began with); else the one that was written last. Undefined = whatever is active.
 */
function callerBranch(reports: readonly ImportReport[], env: Runtime["env"]): string | undefined {
  const isCallers = (fileName: string): boolean =>
    agents().some(({ files }) => files.isCallers?.(env, fileName) === true);
  const named = reports.find(({ source }) => source !== undefined && isCallers(basename(source)));
  const changed = reports.filter(({ status, agent_of }) => status !== "unchanged" && agent_of === undefined);
  if (named !== undefined && (changed.length === 0 || changed.includes(named))) return named.branch;
  const newest = changed.reduce<ImportReport | undefined>(
    (best, report) => (best === undefined || (report.updated_at ?? "") > (best.updated_at ?? "") ? report : best),
    undefined,
  );
  return newest?.branch;
}

/** Sessions that cannot be read, and a project without any, are no reason not to answer. */
async function importQuietly(workspace: Workspace): Promise<readonly ImportReport[]> {
  try {
    return (await importSessions(workspace, { paths: [], allBranches: false, keepActive: true })).sessions;
  } catch (error) {
    if (error instanceof JpgError && error.kind === "user") return [];
    throw error;
  }
}

function turns(count: number): string {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
