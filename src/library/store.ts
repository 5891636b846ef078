// The store as other programs use it: `openStore` and what can be done with one. Each method calls the function of src/app that the
// command of the same name calls. Errors are JpgError; nothing is printed.
import { statSync } from "node:fs";
import { compact } from "../app/compact/compact.ts";
import type { CompactReport } from "../app/compact/compact-report.ts";
import { restoreUmask } from "../app/conversation/runtime.ts";
import { inlineView } from "../app/conversation/turns.ts";
import { loadHistory, loadView } from "../app/conversation/view.ts";
import { openWorkspace, type Workspace } from "../app/conversation/workspace.ts";
import { type DiffReport, diffConversation } from "../app/diff/diff.ts";
import { exportConversation } from "../app/import/export.ts";
import { type ImportOutcome, importSessions } from "../app/import/import.ts";
import { LIST_ORDERS, type ListOrder, type ListRow, listConversations } from "../app/look/list.ts";
import { type SearchHit, type SearchScope, searchConversations } from "../app/look/search.ts";
import { type ShowReport, show } from "../app/look/show.ts";
import { type AppendReport, appendEvents, createConversation, type NewEvent } from "../app/manage/append-events.ts";
import { type ForkReport, forkConversation } from "../app/manage/fork.ts";
import { type RevertReport, revertCompactions } from "../app/manage/revert.ts";
import { resolveTree, resolveWhole, resolveWholeTree } from "../app/names/resolve-id.ts";
import { chooseWritten } from "../core/compact/strategies/written-strategies.ts";
import { EXTRACTIVE } from "../core/conversation/compaction.ts";
import type { View } from "../core/conversation/event.ts";
import { parseBound, type RangeBound } from "../core/conversation/range-bound.ts";
import { userError } from "../core/errors.ts";
import { createLibraryRuntime, type World } from "./runtime.ts";

export interface OpenOptions extends World {
  /** A folder of the project whose store it is. Default: the current folder. */
  readonly directory?: string;
  /** The store's own folder, as `jpg --store` takes it, instead of a project's. */
  readonly store?: string;
  /** Create a store that is missing, at its first write (default false: `no_store`). */
  readonly create?: boolean;
  /** Settings for this store while it is open, as `jpg --cfg` takes them: `KEY=VALUE`. */
  readonly settings?: readonly string[];
  /** Receives what the command prints as warnings. */
  readonly onWarning?: (message: string) => void;
}

export interface ListOptions {
  /** Only conversations of this agent, by the name of its format. */
  readonly agent?: string;
  /** Only conversations with all of these labels. */
  readonly labels?: readonly string[];
  /** Only archived conversations (default: they are left out). */
  readonly archived?: boolean;
  /** One row for each fork, archived ones and sub-agents included. */
  readonly forks?: boolean;
  /** Newest message, largest view or most expensive first; default: age. */
  readonly order?: ListOrder;
  /** Most rows. */
  readonly limit?: number;
}

export interface ImportOptions {
  /** Format of the files; default: detected. */
  readonly format?: string;
  /** Make forks of branches that the agent abandoned, too. */
  readonly allBranches?: boolean;
}

/** A turn's position, 0-based, or a bound as the command takes it: `-2`, `5h`, `yesterday`, `last`. */
export type Bound = number | string;

export interface CompactOptions {
  /** As after `-s`: `auto`, `["dedup-tools", "truncate:head=0.7"]`; default: a profile. */
  readonly strategies?: string | readonly string[];
  /** Default: the profile in the settings. */
  readonly profile?: string;
  readonly from?: Bound;
  readonly to?: Bound;
  /** Turns to leave alone at the end; default: `keep_last` of the settings. */
  readonly keep?: number;
  /** Model that writes a summary, if one is needed. Default: none is asked, and the summary is an extract. */
  readonly model?: string;
  /** What a summary should focus on. */
  readonly focus?: readonly string[];
  /** Plan, and commit nothing. */
  readonly dryRun?: boolean;
  /** Commit on a new fork; default: as the settings say. */
  readonly fork?: boolean;
  /** Also if it saves little, or a turn is unfinished. */
  readonly force?: boolean;
  /** Ends the writing of a summary; nothing is committed then. */
  readonly signal?: AbortSignal;
}

