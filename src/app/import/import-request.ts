// Which files an import is about, and which of them the store has already.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { JpgError, userError } from "../../core/errors.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import { type FormatPlugin, findFormatPlugin } from "../sessions/format-plugins.ts";
import { findKeptFiles, type KeptChoice, unclearError } from "../sessions/kept-files.ts";
import { openSession } from "../sessions/open-session.ts";
import { type FoundFiles, findSessionFiles, type SessionFile } from "../sessions/session-files.ts";
import { agents, formatByName, formatNames, wholeFormatName } from "../sessions/session-registry.ts";
import type { PieceLimits } from "../sessions/sources.ts";
import { readContinuedSession } from "./continued-session.ts";
import { findSessionBranches } from "./import-place.ts";
import { readSourceCache } from "./import-report.ts";

export interface ImportRequest {
  /** Format to read, when the first argument names one. */
  readonly format?: string;
  /** The program that reads the files, when the first argument names its format. */
  readonly plugin?: FormatPlugin;
  readonly paths: readonly string[];
  /** Without paths: which of the agents' sessions; absent = all. */
  readonly kept?: KeptChoice;
  /** Also make forks of abandoned branches. */
  readonly allBranches: boolean;
  /** Read again sessions that the store has; if this jpg reads other events, make a fork. */
  readonly again?: boolean;
  /** Do not change the active conversation, if there is one. */
  readonly keepActive?: boolean;
  /** Sizes at which sources are cut; absent = the defaults. */
  readonly limits?: PieceLimits;
}

export interface ImportFailure {
  readonly path: string;
  readonly error: JpgError;
  /** Named by the user, not found in a folder. */
  readonly named?: boolean;
}

/** Separates names of formats from paths in the arguments: `import FORMAT FILE`, `import FILE`, `import AGENT AGENT`. */
export async function parseImportArguments(
  words: readonly string[],
  runtime: Runtime,
  store?: string,
): Promise<Pick<ImportRequest, "format" | "plugin" | "paths" | "kept">> {
  const { cwd } = runtime;
  const [first, ...rest] = words;
  if (first === undefined || first === "-") return { paths: words };
  const isThere = (word: string): Promise<boolean> =>
    stat(resolve(cwd, word)).then(
      () => true,
      () => false,
    );
  /** A whole name is always one; a short one only where no file is called so. */
  const formatOf = async (word: string): Promise<string | null> => {
    const name = wholeFormatName(word);
    if (!formatNames().includes(name)) return null;
    return name === word || !(await isThere(word)) ? name : null;
  };
  const formats = await Promise.all(words.map(formatOf));
  // Names alone choose whose sessions to import; before a path, a name says its format.
  if (formats.every((format) => format !== null)) return { paths: [], kept: { agents: formats } };
  const [format] = formats;
  if (format !== null && format !== undefined) return { format, paths: rest };
  // A plug-in has no place of its own where its agent keeps sessions: it reads files that are named.
  const exists = await isThere(first);
  const plugin = rest.length === 0 && exists ? null : await findFormatPlugin(runtime, first, store);
  if (plugin !== null && rest.length > 0) return { plugin, paths: rest };
  if (plugin !== null)
    throw userError(
      "usage",
      `The plug-in jpg-format-${first} reads files that you name: jpg does not know where they are.`,
      {
        hints: [`\`jpg import ${first} FILE\``],
      },
    );
  if (!exists && /^[a-z][a-z-]*$/.test(first) && rest.length > 0) formatByName(first);
  return { paths: words };
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
 * What the store has of a session file: `imported` = the session, which may have grown since; `exported` = jpg wrote the file from
 * a conversation here, and nobody continued it; null = nothing.
 */
export type KnownAs = "imported" | "exported" | null;

/** Returns a function that compares files with the store as it is now. A file that cannot be read is unknown. */
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
