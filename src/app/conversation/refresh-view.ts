// Writes VIEW.md and view.jsonl, the projected view, into every worktree of a branch. Rebuilds them when the checked-out tree
// changed, and appends when only turns were added.
import { constants, lstat, open, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import type { ProjectedTurn } from "../../core/conversation/event.ts";
import { unpairedCalls } from "../../core/conversation/tool-pairing.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import { codeOf, JpgError, repositoryError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { appendAll } from "../../core/lists.ts";
import { renderViewLines } from "../../formats/jsonl/write.ts";
import { renderTurnMarkdown, renderViewHeading } from "../../formats/markdown/write.ts";
import { type Draft, openDraft } from "../../store/files.ts";
import type { ConversationStore, Worktree } from "../../store/store.ts";
import { objectId } from "./runtime.ts";
import { conversationTitle } from "./title.ts";
import { type BranchTree, loadBranchTree } from "./tree.ts";
import { readTurnFiles } from "./turns.ts";
import { type KnownTurns, loadCompactions, loadView } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** Turns looked up at once after the newest known one. */
const LOOKAHEAD_TURNS = 32;

/**
 * Updates the views of all worktrees of one or several branches, after a command has done its work: a view that cannot be written
 * (such as on a full disk) is a warning, not a failure. See `writeViews`.
 */
export async function refreshViews(...[workspace, ...rest]: Parameters<typeof writeViews>): Promise<void> {
  try {
    await writeViews(workspace, ...rest);
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "view_not_written") throw error;
    workspace.warn([error.message, ...error.hints].join(" "));
  }
}

/**
 * Updates the views of all worktrees of one or several branches. `parent` = the commit on which the caller has just built, per
 * branch if there are several: worktrees that were at it have followed already. `known` as in `loadView`. Throws
 * `view_not_written`.
 */
export async function writeViews(
  workspace: Workspace,
  branches: string | ReadonlySet<string>,
  parent: string | ReadonlyMap<string, string> | null = null,
  known?: KnownTurns,
): Promise<void> {
  const { store } = workspace;
  const parentOf = (branch: string): string | undefined =>
    parent === null || typeof parent === "string" ? (parent ?? undefined) : parent.get(branch);
  for (const worktree of (await store.worktrees?.list()) ?? []) {
    const { branch } = worktree;
    if (branch === null || (typeof branches === "string" ? branch !== branches : !branches.has(branch))) continue;
    const commit = await store.readBranch(branch);
    if (commit === null) continue;
    await advanceWorktree(store, worktree, { commit, parent: parentOf(branch) });
    await refreshWorktree(workspace, worktree, commit, known).catch(async (error: unknown) => {
      // A checkout whose folder was deleted has no view; `git worktree prune` removes it in time.
      if (await exists(worktree.path)) throw viewError(worktree, error);
    });
  }
}

/**
 * Updates index and files of a worktree whose branch was moved without them (`update-ref`, a reset in another worktree): they are
 * still at the commit of its view. Local changes are kept, and the worktree is left as it is then.
 */
async function advanceWorktree(
  store: ConversationStore,
  worktree: Worktree,
  { commit, parent }: { readonly commit: string; readonly parent: string | undefined },
): Promise<void> {
  const from = recordedCommit(store, worktree);
  if (from === null || from === commit || from === parent) return;
  try {
    await store.worktrees?.advance(worktree, from, commit);
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
  }
}

