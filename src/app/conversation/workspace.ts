// Opens a store together with its location, the settings in force and the runtime.
import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import {
  type ConfigFile,
  type ConfigInput,
  type ConversationDelta,
  type LoadedConfig,
  loadConfig,
  renderIgnored,
} from "../../config/load.ts";
import { isTrusted, PROJECT_CONFIG_NAME, resolveUserPaths, trustDigest } from "../../config/trust.ts";
import { codeOf, JpgError, reasonOf, repositoryError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { journalFolder } from "../../store/git-dir.ts";
import type { Sharing } from "../../store/sharing.ts";
import {
  type BranchWrite,
  type Cache,
  type ConversationStore,
  type Mended,
  NO_CACHE,
  type StoreLocation,
  type StoreServices,
  type WriteResult,
} from "../../store/store.ts";
import { chooseEngine, locate, makeStore, mend, openStoreAt, withCachedLog } from "./engine.ts";
import type { ReportProgress } from "./progress.ts";
import { type Runtime, sha256 } from "./runtime.ts";

/** Most ignored settings that a warning names. */
const MOST_NAMED_KEYS = 8;

export interface WorkspaceOptions {
  /** `--store DIR`. */
  readonly store?: string;
  /** `--cfg KEY=VALUE`, in the order given. */
  readonly overrides?: readonly string[];
  /** Create a missing store at its first write. */
  readonly create?: boolean;
  /** Receives what was repaired in the store (moved hooks, half-done commands). Without it nothing is repaired. */
  readonly info?: (message: string) => void;
  /** Receives warnings about the settings and the store. */
  readonly warn?: (message: string) => void;
  /** Receives how far long work is. */
  readonly progress?: ReportProgress;
}

export interface Workspace {
  readonly store: ConversationStore;
  readonly location: StoreLocation;
  readonly runtime: Runtime;
  readonly overrides: readonly string[];
  /** Loads the settings in force; optionally with a conversation's layer and the providers that the user named for it. */
  config(deltas?: readonly ConversationDelta[], named?: readonly string[]): Promise<LoadedConfig>;
  /** Warns the user; repeats no text within a call. */
  warn(message: string): void;
  /** Says how far long work is; a loop calls it through `countProgress`. */
  readonly progress: ReportProgress;
  close(): Promise<void>;
}

/** Returns a workspace that does not store this call's `--cfg` settings: they are stored already, or need not be. */
export function withoutOverrides(workspace: Workspace): Workspace {
  return { ...workspace, overrides: [] };
}

/** Locates and opens the store. Throws `no_store` if there is none and `create` is not set. */
export async function openWorkspace(runtime: Runtime, options: WorkspaceOptions = {}): Promise<Workspace> {
  const location = await locate(runtime, options.store);
  if (!location.exists && options.create !== true) throw noStore(location);
  if (location.exists) await mendLocation(runtime, location.root, options);
  const warned = new Set<string>();
  const warn = (message: string): void => {
    if (!warned.has(message)) options.warn?.(message);
    warned.add(message);
  };
  const store = withCachedLog(
    location.exists
      ? await openStoreAt(runtime, location.root, warn)
      : createStoreOnWrite(location.root, chooseEngine(runtime), async () => {
          await makeStore(runtime, location.root);
          return openStoreAt(runtime, location.root, warn);
        }),
  );
  if (location.exists) await finishInterruptedSteps(store, options);
  return {
    store,
    location,
    runtime,
    overrides: options.overrides ?? [],
    config: async (conversation = [], named = []) => {
      const overrides = options.overrides ?? [];
      const loaded = await readConfig(runtime, location, { conversation, overrides, named });
      if (loaded.ignored.length === 0) return loaded;
      for (const message of renderIgnored(loaded.ignored)) warn(message);
      return loaded;
    },
    warn,
    progress: options.progress ?? (() => undefined),
    close: () => store.close(),
  };
}

/** Warns about settings in the store's own git configuration that jpg's git ignores. */
export function warnOfPrograms({ location, store, warn }: Workspace): void {
  if (!location.exists) return;
  const keys = store.ignoredSettings();
  if (keys.length === 0) return;
  const more = keys.length > MOST_NAMED_KEYS ? ` and ${keys.length - MOST_NAMED_KEYS} more` : "";
  const named = `${keys.slice(0, MOST_NAMED_KEYS).join(", ")}${more}`;
  warn(
    `jpg ignores what the store's own git configuration would start or reach: ${named}. It follows your own (--global).`,
  );
}

/** Repairs the paths that a store records, and reports it in one line. */
async function mendLocation(runtime: Runtime, root: string, { info }: Pick<WorkspaceOptions, "info">): Promise<void> {
  const mended = info === undefined ? null : await mend(runtime, root);
  if (mended === null) return;
  const { kind, foreign, worktrees, isShallow = false } = mended;
  const own =
    foreign.length === 0
      ? ""
      : ` Your own hooks stay (${foreign.join(", ")}): they do not update VIEW.md, \`jpg use @\` does.`;
  const joined = worktrees === 0 ? "" : ` So do its worktrees (${worktrees}).`;
  const rest = isShallow ? " Its history is cut off: `jpg git fetch --unshallow` fetches the rest." : "";
  info?.(`${MENDED[kind].replace("STORE", root)}${joined}${own}${rest}`);
}

/**
 * Finishes or undoes what a killed command left half done in worktrees, and reports it. What fails now is left for the next
 * command.
 */
async function finishInterruptedSteps(
  { worktrees }: ConversationStore,
  { info }: Pick<WorkspaceOptions, "info">,
): Promise<void> {
  if (info === undefined || worktrees === null) return;
  try {
    for (const { kind, branch, active, path } of await worktrees.settle()) {
      const done =
        kind === "advance"
          ? `A command ended before the files of ${branch} in ${path} were brought up to date; they are now.`
          : `\`jpg use ${branch}\` was interrupted: ${path} has the files of ${active ?? "the commit that is checked out"} again.`;
      info(done);
    }
  } catch (error) {
    if (!(error instanceof JpgError) && codeOf(error) === "") throw error;
  }
}

const MENDED: Readonly<Record<Mended["kind"], string>> = {
  moved: "STORE was moved or copied: its hooks and its readable diffs work here again.",
  programs: "The hooks of STORE called a node or jpg that is gone: they call this one now.",
  clone: "STORE is a clone without jpg's hooks: it has them now, and stock git keeps VIEW.md up to date in it.",
};

/** Returns the path of the project's config file; null outside a project. */
export function projectConfigFile(location: StoreLocation): string | null {
  return location.project === undefined ? null : join(location.project.root, PROJECT_CONFIG_NAME);
}

/** Reads a text file; null when it does not exist. */
export async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return null;
    throw new JpgError("config", "unreadable_file", `${path} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}

/**
 * Reads the project's config file; null when it does not exist. Refuses anything but a file: a stranger's project may have a link,
 * whose target an error would quote, or a pipe, which blocks for ever. Throws `config_no_file`.
 */
export async function readProjectConfig(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null || found.isFile()) return await readIfExists(path);
  const what = found.isSymbolicLink() ? "a symbolic link" : "not a file";
  throw new JpgError(
    "config",
    "config_no_file",
    `${path} is ${what}, but a project's settings are read only from a file.`,
    {
      hints: [`Put the settings in a file of that name, or remove it: rm ${path}`],
    },
  );
}