export interface ExportOptions {
  /** An agent (`claude-code`), an API (`anthropic`), `jsonl` or `markdown`: the formats of `jpg export --to`. */
  readonly to: string;
  /** All that was said instead of the view. */
  readonly history?: boolean;
  /** For an API: only the messages, not a whole request. */
  readonly messages?: boolean;
  /** Model that will read it: reasoning of other families is left out, and a request names it. */
  readonly model?: string;
}

export interface ForkOptions {
  /** Name of the fork; default: chosen by jpg. */
  readonly name?: string;
  /** Only the first so many turns. */
  readonly first?: number;
  /** Show only the last so many turns. */
  readonly last?: number;
  /** Make the fork active (default false). */
  readonly activate?: boolean;
}

export interface SearchOptions {
  /** Only in this conversation and its forks. */
  readonly conversation?: string;
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
  /** Any words of the pattern, the best match first. */
  readonly rank?: boolean;
  /** Only what these said. */
  readonly in?: readonly SearchScope[];
  /** Most hits. */
  readonly limit?: number;
}

/**
 * An open store. A conversation is named as for the command: by its name, one of its forks, or the beginning of one; `@`, or
 * nothing, is the active one. What changes a conversation that is not active takes its whole name.
 */
export interface Store {
  /** Folder of the store, absolute. */
  readonly path: string;
  /** Lists conversations. One that cannot be read is left out, with a warning. */
  list(options?: ListOptions): Promise<readonly ListRow[]>;
  /**
   * Imports session files or folders of them, relative to `directory`. A file that was imported before only adds what is new.
   * Throws if the only file that was named cannot be imported; else `failed` says which could not.
   */
  import(paths: string | readonly string[], options?: ImportOptions): Promise<ImportOutcome>;
  /** Begins a conversation. The first event is a request. */
  create(events: readonly NewEvent[], options?: { readonly title?: string }): Promise<AppendReport>;
  /** Appends events. Each request of a person begins a turn; events before one continue the newest turn. */
  append(conversation: string, events: readonly NewEvent[]): Promise<AppendReport>;
  /** Compacts a conversation; with `compaction: null` the report says why there was nothing to do. */
  compact(conversation?: string, options?: CompactOptions): Promise<CompactReport>;
  /** Reads what the model sees, attachments included. */
  view(conversation?: string): Promise<View>;
  /** Reads all that was said, attachments included. */
  history(conversation?: string): Promise<View>;
  /** Writes a conversation in another format. */
  export(conversation: string | undefined, options: ExportOptions): Promise<string>;
  /** Compares the views before and after a compaction (default: the newest), or at two revisions: `REV..REV`. */
  diff(conversation?: string, what?: string): Promise<DiffReport>;
  /** Shows a conversation, an event, or a compaction and what it hides, by `kind`. */
  show(id?: string): Promise<ShowReport>;
  /** Finds events by their text, hidden ones too. */
  search(pattern: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** Makes a fork, which shares the history. */
  fork(conversation?: string, options?: ForkOptions): Promise<ForkReport>;
  /** Undoes compactions, by their ids. */
  revert(compactions: string | readonly string[], conversation?: string): Promise<RevertReport>;
  /**
   * Closes the store, after what is still running in it; every other method throws `store_closed` from now on. The umask of this
   * process, which is 077 while a store is open, is what it was before. A store that is closed already stays closed.
   */
  close(): Promise<void>;
}

/** Stores that are open in this process. */
let openStores = 0;

/**
 * Opens a store: a project's, by any folder in it, or the one in a folder of its own. Throws `no_such_folder`, `no_store`,
 * `git_missing`.
 */
export async function openStore(options: OpenOptions | string = {}): Promise<Store> {
  const {
    directory = ".",
    store,
    create,
    settings,
    onWarning,
    ...world
  } = typeof options === "string" ? { directory: options } : options;
  const runtime = createLibraryRuntime(directory, world);
  if (statSync(runtime.cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw userError("no_such_folder", `${runtime.cwd} is no folder.`, {
      hints: ["`directory` names a folder of a project; `store` a store in a folder of its own."],
    });
  openStores++;
  try {
    return storeOf(await openWorkspace(runtime, { store, create, overrides: settings, warn: onWarning }));
  } catch (error) {
    leaveStore();
    throw error;
  }
}

function leaveStore(): void {
  openStores--;
  if (openStores === 0) restoreUmask();
}

function storeOf(workspace: Workspace): Store {
  const { root } = workspace.location;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.allSettled(running);
    await workspace.close().finally(leaveStore);
  };
  const whileOpen = (method: Method): Method => {
    return async (...given) => {
      if (closing !== undefined)
        throw userError("store_closed", `The store ${root} was closed.`, {
          hints: ["Open it again with `openStore`."],
        });
      const run = method(...given);
      running.add(run);
      return run.finally(() => running.delete(run));
    };
  };
  const methods = { ...readingMethods(workspace), ...writingMethods(workspace) };
  const guarded = Object.entries(methods).map(([name, method]) => [name, whileOpen(method as Method)]);
  return {
    path: root,
    ...(Object.fromEntries(guarded) as typeof methods),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

type Method = (...given: unknown[]) => Promise<unknown>;

type Reading = Pick<Store, "list" | "view" | "history" | "export" | "diff" | "show" | "search">;

function readingMethods(workspace: Workspace): Reading {
  const { store } = workspace;
  return {
    list: async ({ agent, labels, archived, forks = false, order, limit } = {}) => {
      if (order !== undefined && !LIST_ORDERS.includes(order))
        throw userError("usage", `\`order\` is one of ${LIST_ORDERS.join(", ")}; got ${String(order)}.`);
      if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
        throw userError("usage", `\`limit\` is a number of rows from 0 on; got ${String(limit)}.`);
      const choice = { all: forks, archived, labels, agent, order, most: limit };
      const { rows, unreadable } = await listConversations(workspace, choice);
      for (const { branch, error } of unreadable) workspace.warn(`${branch} cannot be read: ${error.message}`);
      return rows;
    },
    view: async (id) => {
      const tree = await resolveTree(workspace, id);
      return inlineView(store, tree.commit, (await loadView(store, tree)).view);
    },
    history: async (id) => {
      const tree = await resolveTree(workspace, id);
      return inlineView(store, tree.commit, await loadHistory(store, tree));
    },
    export: async (id, { to, history = false, messages, model }) =>
      exportConversation(workspace, await resolveWholeTree(workspace, id), {
        to,
        fullHistory: history,
        messages,
        model,
      }),
    diff: (id, what) => diffConversation(workspace, what === undefined ? [id ?? "@"] : [id ?? "@", what], {}),
    show: (id) => show(workspace, id),
    search: async (pattern, { conversation: id, in: scopes, ...rest } = {}) => {
      const { hits, unreadable } = await searchConversations(workspace, { pattern, id, scopes, ...rest });
      for (const { branch, error } of unreadable) workspace.warn(`${branch} cannot be read: ${error.message}`);
      return hits;
    },
  };
}

type Writing = Pick<Store, "import" | "create" | "append" | "compact" | "fork" | "revert">;

function writingMethods(workspace: Workspace): Writing {
  return {
    import: async (paths, { format, allBranches = false } = {}) => {
      const named = typeof paths === "string" ? [paths] : paths;
      if (named.length === 0) throw userError("usage", "No session file was named.");
      return importSessions(workspace, { paths: named, format, allBranches, keepActive: true });
    },
    create: (events, options) => createConversation(workspace, events, options),
    append: async (id, events) => appendEvents(workspace, await resolveWhole(workspace, id), events),
    compact: async (id, options = {}) => compactStored(workspace, id, options),
    fork: async (id, { activate = false, ...options } = {}) =>
      forkConversation(workspace, await resolveTree(workspace, id), { ...options, activate }),
    revert: async (ids, id) => {
      const branch = id === undefined ? undefined : (await resolveWhole(workspace, id)).branch;
      return revertCompactions(workspace, typeof ids === "string" ? [ids] : ids, branch);
    },
  };
}

async function compactStored(
  workspace: Workspace,
  id: string | undefined,
  { strategies, from, to, keep, model = EXTRACTIVE, ...rest }: CompactOptions,
): Promise<CompactReport> {
  const { runtime } = workspace;
  const bound = (given: Bound | undefined): RangeBound | undefined =>
    given === undefined ? undefined : parseBound(String(given), runtime);
  const words = typeof strategies === "string" ? [strategies] : strategies;
  const chosen: Partial<ReturnType<typeof chooseWritten>> = words?.length ? chooseWritten(words) : {};
  return compact(workspace, await resolveWhole(workspace, id), {
    ...rest,
    model,
    strategies: chosen.strategies,
    range: { from: bound(from), to: bound(to), keep, protectTokens: chosen.protectTokens },
    activate: false,
  });
}
