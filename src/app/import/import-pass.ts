// Imports in one write of the store as many sessions as can be written together.
import { basename, extname } from "node:path";
import { JpgError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import type { BranchWrite, ConversationStore, WriteResult } from "../../store/store.ts";
import { readCheckedOut } from "../conversation/checked-out.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import { type OpenSession, openParts, openSession } from "../sessions/open-session.ts";
import type { SessionFile } from "../sessions/session-files.ts";
import { formatByName, formatNames } from "../sessions/session-registry.ts";
import { type Fingerprint, takeFingerprint } from "../sessions/side-files.ts";
import { mayBeCopiedExport } from "./copied-export.ts";
import { type ConflictNames, createSessionConflicts, findSessionBranches } from "./import-place.ts";
import {
  type CachedSource,
  type HeldContent,
  type ImportReport,
  proofOf,
  type SourceCache,
  type StoreFacts,
  unchangedReport,
} from "./import-report.ts";
import type { ImportFailure, ImportRequest } from "./import-request.ts";
import { prepareImport, type SessionImport } from "./planned-import.ts";

/** What applies to all sessions of a call. */
export interface ImportCall {
  readonly request: ImportRequest;
  /** Gives the format of the only file, which a plug-in has read. */
  readonly formatOf?: (source: SessionSource) => AgentFormat;
  /** The cache of files. */
  readonly sources: SourceCache;
  /** Whether one file was named, and nothing else. */
  readonly isSingle: boolean;
  /** Paths of sessions that were left for a later pass. */
  readonly postponed: Set<string>;
  /** Sessions that are dealt with, for the progress. */
  readonly count: { done: number };
}

/** A session still to import: a file, or one that is open already. */
export type WaitingSession = SessionFile | OpenSession;

export interface ImportPass {
  readonly reports: readonly ImportReport[];
  readonly failed: readonly ImportFailure[];
  /** Files of which a branch has everything now. */
  readonly found: readonly FoundFile[];
  /** Sessions for the next pass. */
  readonly waiting: readonly WaitingSession[];
  /** The error that ended the import; what was imported before stays. */
  readonly failure: { readonly error: unknown } | null;
}

/** A file of which a branch has everything, and the tips at that time; `active` is absent where it does not matter. */
interface FoundFile {
  readonly path: string;
  readonly source: Omit<CachedSource, "proof">;
  readonly facts: Pick<StoreFacts, "tips"> & Partial<StoreFacts>;
}

/**
 * Imports as many sessions as possible in one write of the store, preparing each while git writes those before it. A second session
 * of one conversation waits for the next pass, which sees what the first one wrote.
 */
export async function importPass(
  workspace: Workspace,
  call: ImportCall,
  waiting: readonly WaitingSession[],
): Promise<ImportPass> {
  const { store } = workspace;
  const [tips, { branch: active }] = await Promise.all([store.listBranches(), readCheckedOut(workspace)]);
  const facts = { tips, active };
  const state: PassState = { sessions: [], failed: [], waiting: [...waiting], copies: [], failure: null };
  const results = await store.write(prepareSessions(workspace, call, facts, state));
  const refused: WaitingSession[] = [];
  const reports: ImportReport[] = [];
  const found: FoundFile[] = [];
  let next = 0;
  for (const session of state.sessions) {
    const result = session.hasWrite ? results[next++] : undefined;
    // Somebody else moved the branch meanwhile: plan again from its new tip.
    if (result?.moved === false) refused.push(session.file);
    else {
      const report = await session.finish();
      reports.push(report);
      appendAll(found, foundFiles(session, report, { facts, result }));
    }
  }
  const { failed, failure } = state;
  return { reports, found, failed, failure, waiting: [...refused, ...state.waiting, ...state.copies] };
}

/** The state of a pass. */
interface PassState {
  readonly sessions: PreparedSession[];
  readonly failed: ImportFailure[];
  readonly waiting: WaitingSession[];
  /** Sessions that may be copies of others that are imported before them. */
  readonly copies: WaitingSession[];
  failure: ImportPass["failure"];
}

/** A session being written. Its text and commits are released once they are written. */
interface PreparedSession {
  /** What to read it from again; an opened one for standard input. */
  readonly file: WaitingSession;
  readonly hasWrite: boolean;
  readonly finish: SessionImport["finish"];
  /** What to cache of the file; null if its next import has to read it. */
  readonly found: Omit<CachedSource, "proof" | "held"> | null;
}

/** Prepares sessions one by one, until one has to wait for the next pass. */
async function* prepareSessions(
  workspace: Workspace,
  call: ImportCall,
  facts: StoreFacts,
  state: PassState,
): AsyncGenerator<BranchWrite> {
  const conflicts = createSessionConflicts();
  try {
    for (let file = state.waiting.shift(); file !== undefined; file = state.waiting.shift()) {
      const { done } = call.count;
      const total = done + 1 + state.waiting.length + state.copies.length;
      workspace.progress({ doing: "importing sessions", done, total });
      const session = await openNext(workspace, call, facts, file);
      if (isPostponed(call, state, { file, session })) continue;
      const names = namesOf(session);
      if (names !== null && conflicts.mustWait(names)) {
        state.waiting.unshift(session !== null && "source" in session ? session : file);
        return;
      }
      const prepared = await prepareSession(workspace, call, facts, session);
      call.count.done++;
      addPrepared(state, prepared);
      if (names !== null) conflicts.add(names, prepared);
      if (prepared.write !== null) yield prepared.write;
    }
  } catch (error) {
    // What is prepared so far is written, then the error is reported.
    state.failure = { error };
  }
}

/** Whether a session is left for a pass after those of which it may be a copy; each only once. */
function isPostponed(
  { postponed }: ImportCall,
  state: PassState,
  { file, session }: { readonly file: WaitingSession; readonly session: Opened },
): boolean {
  const isCopy = session !== null && "start" in session && session.start?.hasOriginal === true;
  const isAlone = state.sessions.length === 0 && state.waiting.length === 0;
  if (!isCopy || isAlone || postponed.has(file.path)) return false;
  postponed.add(file.path);
  state.copies.push(file);
  return true;
}

function addPrepared(state: PassState, { session, parts, failed }: Prepared): void {
  if (session !== null) state.sessions.push(session);
  for (const part of parts.toReversed()) state.waiting.unshift(part);
  appendAll(state.failed, failed);
}

/** A file that has not changed since the store had all of it; nor has the store. */
interface KnownSession {
  readonly file: SessionFile;
  readonly known: CachedSource;
  readonly byteLength: number;
}

/** A session that is cached or open, or its error; null for one to skip. */
type Opened = KnownSession | OpenSession | ImportFailure | null;

/** Opens a session, unless it is cached. */
async function openNext(
  { runtime, store }: Workspace,
  call: ImportCall,
  facts: StoreFacts,
  file: WaitingSession,
): Promise<Opened> {
  if ("source" in file) return file;
  const fingerprint = await takeFingerprint(file, runtime.now);
  const known = call.sources.get(file.path);
  if (fingerprint !== null && known !== undefined && isKnown(known, { ...call, fingerprint, facts }))
    return { file, known, byteLength: fingerprint.byteLength };
  try {
    const open = await openSession(runtime, file, { ...call.request, formatOf: call.formatOf, fingerprint });
    // A side file is imported only if it is a sub-agent's session.
    return file.isSideFile !== true || open.descent?.kind === "agent" ? open : null;
  } catch (error) {
    return failureOf(call, { ...file, wasImported: await wasImported(store, facts.tips, file, error) }, error);
  }
}

/** Whether the store has all of a file, by the cache. Abandoned branches are found only by reading the file. */
function isKnown(
  known: CachedSource,
  now: {
    readonly request: ImportRequest;
    readonly fingerprint: Fingerprint;
    readonly facts: StoreFacts;
  },
): boolean {
  const { request, fingerprint, facts } = now;
  return (
    !request.allBranches &&
    request.again !== true &&
    known.fingerprint === fingerprint.digest &&
    known.named === (request.format ?? null) &&
    formatNames().includes(known.format) &&
    known.importer === formatByName(known.format).importer &&
    known.proof === proofOf(facts, known)
  );
}

/** The failure of a file; null if it need not be reported. Throws it if no other file was named, or if nothing can be stored. */
export function failureOf(
  { isSingle }: Pick<ImportCall, "isSingle">,
  file: FailedFile,
  error: unknown,
): ImportFailure | null {
  // A sub-agent that was just begun has no turn yet; a file that is no session is just a side file.
  const isPartOfOther = file.isSideFile === true || file.isPart === true;
  if (isPartOfOther && error instanceof JpgError && NO_SESSION.has(error.code)) return null;
  if (!file.named && isEmptySession(error) && file.wasImported !== true) return null;
  if (isSingle || !(error instanceof JpgError) || !(error.kind === "user" || isOfOneBranch(error))) throw error;
  return { path: file.path, error, ...(file.named && { named: true }) };
}

type FailedFile = Pick<SessionFile, "path" | "named" | "isSideFile"> &
  Partial<Pick<OpenSession, "isPart">> & {
    /** Whether a branch has the session of that name: then it is reported that the file lost it. */
    readonly wasImported?: boolean;
  };

function isEmptySession(error: unknown): boolean {
  return error instanceof JpgError && error.code === "empty_session";
}

/** Whether a branch has the session after which an empty file is named. */
async function wasImported(
  store: ConversationStore,
  tips: StoreFacts["tips"],
  { path }: FailedFile,
  error: unknown,
): Promise<boolean> {
  if (!isEmptySession(error)) return false;
  const session = basename(path, extname(path));
  for (const name of formatNames()) {
    const names = { session, suffix: importSuffix(name, session), continues: undefined };
    if ((await findSessionBranches(store, tips, names)).length > 0) return true;
  }
  return false;
}

const NO_SESSION: ReadonlySet<string> = new Set(["empty_session", "not_a_session"]);

/** Whether an error concerns only one branch, so that others can be written. */
function isOfOneBranch({ code }: JpgError): boolean {
  return code === "object_missing" || code === "store_damaged";
}

/** What decides with which sessions it conflicts; null where there is nothing to import. */
function namesOf(session: Opened): ConflictNames | null {
  if (session === null || "error" in session) return null;
  if ("known" in session) return { sessionId: session.known.session, origin: session.known.origin, forkedOff: [] };
  const { sessionId, origin, descent, start } = session;
  const isFork = descent?.kind === "fork" || descent?.at !== undefined;
  const names = { sessionId, origin, forkedOff: isFork ? descent.sessions : [], start: start?.line };
  return { ...names, mayBeCopiedExport: mayBeCopiedExport(session) };
}

/** What was prepared for one session. */
interface Prepared {
  /** Null if it could not be imported. */
  readonly session: PreparedSession | null;
  readonly write: BranchWrite | null;
  /** Whether importing it may change the store. */
  readonly mayChange: boolean;
  /** Sessions of sub-agents within its file. */
  readonly parts: readonly OpenSession[];
  readonly failed: readonly ImportFailure[];
}

const NOTHING = { session: null, write: null, mayChange: false, parts: [], failed: [] } as const;

async function prepareSession(
  workspace: Workspace,
  call: ImportCall,
  facts: StoreFacts,
  open: Opened,
): Promise<Prepared> {
  if (open === null) return NOTHING;
  if ("error" in open) return { ...NOTHING, failed: [open] };
  if ("known" in open) {
    const { file, known, byteLength } = open;
    const report = unchangedReport(known.branch, known.held, { path: file.path, byteLength });
    return { ...NOTHING, session: { file, hasWrite: false, finish: () => Promise.resolve(report), found: null } };
  }
  try {
    const { write, finish, holder, parts = [] } = await prepareImport(workspace, open, facts);
    const found = holder === null ? null : describeSource(call, open, holder);
    return {
      session: { file: fileOf(open), hasWrite: write !== null, finish, found },
      write,
      mayChange: write !== null || open.allBranches,
      parts: openParts(open, parts),
      failed: open.sideFiles.leftOut,
    };
  } catch (error) {
    const { path, named, isPart, isSideFile } = open;
    const file = { path, named, isPart, isSideFile };
    const known = await wasImported(workspace.store, facts.tips, file, error);
    const failure = failureOf(call, { ...file, wasImported: known }, error);
    return { ...NOTHING, failed: failure === null ? [] : [failure] };
  }
}

function fileOf(open: OpenSession): WaitingSession {
  const { path, named, isPart, isSideFile } = open;
  return path === "-" || isPart ? open : { path, named, ...(isSideFile && { isSideFile }) };
}

/** What to cache of a session's file; null if its next import has to read it. */
function describeSource({ request }: ImportCall, open: OpenSession, branch: string): PreparedSession["found"] {
  const { fingerprint, format, sessionId: session, origin } = open;
  if (fingerprint === null || open.sideFiles.leftOut.length > 0 || open.allBranches) return null;
  const named = request.format ?? null;
  const read = { named, format: format.name, importer: format.importer };
  return { fingerprint: fingerprint.digest, ...read, session, origin, branch };
}

function foundFiles(
  { file, found }: PreparedSession,
  report: ImportReport,
  { facts, result }: { readonly facts: StoreFacts; readonly result: WriteResult | undefined },
): readonly FoundFile[] {
  if (found === null) return [];
  // The file is on the branch that was written, whichever branch is active then.
  const current = result === undefined ? facts : { tips: tipsAfter(facts.tips, result) };
  return [{ path: file.path, source: { ...found, held: heldIn(report) }, facts: current }];
}

/** The part of a report that is cached. */
function heldIn({ turns, events, compactions, title, agent_of }: ImportReport): HeldContent {
  return { turns, events, compactions, title, agent_of };
}

/** The tips after one write of the pass: its other writes are of other sessions. */
function tipsAfter(tips: StoreFacts["tips"], write: WriteResult): StoreFacts["tips"] {
  const others = tips.filter(({ name }) => name !== write.branch);
  const written = { name: write.branch, commit: write.commit };
  return [...others, written].sort((a, b) => (a.name < b.name ? -1 : 1));
}