/** Merges the settings of the user and the project with those given. */
async function readConfig(
  runtime: Runtime,
  location: StoreLocation,
  given: Required<Pick<ConfigInput, "conversation" | "overrides" | "named">>,
): Promise<LoadedConfig> {
  const { configFile, trustFile } = resolveUserPaths(runtime);
  const projectPath = projectConfigFile(location);
  const [user, project] = [
    asConfigFile(configFile, await readIfExists(configFile)),
    projectPath === null ? null : asConfigFile(projectPath, await readProjectConfig(projectPath)),
  ];
  return loadConfig({
    ...(user === null ? {} : { user }),
    ...(project === null ? {} : { project: await withTrust(project, trustFile) }),
    ...given,
  });
}

function asConfigFile(path: string, text: string | null): ConfigFile | null {
  return text === null ? null : { path, text };
}

/** Adds whether the user trusts the file exactly as it is. */
async function withTrust(file: ConfigFile, trustFile: string): Promise<NonNullable<ConfigInput["project"]>> {
  const trust = await readIfExists(trustFile);
  return { ...file, trusted: isTrusted(file.path, trustDigest(file.text), trust ?? undefined) };
}

function noStore(location: StoreLocation): JpgError {
  return repositoryError("no_store", `There is no conversation store at ${location.root}.`, {
    hints: [
      "`jpg import` imports this project's sessions and creates the store.",
      "`jpg pull` gets what others pushed to the project's origin, and creates it too.",
      "`jpg init` creates an empty one.",
      "`--store DIR` or JPG_STORE uses another.",
    ],
  });
}