/** Creates the error for a view that the file system refused. What was committed before stays committed. */
function viewError({ path, branch }: Worktree, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const isTaken = ["EISDIR", "ENOTEMPTY", "EEXIST"].includes(codeOf(error));
  const reason = isTaken ? "something else is in the place of VIEW.md or view.jsonl" : error.message;
  const remedy = isTaken ? `Move it out of ${path}` : `Make room in ${path} or make it writable`;
  return repositoryError(
    "view_not_written",
    `The view of ${branch} in ${path} cannot be written: ${reason}; all commits are in the store.`,
    { hints: [`${remedy}, then \`jpg use ${branch}\` writes the view.`], cause: error },
  );
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Updates one worktree's view to a commit; does nothing if it is current. */
export async function refreshWorktree(
  workspace: Workspace,
  worktree: Worktree,
  commit: string,
  known: KnownTurns = new Map(),
): Promise<void> {
  const found = readViewState(workspace.store, worktree);
  const state = found !== null && (await isUntouched(worktree, found)) ? found : null;
  if (state?.commit === commit && state.branch === worktree.branch) return;
  const added = state === null ? null : await findAddedTurns(workspace.store, { state, worktree, commit });
  const isExtended =
    state !== null && added !== null && (await extendView(workspace.store, worktree, { state, commit, added }));
  if (!isExtended) await rebuildView(workspace, worktree, { commit, known });
}

/**
 * Updates the views of a branch when it is read, if they were missed (`git reset --hard`, `stash`, `update-ref`, a killed `jpg
 * use`). Reading does not fail if a view cannot be written.
 */
export async function refreshStaleViews(workspace: Workspace, { branch, commit }: BranchTree): Promise<void> {
  try {
    for (const worktree of (await workspace.store.worktrees?.list()) ?? []) {
      if (worktree.branch !== branch) continue;
      const state = readViewState(workspace.store, worktree);
      if (state === null || (state.commit === commit && state.branch === branch)) continue;
      if ((await workspace.store.readBranch(branch)) !== commit) continue;
      return await writeViews(workspace, branch);
    }
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
  }
}

/** Appends turns to the existing files; false when they are no longer those jpg wrote. */
async function extendView(
  store: ConversationStore,
  worktree: Worktree,
  { state, commit, added }: { readonly state: ViewState; readonly commit: string; readonly added: readonly string[] },
): Promise<boolean> {
  const raw = (): AsyncGenerator<ProjectedTurn> => rawTurns(store, commit, { oids: added, from: state.turns });
  // A compaction may hide the call of a result; the added turns alone do not show that.
  for await (const { events } of state.reach < 0 ? [] : raw()) if (unpairedCalls(events).response) return false;
  const stamps = await extendViewFiles(worktree, { turns: raw(), stamps: state });
  if (stamps === null) return false;
  await writeViewState(store, worktree, {
    ...state,
    commit,
    turns: state.turns + added.length,
    newestTurn: added[added.length - 1] ?? state.newestTurn,
    ...stamps,
  });
  return true;
}

async function rebuildView(
  workspace: Workspace,
  worktree: Worktree,
  { commit, known }: { readonly commit: string; readonly known: KnownTurns },
): Promise<void> {
  const { store } = workspace;
  await store.excludeViews();
  const tree = await loadBranchTree(store, worktree.branch ?? `detached HEAD ${commit.slice(0, 9)}`, commit);
  const { all, applied } = await loadCompactions(store, tree);
  const title = await conversationTitle(workspace, tree);
  // Without compactions, turns can be rendered one by one.
  const turns =
    applied.length === 0
      ? rawTurns(store, commit, { oids: tree.turnOids, from: 0 })
      : (await loadView(store, tree, { known })).view.turns;
  const heading = renderViewHeading({ title, branch: tree.branch });
  const stamps = await writeViewFiles(worktree, { turns, heading });
  await writeViewState(store, worktree, {
    renderer: RENDERER,
    branch: worktree.branch,
    commit: tree.commit,
    overlays: overlayKey(await store.readEntries(commit, OVERLAYS)),
    reach: all.reduce((reach, compaction) => Math.max(reach, compaction.to_turn), -1),
    turns: tree.turnOids.length,
    newestTurn: tree.turnOids[tree.turnOids.length - 1] ?? "",
    ...stamps,
  });
}

/**
 * Looks up the turns added since the view was made, by path, so that the cost does not grow with the history. Returns their object
 * ids; null when anything else changed.
 */
async function findAddedTurns(
  store: ConversationStore,
  { state, worktree, commit }: { readonly state: ViewState; readonly worktree: Worktree; readonly commit: string },
): Promise<readonly string[] | null> {
  if (state.branch !== worktree.branch || state.reach >= state.turns) return null;
  const newest = turnPath(state.turns - 1);
  const entries = await store.readEntries(commit, state.turns === 0 ? OVERLAYS : [...OVERLAYS, newest]);
  if (overlayKey(entries) !== state.overlays) return null;
  if (state.turns > 0 && entries.get(newest) !== state.newestTurn) return null;
  const added: string[] = [];
  for (;;) {
    const next = state.turns + added.length;
    const paths = Array.from({ length: LOOKAHEAD_TURNS }, (_, index) => turnPath(next + index));
    const found = await store.readEntries(commit, paths);
    const missing = paths.findIndex((path) => !found.has(path));
    const known = paths.slice(0, missing < 0 ? paths.length : missing);
    appendAll(
      added,
      known.map((path) => found.get(path) ?? ""),
    );
    if (missing < 0) continue;
    // A turn after a gap: the branch is damaged, and loading it will say so.
    return found.size === missing ? added : null;
  }
}

/** Reads raw turns of a commit; `from` = position of the first. */
async function* rawTurns(
  store: ConversationStore,
  commit: string,
  { oids, from }: { readonly oids: readonly string[]; readonly from: number },
): AsyncGenerator<ProjectedTurn> {
  const files = oids.map((oid, at) => ({ index: from + at, oid }));
  for await (const { index, events } of readTurnFiles(store, commit, files))
    yield { origin: { kind: "kept", turn: index }, events };
}

// Writes the files turn by turn, so that a view of any size needs little memory. Whole files are written in the worktree's git dir
// and renamed, so that nobody reads half a view and no symbolic link redirects a write. Only a file that is still the one jpg made
// is appended to.

interface ViewStamps {
  readonly markdown: FileStamp;
  readonly jsonl: FileStamp;
}

/** Identifies a file, so that a replacement is recognised. */
interface FileStamp {
  /** Device and inode. */
  readonly file: string;
  readonly size: number;
}

interface ViewContent {
  readonly turns: AsyncIterable<ProjectedTurn> | Iterable<ProjectedTurn>;
  readonly heading: string;
}

type ViewPlace = Pick<Worktree, "path" | "gitDir">;

/** Lines of a result shown in VIEW.md; view.jsonl and `jpg print` have all of it. */
const MAX_LINES = 60;
/** Characters that are buffered before they are written. */
const FLUSHED_CHARACTERS = 1024 * 1024;
/** Appends to an existing file; follows no link, and does not block on a pipe. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function writeViewFiles(place: ViewPlace, { turns, heading }: ViewContent): Promise<ViewStamps> {
  const markdown = await openDraft(place.gitDir, { isCache: true });
  const jsonl = await openDraft(place.gitDir, { isCache: true });
  try {
    await addTurns({ markdown, jsonl }, turns, heading);
    const paths = viewPaths(place);
    await markdown.moveTo(paths.markdown);
    await jsonl.moveTo(paths.jsonl);
    return await stampsOf(place);
  } finally {
    await Promise.all([markdown.discard(), jsonl.discard()]);
  }
}

/** Appends turns to the files; null, and no change, when they are not those that were stamped. */
async function extendViewFiles(
  place: ViewPlace,
  { turns, stamps }: { readonly turns: ViewContent["turns"]; readonly stamps: ViewStamps },
): Promise<ViewStamps | null> {
  const paths = viewPaths(place);
  const markdown = await openStamped(paths.markdown, stamps.markdown);
  const jsonl = markdown === null ? null : await openStamped(paths.jsonl, stamps.jsonl);
  try {
    if (markdown === null || jsonl === null) return null;
    await addTurns({ markdown, jsonl }, turns, "");
    return { markdown: await markdown.stamp(), jsonl: await jsonl.stamp() };
  } finally {
    await Promise.all([markdown?.close(), jsonl?.close()]);
  }
}

/** Reads the stamps of both files; anything but an ordinary file gets a stamp that matches none. */
async function stampsOf(place: ViewPlace): Promise<ViewStamps> {
  const stampAt = async (path: string): Promise<FileStamp> => {
    const found = await lstat(path, { bigint: true }).catch(() => null);
    return found?.isFile() === true ? toStamp(found) : { file: "none", size: -1 };
  };
  const { markdown, jsonl } = viewPaths(place);
  const [own, lines] = await Promise.all([stampAt(markdown), stampAt(jsonl)]);
  return { markdown: own, jsonl: lines };
}

function viewPaths({ path }: ViewPlace): { readonly markdown: string; readonly jsonl: string } {
  return { markdown: join(path, "VIEW.md"), jsonl: join(path, "view.jsonl") };
}

function toStamp({ dev, ino, size }: { readonly dev: bigint; readonly ino: bigint; readonly size: bigint }): FileStamp {
  return { file: `${dev}:${ino}`, size: Number(size) };
}

interface StampedFile extends Pick<Draft, "write"> {
  stamp(): Promise<FileStamp>;
  close(): Promise<void>;
}

async function openStamped(path: string, stamp: FileStamp): Promise<StampedFile | null> {
  const file = await open(path, APPEND).catch(() => null);
  if (file === null) return null;
  const read = async (): Promise<FileStamp> => toStamp(await file.stat({ bigint: true }));
  const { file: found, size } = await read();
  if (found !== stamp.file || size !== stamp.size) {
    await file.close();
    return null;
  }
  return {
    write: async (content) => {
      await file.writeFile(content);
    },
    stamp: read,
    close: () => file.close(),
  };
}

async function addTurns(
  files: { readonly markdown: Pick<Draft, "write">; readonly jsonl: Pick<Draft, "write"> },
  turns: ViewContent["turns"],
  heading: string,
): Promise<void> {
  const pending = { markdown: heading, jsonl: "" };
  const flush = async (name: "markdown" | "jsonl"): Promise<void> => {
    await files[name].write(pending[name]);
    pending[name] = "";
  };
  for await (const turn of turns) {
    pending.markdown += renderTurnMarkdown(turn, { maxLines: MAX_LINES });
    pending.jsonl += renderViewLines({ turns: [turn] });
    if (pending.markdown.length > FLUSHED_CHARACTERS) await flush("markdown");
    if (pending.jsonl.length > FLUSHED_CHARACTERS) await flush("jsonl");
  }
  await flush("markdown");
  await flush("jsonl");
}

interface ViewState extends ViewStamps {
  readonly renderer: number;
  /** Null with a detached HEAD. */
  readonly branch: string | null;
  readonly commit: string;
  /** Object ids of the folders compactions, config and meta; while they stay the same, old turns read the same. */
  readonly overlays: string;
  /** The last turn that a compaction covers, applied or not; -1 = none. Later turns read raw. */
  readonly reach: number;
  readonly turns: number;
  readonly newestTurn: string;
}

const fileStamp = z.object({ file: z.string(), size: z.number() });
const viewState: z.ZodMiniType<ViewState> = z.object({
  renderer: z.number(),
  branch: z.nullable(z.string()),
  commit: objectId,
  overlays: z.string(),
  reach: z.int(),
  turns: z.int().check(z.minimum(0)),
  newestTurn: z.string(),
  markdown: fileStamp,
  jsonl: fileStamp,
});

/** The cache of a worktree's view state. */
export const VIEW_CACHE = "view";
/** To be raised when the files' text changes for the same tree. */
const RENDERER = 4;
/** Folders whose files change how turns read, or the heading of the view. */
const OVERLAYS = ["compactions", "config", "meta"] as const;
async function writeViewState(store: ConversationStore, worktree: Worktree, state: ViewState): Promise<void> {
  await store.cache(VIEW_CACHE, worktree).write(JSON.stringify(state));
}

/** Joins the object ids of the overlay folders into one text. */
function overlayKey(entries: ReadonlyMap<string, string>): string {
  return OVERLAYS.map((folder) => entries.get(folder) ?? "-").join(" ");
}

/** Returns whether the files are those jpg wrote; otherwise somebody edited or replaced them. */
async function isUntouched(worktree: Worktree, { markdown, jsonl }: ViewState): Promise<boolean> {
  const found = await stampsOf(worktree);
  return isSameFile(found.markdown, markdown) && isSameFile(found.jsonl, jsonl);
}

function isSameFile(one: FileStamp, other: FileStamp): boolean {
  return one.file === other.file && one.size === other.size;
}

/** Reads the view state; null when there is none, or another renderer made it. */
function readViewState(store: ConversationStore, worktree: Worktree): ViewState | null {
  const state = parseJson(String(store.cache(VIEW_CACHE, worktree).read()), viewState);
  return state?.renderer === RENDERER ? state : null;
}

/** Returns the commit from which a worktree's view was made, if it is still on that branch; null when there is no view. */
export function recordedCommit(store: ConversationStore, worktree: Worktree): string | null {
  const state = readViewState(store, worktree);
  return state !== null && state.branch === worktree.branch ? state.commit : null;
}
