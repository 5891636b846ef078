// Which engine works: the git program where there is one, else the one that needs none. What differs between them before a store is
// open is here; an open store has one interface. With git-program.ts the only file outside src/store that names an engine.
import { dirname, join, resolve } from "node:path";
import { PROJECT_CONFIG_NAME, resolveUserPaths } from "../../config/trust.ts";
import { createFile, makeFolders } from "../../store/files.ts";
import { createStore } from "../../store/git/create.ts";
import { gitMissingError } from "../../store/git/git-process.ts";
import { mendStore } from "../../store/git/health.ts";
import { locateStore } from "../../store/git/locate.ts";
import { sharingOf, sharingOfUser } from "../../store/git/porcelain.ts";
import { findProjectAround, listWorktreeTops } from "../../store/git/repository.ts";
import { openNativeStore } from "../../store/git/store.ts";
import { hasGit, needsGit, withoutReadme } from "../../store/git-dir.ts";
import type { ConversationStore, Engine, LogEntry, LogQuery, Mended, StoreLocation } from "../../store/store.ts";
import { type Runtime, readTemplate, setSharingUmask } from "./runtime.ts";

/** Chooses the engine of this call; `--engine` decides, whatever is there: without git the native one says that it is missing. */
export function chooseEngine({ engine, env }: Pick<Runtime, "env"> & { readonly engine?: Engine | undefined }): Engine {
  return engine ?? (hasGit(env) ? "native" : "embedded");
}

/** The runtime in which git works where there is one, whatever engine was asked for: for what looks after git's part of a store. */
export function preferGit(runtime: Runtime): Runtime {
  return hasGit(runtime.env) ? { ...runtime, engine: "native" } : runtime;
}

/** Finds the store that the arguments, the environment and the current directory name. */
export function locate(runtime: Runtime, store?: string): Promise<StoreLocation> {
  const { cwd, env, home } = runtime;
  return locateStore({
    cwd,
    env,
    userDataDir: resolveUserPaths(env, home).dataDir,
    git: chooseEngine(runtime) === "native",
    store,
  });
}

/** What the files around a directory say of the project that it is in; the same with and without git. */
export const projects: {
  /** The git dir, shared by all worktrees, of the project around a directory (absolute, without symbolic links); null = none. */
  readonly around: (directory: string) => Promise<string | null>;
  /** The tops of a project's worktrees, absolute; they need not exist. */
  readonly worktrees: (commonDir: string) => Promise<readonly string[]>;
} = { around: findProjectAround, worktrees: listWorktreeTops };

/**
 * Opens the store at `root`; what is written from then on is for those whom it is shared with. `say` is told what the user should
 * know while something takes long. Throws `git_missing`.
 */
export async function openStore(
  runtime: Runtime,
  root: string,
  say?: (text: string) => void,
): Promise<ConversationStore> {
  const store = await openEngine(runtime, root, say);
  setSharingUmask(await sharingOf(store.gitDir));
  return withoutReadme(store);
}

/** The engine that works without git is loaded only where it is used. */
async function openEngine(runtime: Runtime, root: string, say?: (text: string) => void): Promise<ConversationStore> {
  const { env, cwd, now, engine } = runtime;
  // Much is read without git: whoever asks for it is told at once, not in the middle.
  if (engine === "native" && !hasGit(env)) throw gitMissingError(undefined);
  if (chooseEngine(runtime) === "native") return openNativeStore({ root, env, cwd, say });
  const { openEmbeddedStore } = await import("../../store/embedded/store.ts");
  return openEmbeddedStore({ root, env, cwd, now });
}

/** Refuses what only git does, where jpg works without: `needs_git`. `what` begins the sentence, e.g. `A clone`. */
export function requireGit(runtime: Runtime, what: string): void {
  if (chooseEngine(runtime) !== "native") throw needsGit(what, runtime.env);
}

/** Mends what a store says of its place, hooks above all; null where nothing was amiss. Without git nothing runs them. */
export async function mend(runtime: Runtime, root: string): Promise<Mended | null> {
  const { env, nodePath, jpgPath } = runtime;
  return chooseEngine(runtime) === "native" ? mendStore(root, { env, nodePath, jpgPath }) : null;
}

/** Creates the store at `root`, or completes one: idempotent. Whom it does not say to be shared with, the user's own settings say, where git can be asked. */
export async function makeStore(runtime: Runtime, root: string): Promise<void> {
  const { env, cwd, nodePath, jpgPath } = runtime;
  const said = await sharingOf(join(root, ".git"));
  if (chooseEngine(runtime) === "native") {
    setSharingUmask(said ?? (await sharingOfUser(env)));
    return createStore(root, { env, cwd, nodePath, jpgPath });
  }
  setSharingUmask(said);
  const { createStoreWithoutGit } = await import("../../store/embedded/create-store.ts");
  await createStoreWithoutGit(root, { env, cwd, nodePath, jpgPath });
}

// Makes a conversation store, or completes one, and says where it is and where settings go.

interface InitReport {
  /** Absolute path of the store. */
  readonly path: string;
  readonly created: boolean;
  /** The user's own settings: absolute path, and whether this call put the commented template there. */
  readonly settings: { readonly path: string; readonly created: boolean };
  /** What to do next. */
  readonly hints: readonly string[];
}

/** Makes the project's store, or DIR itself a conversation repository. Idempotent. */
export async function initStore(
  runtime: Runtime,
  request: { readonly directory: string | undefined; readonly store: string | undefined },
): Promise<InitReport> {
  const named = request.directory ?? request.store;
  const location = await locate(runtime, named === undefined ? undefined : resolve(runtime.cwd, named));
  await makeStore(runtime, location.root);
  const { configFile } = resolveUserPaths(runtime.env, runtime.home);
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

/** Puts the commented settings where the user's own are read, unless some stand there; false too where that cannot be written. */
async function writeSettingsTemplate(path: string): Promise<boolean> {
  try {
    makeFolders(dirname(path), 0o700);
    return await createFile(path, await readTemplate("config.toml"));
  } catch {
    return false; // nothing hangs on it: jpg works without settings
  }
}

/** Gives the store with its logs remembered until it is closed. Logs of names that may move are read each time. */
export function withCachedLog(store: ConversationStore): ConversationStore {
  const logs = new Map<string, Promise<readonly LogEntry[]>>();
  const readLog = (query: LogQuery): Promise<readonly LogEntry[]> => {
    if (!/^[0-9a-f]{40,64}$/.test(query.from)) return store.readLog(query);
    const key = JSON.stringify([query.from, query.paths ?? [], query.limit ?? null, query.isAside !== undefined]);
    const log = logs.get(key) ?? store.readLog(query);
    logs.set(key, log);
    return log;
  };
  return Object.create(store, { readLog: { value: readLog, enumerable: true } }) as ConversationStore;
}
