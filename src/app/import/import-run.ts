// The sessions of one import call: which are left, the next one opened while the one before is prepared, and what came of them.
import { JpgError } from "../../core/errors.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import { findKeptFiles, type KeptChoice, unclearError } from "../sessions/kept-files.ts";
import { type OpenSession, openSession } from "../sessions/open-session.ts";
import { type FoundFiles, findSessionFiles, readSessionSource, type SessionFile } from "../sessions/session-files.ts";
import { agents, formatByName, formatNames } from "../sessions/session-registry.ts";
import { type Fingerprint, takeFingerprint } from "../sessions/side-files.ts";
import type { ByteSource, PieceLimits } from "../sessions/sources.ts";
import { readContinuedSession } from "./continued-session.ts";
import { findSessionBranches } from "./import-place.ts";
import {
  type CachedSource,
  type ImportReport,
  proofOf,
  readSourceCache,
  type SourceCache,
  type StoreFacts,
} from "./import-report.ts";

/** A file that is as it was when the store was found to hold all of it, and so is the store. */
export interface KnownSession {
  readonly file: SessionFile;
  readonly known: CachedSource;
  readonly byteLength: number;
}

/** A file of which a branch holds everything, before that was proved of the store. */
export type FoundSource = Omit<CachedSource, "proof" | "held">;

/** A file that was not imported, and why. */
export interface ImportFailure {
  readonly path: string;
  readonly error: JpgError;
  /** Named by the user, not found in a folder. */
  readonly named?: boolean;
}

/** What is left to import, and what came of the rest. */
export interface ImportRun {
  readonly request: ImportRequest;
  readonly reports: ImportReport[];
  readonly sources: SourceCache;
  /** What the run found, with the branches as they stood; `active` is absent where it decides nothing. */
  readonly found: {
    readonly path: string;
    readonly source: Omit<CachedSource, "proof">;
    readonly facts: Pick<StoreFacts, "tips"> & Partial<StoreFacts>;
  }[];
  readonly failed: ImportFailure[];
  /** Whether one file was named, and nothing else. */
  readonly isSingle: boolean;
  /** What ended the run early: what was imported before stays. */
  failure: { readonly error: unknown } | null;
  hasMore(): boolean;
  /** The next session; null when there is none. */
  next(facts: StoreFacts): Promise<OpenSession | KnownSession | null>;
  /** Gives a session back: it is the next one again. */
  putBack(session: SessionFile | OpenSession): void;
}

/** A file that was looked at, and read when the store is not known to hold it. */
interface LookedAt {
  readonly file: SessionFile;
  readonly fingerprint: Fingerprint | null;
  readonly known: CachedSource | null;
  readonly source: Promise<ByteSource> | null;
}

/** Creates the run of some files. */
export function createRun(
  { runtime }: Workspace,
  request: ImportRequest,
  start: { readonly files: readonly SessionFile[]; readonly sources: SourceCache },
): ImportRun {
  const waiting: (SessionFile | OpenSession)[] = [...start.files];
  let ahead: { readonly path: string; readonly looked: Promise<LookedAt> } | null = null;
  const lookAt = async (file: SessionFile): Promise<LookedAt> => {
    const fingerprint = await takeFingerprint(file, runtime.now);
    const entry = fingerprint === null ? undefined : start.sources.get(file.path);
    const known = entry !== undefined && isKnown(entry, request, fingerprint) ? entry : null;
    const source = known === null ? readSessionSource(runtime, file) : null;
    source?.catch(() => undefined); // reported when its turn comes, if it comes
    return { file, fingerprint, known, source };
  };
  /** Looks at a file; the file after it is looked at meanwhile. */
  const lookAhead = (file: SessionFile): Promise<LookedAt> => {
    const looked = ahead?.path === file.path ? ahead.looked : lookAt(file);
    const [next] = waiting;
    ahead =
      next === undefined || "source" in next || next.path === "-" ? null : { path: next.path, looked: lookAt(next) };
    return looked;
  };
  /** Opens a file; null for one that is passed over. One beside another is wanted only where an agent of that one wrote it. */
  const openWanted = async (file: SessionFile, how: Parameters<typeof openSession>[2]): Promise<OpenSession | null> => {
    const open = await openSession(runtime, file, how).catch((error: unknown) => passOver(run, file, error));
    return file.isBeside !== true || open?.descent?.kind === "agent" ? open : null;
  };
  const run: ImportRun = {
    request,
    reports: [],
    sources: start.sources,
    found: [],
    failed: [],
    isSingle: start.files.filter(({ isBeside }) => isBeside !== true).length === 1 && start.files[0]?.named === true,
    failure: null,
    hasMore: () => waiting.length > 0 && run.failure === null,
    putBack: (session) => {
      waiting.unshift(session);
    },
    async next(facts) {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        if ("source" in file) return file;
        const { fingerprint, known, source } = await lookAhead(file);
        if (fingerprint !== null && known !== null && known.proof === proofOf(facts, known))
          return { file, known, byteLength: fingerprint.byteLength };
        const open = await openWanted(file, { ...request, fingerprint, ...(source === null ? {} : { source }) });
        if (open !== null) return open;
      }
      return null;
    },
  };
  return run;
}

