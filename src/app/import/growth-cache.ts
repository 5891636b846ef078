// What is known of a session whose file will grow: that a branch's pieces are so many first bytes of it, and what its format
// needs to read on from there. A cache that may be deleted at any time; only what jpg wrote here is believed.
import type { SessionMark } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import { importSuffix } from "../names/session-family.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { sha256 } from "../workspace/object-id.ts";

/** A session as it was when a branch was made to hold all of it. */
export interface Growth {
  /** Version of the format's importer, which the turns were read with. */
  readonly importer: number;
  /** The file's bytes, and their SHA-1. */
  readonly byteLength: number;
  readonly sha1: string;
  /** Object id of `sources/<session>` on the branch: its pieces are these bytes, cut at the turns that the file has. */
  readonly sources: string;
  /** The same of the other branches that hold pieces of the session: fewer of these bytes, or other ones. */
  readonly others: readonly string[];
  /** Turns of the file, and the digest of their object ids; see `digestOfTurns`. */
  readonly turnCount: number;
  readonly turns: string;
  /** Events of each turn before the mark. */
  readonly events: readonly number[];
  readonly mark: SessionMark;
}

/** One file a session. */
const CACHE = "growth-1";
const KEY_LENGTH = 16;
const NEWLINE = 10;

/** Digest of the object ids of a conversation's first turns. */
export function digestOfTurns(oids: readonly string[]): string {
  return sha256(oids.join("\n"));
}

/** Reads what is known of a session; null when nothing is, or it is damaged. */
export function readGrowth(store: ConversationStore, key: string): Growth | null {
  const kept = openSealedCache(store, CACHE).read(key);
  if (kept === null) return null;
  const end = kept.indexOf(NEWLINE);
  const { mark, ...growth } = JSON.parse(kept.toString("utf8", 0, end)) as Omit<Growth, "mark"> & {
    readonly mark: Omit<SessionMark, "names">;
  };
  return { ...growth, mark: { ...mark, names: kept.subarray(end + 1) } };
}

/** Keeps what is known of a session; null = nothing, and what was known is forgotten. */
export async function writeGrowth(store: ConversationStore, key: string, growth: Growth | null): Promise<void> {
  const cache = openSealedCache(store, CACHE);
  if (growth === null) return cache.drop(key);
  const { names, ...mark } = growth.mark;
  await cache.write(Buffer.concat([Buffer.from(`${JSON.stringify({ ...growth, mark })}\n`), names]), key);
}

/** Under what a session is kept. */
export function growthKey({ format, sessionId }: Pick<OpenSession, "format" | "sessionId">): string {
  return importSuffix(format.name, sessionId, KEY_LENGTH);
}
