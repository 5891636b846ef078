// What follows from where a branch is, kept so that nobody works it out twice: its turns, whether they follow each other, what a list
// says of it. One sealed file a branch, believed because jpg wrote it in this very folder; each part names its commit.
import type { ParentSession } from "../../core/conversation/branch-files.ts";
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import type { ConversationStore } from "../../store/store.ts";
import { openSealedCache } from "./caches.ts";
import { sha256 } from "./runtime.ts";

/** What a list says of a conversation that follows from the commit alone. */
export interface ConversationFacts {
  readonly title: string;
  readonly turns: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Turns of a partial clone that are not here: `tokens.raw` does not count them. Absent = none. */
  readonly turns_elsewhere?: number;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Where the size of system prompt and tools is from; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
  /** Live compactions. */
  readonly compactions: number;
  /** Last turn that a live compaction covers, 0-based; absent = there is none. */
  readonly compacted_to?: number;
  /** RFC 3339 UTC. */
  readonly updated_at: string;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly labels?: readonly string[];
  /** The session that this one comes from, of a sub-agent's or one that was forked off elsewhere; `id`: its conversation here. */
  readonly parent?: ParentSession & { readonly format: string; readonly id?: string };
  /** Some turns do not follow the turn before them: git put them together. */
  readonly spliced?: true;
  /** Whether records of the branch are damaged: they are not applied. */
  readonly damaged?: true;
}

/** What automatic compaction remembers of a branch: without it, it tries, or warns, once more. */
export interface AutoState {
  /** Complete turns there were when it last tried; null = it never did. */
  readonly triedAt: number | null;
  /** Tokens that this try left; null = unknown. */
  readonly leftTokens: number | null;
  readonly hasWarned: boolean;
}

/** Something that follows from a commit. */
interface At<Value> {
  readonly commit: string;
  readonly value: Value;
}

/** What is kept of a branch. */
interface CachedTip {
  /** Object ids of its turn files, one after the other; of fewer than a directory nothing is kept. */
  readonly turns?: At<string>;
  /** Positions of turns that do not follow the one before, ascending. */
  readonly broken?: At<readonly number[]>;
  readonly facts?: At<ConversationFacts>;
  /** Whatever the commit. */
  readonly auto?: AutoState;
}

/** Raised when jpg counts otherwise, or something else is kept. */
const FORMAT = 1;
const CACHE = `tip-${FORMAT}`;

/** Reads what is kept of a branch; its parts may be of other commits than the one where it is now. */
export function readTip(store: ConversationStore, branch: string): CachedTip {
  const body = openSealedCache(store, CACHE).read(keyOf(branch));
  return body === null ? {} : (JSON.parse(String(body)) as CachedTip);
}

/** Gives what is kept of a commit; undefined of another one, or where nothing is. */
export function cachedAt<Value>(kept: At<Value> | undefined, commit: string): Value | undefined {
  return kept?.commit === commit ? kept.value : undefined;
}

/** Keeps parts, in place of those kept before. Without effect where nothing can be written. */
export async function updateTip(store: ConversationStore, branch: string, parts: CachedTip): Promise<void> {
  const body: CachedTip = { ...readTip(store, branch), ...parts };
  await openSealedCache(store, CACHE).write(JSON.stringify(body), keyOf(branch));
}

/** Keeps something of the commit where a branch is now; of another one nothing is. */
export async function cacheAtTip<Part extends "turns" | "broken" | "facts">(
  store: ConversationStore,
  { branch, commit }: { readonly branch: string; readonly commit: string },
  part: Part,
  value: NonNullable<CachedTip[Part]>["value"],
): Promise<void> {
  if ((await store.readBranch(branch)) === commit) await updateTip(store, branch, { [part]: { commit, value } });
}

function keyOf(branch: string): string {
  return sha256(branch).slice(0, 40);
}