/** Notes what was wrong with a file, and goes on; where it was the only one that was named, or nothing can be stored, the run ends. */
export function passOver(run: ImportRun, file: PassedOver, error: unknown): null {
  // An agent that was just begun has said nothing yet; what is no session stays a file beside one.
  const isBeside = file.isBeside === true || file.isPart === true;
  if (isBeside && error instanceof JpgError && NO_SESSION.has(error.code)) return null;
  if (!file.named && error instanceof JpgError && error.code === "empty_session") return null;
  if (run.isSingle || !(error instanceof JpgError) || !(error.kind === "user" || isOfOneBranch(error))) throw error;
  run.failed.push({ path: file.path, error, ...(file.named && { named: true }) });
  return null;
}

type PassedOver = Pick<SessionFile, "path" | "named" | "isBeside"> & Partial<Pick<OpenSession, "isPart">>;

const NO_SESSION: ReadonlySet<string> = new Set(["empty_session", "not_a_session"]);

/** Branches that the agent left are found by reading the file. */
function isKnown(entry: CachedSource, request: ImportRequest, fingerprint: Fingerprint | null): boolean {
  return (
    !request.allBranches &&
    request.again !== true &&
    entry.fingerprint === fingerprint?.digest &&
    entry.named === (request.format ?? null) &&
    formatNames().includes(entry.format) &&
    entry.importer === formatByName(entry.format).importer
  );
}

/** Whether an error of the store is that of what it holds of one session: others can be stored. */
function isOfOneBranch({ code }: JpgError): boolean {
  return code === "object_missing" || code === "store_damaged";
}

// What an import is asked for.

export interface ImportRequest {
  /** Format to read, when the first argument names one. */
  readonly format?: string;
  readonly paths: readonly string[];
  /** Without paths: which of the sessions that agents keep; absent = all. */
  readonly kept?: KeptChoice;
  /** Also make forks of the branches that the agent left. */
  readonly allBranches: boolean;
  /** Read sessions that the store holds once more, as jpg reads them now; where that gives other events, make a fork. */
  readonly again?: boolean;
  /** Leave the active conversation as it is, as long as there is one. */
  readonly keepActive?: boolean;
  /** Sizes at which sources are cut; absent = those in force. */
  readonly limits?: PieceLimits;
}

/** Finds the files that a request names, or what agents keep for this project. Throws `no_such_file`, `no_sessions`. */
export async function findFiles(workspace: Workspace, request: ImportRequest): Promise<FoundFiles> {
  const { runtime } = workspace;
  if (request.paths.length > 0) return findSessionFiles(runtime, request.paths);
  const { kept = {} } = request;
  const knownAs = await createKnownSessions(workspace);
  const isClaimed = async (file: SessionFile): Promise<boolean> =>
    (await kept.isClaimed?.(file)) === true || (await knownAs(file)) !== null;
  const { files, unclear, failed } = await findKeptFiles(workspace, { ...kept, isClaimed });
  const left =
    kept.wasAsked === true ? [] : unclear.map((session) => ({ path: session.path, error: unclearError(session) }));
  if (files.length > 0 || failed.length > 0 || unclear.length > 0) return { files, failed: [...failed, ...left] };
  const {
    location,
    runtime: { cwd },
  } = workspace;
  const directory = location.project?.root ?? cwd;
  const data = { directories: [...new Set([directory, cwd])] };
  if (kept.agents !== undefined || kept.sinceMs !== undefined || kept.only !== undefined) {
    throw new JpgError("user", "no_sessions", `No session that agents keep for ${directory} matches.`, {
      hints: ["`jpg import --list --all` lists them all."],
      data,
    });
  }
  throw new JpgError("user", "no_sessions", `No agent on this machine keeps sessions for ${directory}.`, {
    hints: [
      "Run it in the folder where you use the agent, or name a session file or a folder of them: `jpg import FILE`.",
      ...agents().flatMap(({ files, store, help }) => (files.folders || store ? [help.place] : [])),
    ],
    data,
  });
}

/**
 * What the store knows of a session file: `imported` = it holds the session, which may have grown since; `exported` = jpg wrote
 * the file from a conversation that is here, and nobody went on with it; null = nothing.
 */
export type KnownAs = "imported" | "exported" | null;

/** Creates the question of the store as it is now. A file that cannot be read is not known. */
export async function createKnownSessions(workspace: Workspace): Promise<(file: SessionFile) => Promise<KnownAs>> {
  const { store } = workspace;
  const remembered = readSourceCache(store);
  const branches = await store.listBranches();
  const asked = new Map<string, Promise<KnownAs>>();
  return (file) => {
    const answer = asked.get(file.path) ?? ask(file);
    asked.set(file.path, answer);
    return answer;
  };

  async function ask(file: SessionFile): Promise<KnownAs> {
    if (branches.length === 0) return null;
    if (remembered.get(file.path)?.origin === null) return "imported";
    try {
      const open = await openSession(workspace.runtime, file, { allBranches: false });
      const { format, origin, sessionId: session, source } = open;
      const names = { session, suffix: importSuffix(format.name, session), continues: origin?.conversation };
      if ((await findSessionBranches(store, branches, names)).length > 0) return "imported";
      if (origin === null) return null;
      const continued = await readContinuedSession(workspace, open, format.read(source));
      return continued?.addsNothing === true ? "exported" : null;
    } catch (error) {
      if (error instanceof JpgError) return null;
      throw error;
    }
  }
}
