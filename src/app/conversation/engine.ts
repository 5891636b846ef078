// Chooses the engine: git where it is installed, else the embedded one. Hides what differs between them before a store is open; an
// open store has one interface. Besides git-program.ts, only this file outside src/store names an engine.
import { dirname, join, resolve } from "node:path";
import { PROJECT_CONFIG_NAME, resolveUserPaths } from "../../config/trust.ts";
import { createFile, makeFolders } from "../../store/files.ts";
import { createStore } from "../../store/git/create.ts";
import { gitMissingError } from "../../store/git/git-process.ts";
import { mendStore } from "../../store/git/health.ts";
import { locateStore } from "../../store/git/locate.ts";
import { sharingOf, sharingOfUser } from "../../store/git/porcelain.ts";
import { findNamedRepository, findProjectAround, listWorktreeTops } from "../../store/git/repository.ts";
import { openNativeStore } from "../../store/git/store.ts";
import { hasGit, needsGit, withoutReadme } from "../../store/git-dir.ts";
import type { ConversationStore, Engine, LogEntry, LogQuery, Mended, StoreLocation } from "../../store/store.ts";
import { type Runtime, readTemplate, setSharingUmask } from "./runtime.ts";

/** Chooses the engine of this call. `--engine` wins even without git; the native engine then reports `git_missing`. */
export function chooseEngine({ engine, env }: Pick<Runtime, "env"> & { readonly engine?: Engine | undefined }): Engine {
  return engine ?? (hasGit(env) ? "native" : "embedded");
}

/** Selects the native engine wherever git is installed, for commands that maintain git's part of a store. */
export function preferGit(runtime: Runtime): Runtime {
  return hasGit(runtime.env) ? { ...runtime, engine: "native" } : runtime;
}

/**
 * Finds the store that the arguments, environment and current directory name, or git when it started jpg. Throws what
 * `locateStore` and `findNamedRepository` throw.
 */
export async function locate(runtime: Runtime, store?: string): Promise<StoreLocation> {
  const { cwd, env, gitDir } = runtime;
  return locateStore({
    cwd: gitDir === undefined ? cwd : await findNamedRepository(gitDir, cwd),
    env,
    userDataDir: resolveUserPaths(runtime).dataDir,
    git: chooseEngine(runtime) === "native",
    store,
  });
}

/** Finds the project around a directory from its files; the same with and without git. */
export const projects: {
  /** Returns the common git dir of the project around a directory (absolute, no symbolic links); null = none. */
  readonly around: (directory: string) => Promise<string | null>;
  /** Lists the top folders of a project's worktrees, absolute; they need not exist. */
  readonly worktrees: (commonDir: string) => Promise<readonly string[]>;
} = { around: findProjectAround, worktrees: listWorktreeTops };

/**
 * Opens the store at `root` and sets the umask for those it is shared with. `say` receives progress messages of slow operations.
 * Throws `git_missing`.
 */
export async function openStoreAt(
  runtime: Runtime,
  root: string,
  say?: (text: string) => void,
): Promise<ConversationStore> {
  const store = await openEngine(runtime, root, say);
  setSharingUmask(await sharingOf(store.gitDir));
  return withoutReadme(store);
}

/** Loads the embedded engine only when it is used. */
async function openEngine(runtime: Runtime, root: string, say?: (text: string) => void): Promise<ConversationStore> {
  const { env, cwd, now, engine } = runtime;
  // Much is read without git: fail now rather than in the middle.
  if (engine === "native" && !hasGit(env)) throw gitMissingError(undefined);
  if (chooseEngine(runtime) === "native") return openNativeStore({ root, env, cwd, say });
  const { openEmbeddedStore } = await import("../../store/embedded/store.ts");
  return openEmbeddedStore({ root, env, cwd, now });
}

/** Refuses an operation that needs git. Throws `needs_git`. `what` begins the sentence, e.g. `A clone`. */
export function requireGit(runtime: Runtime, what: string): void {
  if (chooseEngine(runtime) !== "native") throw needsGit(what, runtime.env);
}

/** Repairs paths that a store records, above all in hooks; null when all were right. Without git nothing runs hooks. */
export async function mend(runtime: Runtime, root: string): Promise<Mended | null> {
  const { env, nodePath, jpgPath } = runtime;
  return chooseEngine(runtime) === "native" ? mendStore(root, { env, nodePath, jpgPath }) : null;
}

/**
 * Creates the store at `root`, or completes one. Idempotent. Sharing comes from the store's settings, else from the user's own, if
 * git is there to ask.
 */
export async function makeStore(runtime: Runtime, root: string): Promise<void> {
  const { env, cwd, nodePath, jpgPath } = runtime;
  const sharing = await sharingOf(join(root, ".git"));
  if (chooseEngine(runtime) === "native") {
    setSharingUmask(sharing ?? (await sharingOfUser(env)));
    return createStore(root, { env, cwd, nodePath, jpgPath });
  }
  setSharingUmask(sharing);
  const { createStoreWithoutGit } = await import("../../store/embedded/create-store.ts");
  await createStoreWithoutGit(root, { env, cwd, nodePath, jpgPath });
}

// Creates or completes a conversation store, and reports where it is and where settings go.

interface InitReport {
  /** Absolute path of the store. */
  readonly path: string;
  readonly created: boolean;
  /** The user's own settings: absolute path, and whether this call created the commented template. */
  readonly settings: { readonly path: string; readonly created: boolean };
  readonly hints: readonly string[];
}

/** Creates the project's store, or makes DIR itself a conversation repository. Idempotent. */
export async function initStore(
  runtime: Runtime,
  request: { readonly directory: string | undefined; readonly store: string | undefined },
): Promise<InitReport> {
  const named = request.directory ?? request.store;
  const location = await locate(runtime, named === undefined ? undefined : resolve(runtime.cwd, named));
  await makeStore(runtime, location.root);
  const { configFile } = resolveUserPaths(runtime);
  const created = await writeSettingsTemplate(configFile);
  const settings = `Settings go into ${configFile}${created ? " (every setting is listed there, commented out)" : ""}`;
  const own = location.project === undefined ? "" : `; those of this project alone into ${PROJECT_CONFIG_NAME}`;
  return {
    path: location.root,
    created: !location.exists,
    settings: { path: configFile, created },
    hints: [
      ...(location.exists ? [] : ["`jpg import` imports the sessions that agents keep for this project."]),
      ...(created || !location.exists ? [`${settings}${own}.`] : []),
    ],
  };
}

/** Writes the commented settings template unless the file exists; also false if it cannot be written. */
async function writeSettingsTemplate(path: string): Promise<boolean> {
  try {
    makeFolders(dirname(path), 0o700);
    return await createFile(path, await readTemplate("config.toml"));
  } catch {
    return false; // jpg works without settings
  }
}

/** Wraps a store so that it caches logs until it is closed. Logs of movable names are read each time. */
export function withCachedLog(store: ConversationStore): ConversationStore {
  const logs = new Map<string, Promise<readonly LogEntry[]>>();
  const readLog = (query: LogQuery): Promise<readonly LogEntry[]> => {
    if (!/^[0-9a-f]{40,64}$/.test(query.from)) return store.readLog(query);
    const key = JSON.stringify([
      query.from,
      query.paths ?? [],
      query.limit ?? null,
      query.firstParentOnly !== undefined,
    ]);
    const log = logs.get(key) ?? store.readLog(query);
    logs.set(key, log);
    return log;
  };
  return Object.create(store, { readLog: { value: readLog, enumerable: true } }) as ConversationStore;
}
