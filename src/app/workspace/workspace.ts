// The opened store with what surrounds it: where it was found, the settings that hold, the world outside.
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigFile, ConfigInput, ConversationDelta, LoadedConfig } from "../../config/load.ts";
import { PROJECT_CONFIG_NAME, resolveUserPaths } from "../../config/trust.ts";
import { codeOf, JpgError, reasonOf, repositoryError } from "../../core/errors.ts";
import type { ConversationStore, Mended, StoreLocation } from "../../store/store.ts";
import { chooseEngine, locate, makeStore, mend, openStore } from "./engine.ts";
import { withRememberedLog } from "./remembered-log.ts";
import type { Runtime } from "./runtime.ts";
import { createStoreOnWrite } from "./store-on-write.ts";

/** Most ignored settings that a warning names. */
const NAMED_KEYS = 8;

export interface WorkspaceOptions {
  /** `--store DIR`. */
  readonly store?: string;
  /** `--cfg KEY=VALUE`, in the order given. */
  readonly overrides?: readonly string[];
  /** Make the store, when there is none, as soon as something is written to it. */
  readonly create?: boolean;
  /** Told what was set right in the store: what moved, what was left half done. Without it nothing is looked at. */
  readonly info?: (message: string) => void;
  /** Told, once a call, of what the user should know of the settings and the store. */
  readonly warn?: (message: string) => void;
}

export interface Workspace {
  readonly store: ConversationStore;
  readonly location: StoreLocation;
  readonly runtime: Runtime;
  readonly overrides: readonly string[];
  /** Settings in force, with a conversation's own layer and the providers that the user named for it when given. */
  config(deltas?: readonly ConversationDelta[], named?: readonly string[]): Promise<LoadedConfig>;
  /** Says something that the user should know, each text once a call. */
  warn(message: string): void;
  close(): Promise<void>;
}

/** The workspace with the settings of this call in force, but not to be stored: somebody has, or nobody asked for that. */
export function withoutOverrides(workspace: Workspace): Workspace {
  return { ...workspace, overrides: [] };
}

/** Locates and opens the store. Throws `no_store` when there is none and `create` was not asked for. */
export async function openWorkspace(runtime: Runtime, options: WorkspaceOptions = {}): Promise<Workspace> {
  const location = await locate(runtime, options.store);
  if (!location.exists && options.create !== true) throw noStore(location);
  if (location.exists) await keepInPlace(runtime, location.root, options);
  const warned = new Set<string>();
  const warn = (message: string): void => {
    if (!warned.has(message)) options.warn?.(message);
    warned.add(message);
  };
  const store = withRememberedLog(
    location.exists
      ? await openStore(runtime, location.root, warn)
      : createStoreOnWrite(location.root, chooseEngine(runtime), async () => {
          await makeStore(runtime, location.root);
          return openStore(runtime, location.root, warn);
        }),
  );
  if (location.exists) await settleSteps(store, options);
  return {
    store,
    location,
    runtime,
    overrides: options.overrides ?? [],
    config: async (conversation = [], named = []) => {
      const overrides = options.overrides ?? [];
      const loaded = await readConfig(runtime, location, { conversation, overrides, named });
      if (loaded.ignored.length === 0) return loaded;
      const { renderIgnored } = await import("../../config/load.ts");
      for (const message of renderIgnored(loaded.ignored)) warn(message);
      return loaded;
    },
    warn,
    close: () => store.close(),
  };
}

/** Warns of the settings in the store's own git configuration that jpg's git does not follow, if there are any. */
export function warnOfPrograms({ location, store, warn }: Workspace): void {
  if (!location.exists) return;
  const keys = store.ignoredSettings();
  if (keys.length === 0) return;
  const more = keys.length > NAMED_KEYS ? ` and ${keys.length - NAMED_KEYS} more` : "";
  const named = `${keys.slice(0, NAMED_KEYS).join(", ")}${more}`;
  warn(
    `jpg ignores what the store's own git configuration would start or reach: ${named}. It follows your own (--global).`,
  );
}

/** Mends what a store says of its place, and says so in one line. */
async function keepInPlace(runtime: Runtime, root: string, { info }: Pick<WorkspaceOptions, "info">): Promise<void> {
  const mended = info === undefined ? null : await mend(runtime, root);
  if (mended === null) return;
  const { kind, foreign, worktrees, isShallow = false } = mended;
  const own =
    foreign.length === 0 ? "" : ` Your own hooks stay (${foreign.join(", ")}): after them \`jpg use @\` writes it.`;
  const joined = worktrees === 0 ? "" : ` So do its worktrees (${worktrees}).`;
  const rest = isShallow ? " Its history is cut off: `jpg git fetch --unshallow` brings the rest." : "";
  info?.(`${MENDED[kind].replace("STORE", root)}${joined}${own}${rest}`);
}

/** Settles what a killed command left half done in worktrees, and says so. What cannot be settled now stays for the next. */
async function settleSteps({ worktrees }: ConversationStore, { info }: Pick<WorkspaceOptions, "info">): Promise<void> {
  if (info === undefined || worktrees === null) return;
  try {
    for (const { kind, branch, active, path } of await worktrees.settle()) {
      const done =
        kind === "advance"
          ? `A command ended before the files of ${branch} in ${path} were brought up to date; they are now.`
          : `\`jpg use ${branch}\` ended midway: ${path} has again the files of ${active ?? "the commit that is checked out"}.`;
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

/** The project's config file for a store location; null outside a project. */
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
 * Reads the project's config file; null when it does not exist. Whoever made the project may have put a link there, to a file
 * that an error would quote, or a pipe, on which one waits for ever. Throws `config_no_file`.
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

/** The schema and the TOML reader are loaded only when a layer says something: most calls have the built-in settings. */
async function readConfig(
  runtime: Runtime,
  location: StoreLocation,
  given: Required<Pick<ConfigInput, "conversation" | "overrides" | "named">>,
): Promise<LoadedConfig> {
  const { configFile, trustFile } = resolveUserPaths(runtime.env, runtime.home);
  const projectPath = projectConfigFile(location);
  const [user, project] = [
    asConfigFile(configFile, await readIfExists(configFile)),
    projectPath === null ? null : asConfigFile(projectPath, await readProjectConfig(projectPath)),
  ];
  const isNothingGiven = Object.values(given).every((list) => list.length === 0);
  if (user === null && project === null && isNothingGiven) return (await import("../../config/load.ts")).loadBuiltIn();
  const { loadConfig } = await import("../../config/load.ts");
  return loadConfig({
    ...(user === null ? {} : { user }),
    ...(project === null ? {} : { project: await withTrust(project, trustFile) }),
    ...given,
  });
}

function asConfigFile(path: string, text: string | null): ConfigFile | null {
  return text === null ? null : { path, text };
}

/** Says of a project's file whether the user trusted exactly this text. */
async function withTrust(file: ConfigFile, trustFile: string): Promise<NonNullable<ConfigInput["project"]>> {
  const [{ isTrusted, trustDigest }, trust] = await Promise.all([
    import("../../config/trust.ts"),
    readIfExists(trustFile),
  ]);
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
