// What is known of files in which nothing is wrong, by object id, in one cache file a conversation: a later check reads what is new
// alone. Nothing of what was said is kept.
import type { StoredTurn } from "../../core/conversation/conversation-check.ts";
import type { ConversationStore } from "../../store/store.ts";
import { openSealedCache, type SealedCache } from "../branch/sealed-cache.ts";

/** What the checks of a branch need of a turn file that is sound by itself. */
export interface SoundTurn {
  readonly previous: string | null;
  /** Marks of its events' ids: equal ids have equal marks, and others seldom have. */
  readonly ids: readonly number[];
  /** Names of payloads that its events refer to. */
  readonly attachments: ReadonlySet<string>;
}

export interface SoundFiles {
  /** By object id. */
  readonly turns: Map<string, SoundTurn>;
  /** Whether an attachment holds what its name says, by `<name> <object id>`. */
  readonly attachments: Map<string, boolean>;
  /** Writes what was added; without effect where nothing can be written. */
  save(): Promise<void>;
}

/** Raised when checks find what they did not find before, or something else is kept. */
export const CHECKS_VERSION = 2;

/** Turns, and attachments, that are kept at most: those known longest are forgotten. */
const MOST_KEPT = 100_000;
/** Of fewer events, and no attachments, nothing is kept: they are read again sooner than a file of them is written and found. */
const LEAST_KEPT = 32;

type Row = readonly [oid: string, previous: string | null, ids: readonly number[], attachments: readonly string[]];

/** Opens where it is kept, of all conversations. */
export function openSoundCache(store: ConversationStore): SealedCache {
  return openSealedCache(store, "sound-files");
}

/** Opens what is known of the conversation whose first turn has this object id. */
export function openSoundFiles(cache: SealedCache, first: string): SoundFiles {
  const key = `checks-${CHECKS_VERSION}-${first}`;
  const known = cache.read(key);
  // What was sealed here was written by jpg: its rows are taken as they are.
  const kept = known === null ? { turns: [], attachments: [] } : (JSON.parse(String(known)) as Kept);
  const turns = new Map(kept.turns.map(fromRow));
  const attachments = new Map(kept.attachments.map((name) => [name, true]));
  const before = turns.size + attachments.size;
  return {
    turns,
    attachments,
    async save() {
      if (turns.size + attachments.size === before) return;
      if (attachments.size === 0 && countEvents(turns) < LEAST_KEPT) return;
      const sound = [...attachments].filter(([, isSound]) => isSound).map(([name]) => name);
      const body: Kept = { turns: [...turns].slice(-MOST_KEPT).map(toRow), attachments: sound.slice(-MOST_KEPT) };
      await cache.write(JSON.stringify(body), key);
    },
  };
}

function countEvents(turns: ReadonlyMap<string, SoundTurn>): number {
  let count = 0;
  for (const { ids } of turns.values()) count += ids.length;
  return count;
}

interface Kept {
  readonly turns: readonly Row[];
  readonly attachments: readonly string[];
}

function toRow([oid, { previous, ids, attachments }]: readonly [string, SoundTurn]): Row {
  return [oid, previous, ids, [...attachments]];
}

function fromRow([oid, previous, ids, attachments]: Row): [string, SoundTurn] {
  return [oid, { previous, ids, attachments: new Set(attachments) }];
}

/** What is kept of a turn; null where something is wrong with it. */
export function soundTurn({ events, previous, attachments, findings }: Omit<StoredTurn, "oid">): SoundTurn | null {
  if (findings.some(({ severity }) => severity === "error")) return null;
  return { previous, attachments, ids: events.map(({ id }) => markOf(id)) };
}

/** A number of 53 bits for a text. Two texts of one number cost a look at the whole branch, and nothing else. */
function markOf(text: string): number {
  let [high, low] = [0x811c9dc5, 0x2f0b4c47];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul((low ^ unit) + high, 0x0019660d);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