// A store that is created by its first write, so that a command which writes nothing leaves no empty store. Until then it is empty.

/** Returns a store for `root`; its first write calls `make`, which creates and opens it. */
export function createStoreOnWrite(
  root: string,
  engine: ConversationStore["engine"],
  make: () => Promise<ConversationStore>,
): ConversationStore {
  let made: ConversationStore | null = null;
  const open = async (): Promise<ConversationStore> => {
    made ??= await make();
    return made;
  };
  return {
    engine,
    root,
    gitDir: gitDirOf(root),
    get worktrees() {
      return made?.worktrees ?? null;
    },
    get trash() {
      return made?.trash ?? null;
    },
    get remotes() {
      return made?.remotes ?? null;
    },
    get sharing() {
      return made?.sharing ?? (made === null && engine === "native" ? sharingOf(open) : null);
    },
    get histories() {
      return made?.histories ?? null;
    },
    get partial() {
      return made?.partial ?? null;
    },
    ...servicesOf(root, () => made, open),
    get objectsRead() {
      return made?.objectsRead ?? 0;
    },
    listBranches: async (onUnreadable) => (await made?.listBranches(onUnreadable)) ?? [],
    listBranchesWith: async (commit) => (await made?.listBranchesWith(commit)) ?? [],
    readBranch: async (name) => (await made?.readBranch(name)) ?? null,
    readActiveBranch: async () => (await made?.readActiveBranch()) ?? null,
    resolveCommit: async (revision, worktree) => (await made?.resolveCommit(revision, worktree)) ?? null,
    useBranch: async (name, worktree) => (await open()).useBranch(name, worktree),
    listTree: async (commit, query) => (await open()).listTree(commit, query),
    readEntries: async (commit, paths) => (await open()).readEntries(commit, paths),
    async *readBlobs(oids, atLeast) {
      if (oids.length > 0) yield* (await open()).readBlobs(oids, atLeast);
    },
    readCommitTimes: async (commits) => (await open()).readCommitTimes(commits),
    readLog: async (query) => (await open()).readLog(query),
    findText: async (commits, query) => (await made?.findText(commits, query)) ?? new Map(),
    write: async (writes) => writeUnlessEmpty(writes, open),
    verify: async () => (await made?.verify()) ?? { problems: [], rewritten: [] },
    createBranch: async (name, commit) => (await open()).createBranch(name, commit),
    close: async () => made?.close(),
  };
}

/** Until the store exists, its caches and other services do nothing. */
function servicesOf(
  root: string,
  made: () => ConversationStore | null,
  open: () => Promise<ConversationStore>,
): StoreServices {
  return {
    cache: (name, worktree) => {
      const cache = (): Cache => made()?.cache(name, worktree) ?? NO_CACHE;
      return {
        read: (key) => cache().read(key),
        write: (content, key) => cache().write(content, key),
        drop: (key) => cache().drop(key),
      };
    },
    dropCaches: async () => made()?.dropCaches(),
    journal: () => made()?.journal() ?? journalFolder(gitDirOf(root)),
    keepText: async (name, text) => (await made()?.keepText(name, text)) ?? null,
    editor: async () => (await made()?.editor()) ?? null,
    identity: async () => (await open()).identity(),
    previousBranch: async (worktree) => (await made()?.previousBranch(worktree)) ?? null,
    formerTips: async (branch) => (await made()?.formerTips(branch)) ?? [],
    cutOffCommits: async () => (await made()?.cutOffCommits()) ?? new Set(),
    isPublished: async () => (await made()?.isPublished()) ?? false,
    recordPublished: async (commits) => made()?.recordPublished(commits),
    maskedCopies: () => made()?.maskedCopies() ?? null,
    excludeViews: async () => made()?.excludeViews(),
    configureBranches: async (names) => made()?.configureBranches(names),
    ignoredSettings: () => made()?.ignoredSettings() ?? [],
    maintain: async () => made()?.maintain(),
    upkeep: async () => (await made()?.upkeep()) ?? null,
  };
}

