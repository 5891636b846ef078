// Caches what follows from a branch's tip: its turns, whether they follow each other, its row in a list. One sealed file per
// branch; each part names the commit it was computed from.
import type { ParentSession } from "../../core/conversation/branch-files.ts";
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import type { ConversationStore } from "../../store/store.ts";
import { openSealedCache } from "./caches.ts";
import { sha256 } from "./runtime.ts";

/** The part of a conversation's row in a list that follows from the commit alone. */
export interface ConversationFacts {
  readonly title: string;
  readonly turns: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Turns that a partial clone lacks, which `tokens.raw` does not count. Absent = none. */
  readonly turns_elsewhere?: number;
  /** Whether the provider counted `tokens`, or jpg estimated them. */
  readonly tokens_source?: TokenSource;
  /** Source of the size of system prompt and tools; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
  /** Number of live compactions. */
  readonly compactions: number;
  /** Last turn that a live compaction covers, 0-based; absent = none. */
  readonly compacted_to?: number;
  /** When somebody last said something in it; of its commit where that is unknown. RFC 3339 UTC. */
  readonly updated_at: string;
  /** Format of the session that it was imported from; absent = it began in jpg. */
  readonly agent?: string;
  /** US dollars for its recorded requests at today's list prices; null = the price of a model is unknown; absent = none is recorded. */
  readonly cost_usd?: number | null;
  /** The model that answered last and its window, tokens; absent = none answered. */
  readonly window?: { readonly model: string; readonly tokens: number };
  /** The prices and windows that were applied, as `priceKey` names them. */
  readonly priced?: string;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly labels?: readonly string[];
  /** Parent session of a sub-agent's session or a forked one; `id`: its conversation in this store. */
  readonly parent?: ParentSession & { readonly format: string; readonly id?: string };
  /** Some turns do not follow the one before: git joined them. */
  readonly spliced?: true;
  /** Some records are damaged and not applied. */
  readonly damaged?: true;
}

/** State of automatic compaction on a branch. If it is lost, jpg tries, or warns, once more. */
export interface AutoState {
  /** Number of complete turns at the last try; null = never tried. */
  readonly triedAt: number | null;
  /** Tokens after that try; null = unknown. */
  readonly leftTokens: number | null;
  readonly hasWarned: boolean;
}

/** A value computed from a commit. */
interface At<Value> {
  readonly commit: string;
  readonly value: Value;
}

interface CachedTip {
  /** Object ids of its turn files, concatenated; only of branches with more than one directory of turns. */
  readonly turns?: At<string>;
  /** Turns that do not follow the one before, ascending. */
  readonly broken?: At<readonly number[]>;
  readonly facts?: At<ConversationFacts>;
  /** Independent of the commit. */
  readonly auto?: AutoState;
}

/** To be raised when jpg counts differently or caches something else. */
const FORMAT = 3;
const CACHE = `tip-${FORMAT}`;

/** Reads the cache of a branch; its parts may be of older commits. */
export function readTip(store: ConversationStore, branch: string): CachedTip {
  const body = openSealedCache(store, CACHE).read(keyOf(branch));
  return body === null ? {} : (JSON.parse(String(body)) as CachedTip);
}

/** Returns the cached value if it is of this commit, else undefined. */
export function cachedAt<Value>(kept: At<Value> | undefined, commit: string): Value | undefined {
  return kept?.commit === commit ? kept.value : undefined;
}

/** Replaces parts of a branch's cache. Does nothing where it cannot be written. */
export async function updateTip(store: ConversationStore, branch: string, parts: CachedTip): Promise<void> {
  const body: CachedTip = { ...readTip(store, branch), ...parts };
  await openSealedCache(store, CACHE).write(JSON.stringify(body), keyOf(branch));
}

/** Caches a part of a commit if it is the branch's tip now. */
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
