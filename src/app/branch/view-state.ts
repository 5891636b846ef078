// What the view beside a worktree was made from, kept in a cache of the worktree: whether its files are still the right ones.
import * as z from "zod/mini";
import { parseJson } from "../../core/json.ts";
import type { ConversationStore, Worktree } from "../../store/store.ts";
import { objectId } from "../workspace/object-id.ts";
import { type FileStamp, stampsOf, type ViewStamps } from "./view-files.ts";

/** What a worktree's view was made from. */
export interface ViewState extends ViewStamps {
  readonly renderer: number;
  /** Null of a detached HEAD. */
  readonly branch: string | null;
  readonly commit: string;
  /** Object ids of the folders of compactions, config and meta: while they stay, old turns read as before. */
  readonly overlays: string;
  /** The last turn that a compaction counts for, applied or not; -1 = there is none. Turns after it read as they were said. */
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

/** The cache of what a worktree's view was made from. */
export const VIEW_CACHE = "view";
/** Raised when the files' text changes for the same tree. */
export const RENDERER = 4;
/** Folders whose files change how turns are read, or the heading of the view. */
export const OVERLAYS = ["compactions", "config", "meta"] as const;
/** Keeps what a view was made from. */
export async function writeViewState(store: ConversationStore, worktree: Worktree, state: ViewState): Promise<void> {
  await store.cache(VIEW_CACHE, worktree).write(JSON.stringify(state));
}

/** Object ids of the overlays in one text, of the entries of a tree. */
export function overlayKey(entries: ReadonlyMap<string, string>): string {
  return OVERLAYS.map((folder) => entries.get(folder) ?? "-").join(" ");
}

/** Whether the files are those that were written: others mean that somebody edited or replaced them. */
export async function isUntouched(worktree: Worktree, { markdown, jsonl }: ViewState): Promise<boolean> {
  const found = await stampsOf(worktree);
  return isSameFile(found.markdown, markdown) && isSameFile(found.jsonl, jsonl);
}

function isSameFile(one: FileStamp, other: FileStamp): boolean {
  return one.file === other.file && one.size === other.size;
}

/** What a view was made from; null when there is none, or another renderer made it. */
export function readViewState(store: ConversationStore, worktree: Worktree): ViewState | null {
  const state = parseJson(String(store.cache(VIEW_CACHE, worktree).read()), viewState);
  // Never made, or damaged: the view is made anew.
  return state?.renderer === RENDERER ? state : null;
}

/** The commit a worktree's view was made from, of the branch it is on now; null when there is no view. */
export function recordedCommit(store: ConversationStore, worktree: Worktree): string | null {
  const state = readViewState(store, worktree);
  return state !== null && state.branch === worktree.branch ? state.commit : null;
}