/** Until the store exists it has no remote; adding one creates the store. */
function sharingOf(open: () => Promise<ConversationStore>): Sharing {
  const opened = async (): Promise<Sharing> => {
    const { sharing } = await open();
    if (sharing === null) throw new TypeError("The native engine shares.");
    return sharing;
  };
  return {
    remotes: () => Promise.resolve([]),
    tracked: () => Promise.resolve([]),
    present: () => Promise.resolve(new Set()),
    localConversations: () => Promise.resolve(new Set()),
    addRemote: async (remote) => (await opened()).addRemote(remote),
    removeRemote: async (name) => (await opened()).removeRemote(name),
    listRefs: async (url, options) => (await opened()).listRefs(url, options),
    fetch: async (remote, options) => (await opened()).fetch(remote, options),
    follow: async (remote, branches) => (await opened()).follow(remote, branches),
    push: async (remote, tips, options) => (await opened()).push(remote, tips, options),
    outgoing: async (objects) => (await opened()).outgoing(objects),
    touching: async (objects, path) => (await opened()).touching(objects, path),
    bundle: async (branches) => (await opened()).bundle(branches),
    forgetTracked: async (name) => (await opened()).forgetTracked(name),
    mergeBases: async (pairs, firstParentOnly) => (await opened()).mergeBases(pairs, firstParentOnly),
    markLocal: async (conversation, isLocal) => (await opened()).markLocal(conversation, isLocal),
  };
}

function gitDirOf(root: string): string {
  return join(root, ".git");
}

type Writes = Iterable<BranchWrite> | AsyncIterable<BranchWrite>;

async function writeUnlessEmpty(
  writes: Writes,
  open: () => Promise<ConversationStore>,
): Promise<readonly WriteResult[]> {
  const all = eachOf(writes);
  const first = await all.next();
  if (first.done === true) return [];
  try {
    const store = await open();
    return await store.write(startingWith(first.value, all));
  } finally {
    await all.return(undefined);
  }
}

async function* eachOf(writes: Writes): AsyncGenerator<BranchWrite, undefined> {
  yield* writes;
}

async function* startingWith(first: BranchWrite, rest: AsyncIterable<BranchWrite>): AsyncGenerator<BranchWrite> {
  yield first;
  yield* rest;
}

// Providers that the user named for a conversation with `--model`, so that it continues without naming them again. Stored in the
// user's state folder: what came with a store or a clone must not name any.

const FORMAT = 1;
const providersFile = z.object({ format: z.literal(FORMAT), providers: z.array(z.string()) });

/** Lists the providers that the user named for a conversation of this store; none if the file cannot be parsed. */
export async function rememberedProviders(workspace: Workspace, conversation: string): Promise<readonly string[]> {
  const text = await readIfExists(fileOf(workspace, conversation));
  // Without the file, the user has to name the provider again.
  return parseJson(text ?? "", providersFile)?.providers ?? [];
}

/** Remembers a provider that the user named. Throws the file system's errors. */
export async function rememberProvider(workspace: Workspace, conversation: string, provider: string): Promise<void> {
  const before = await rememberedProviders(workspace, conversation);
  if (before.includes(provider)) return;
  const path = fileOf(workspace, conversation);
  makeFolders(dirname(path));
  const record = { format: FORMAT, store: workspace.location.root, conversation, providers: [...before, provider] };
  await replaceFile(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

function fileOf({ runtime, location }: Workspace, conversation: string): string {
  const { stateDir } = resolveUserPaths(runtime);
  return join(stateDir, "providers", `${sha256(`${location.root}\0${conversation}`)}.json`);
}
