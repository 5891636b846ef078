// Session files of which the store was found to hold everything, remembered with how they stood in the file
// system: importing them again reads none of them. A cache that may be deleted at any time; only what jpg wrote here is believed.
import { conversationOf } from "../../core/conversation/name.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import { familyOf, importSuffix } from "../names/session-family.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { HeldContent } from "./import-report.ts";

/** A session file of which a branch holds everything. */
export interface CachedSource {
  /** Digest of its fingerprint. */
  readonly fingerprint: string;
  /** The format as the user named it; null = recognised. */
  readonly named: string | null;
  readonly format: string;
  readonly importer: number;
  readonly session: string;
  readonly origin: ExportOrigin | null;
  readonly branch: string;
  /** What the branch holds, as long as the file is known. */
  readonly held: HeldContent;
  /** What held when this was found; see `proofOf`. */
  readonly proof: string;
}

/** What of a store decides whether it holds a session. */
export interface StoreFacts {
  readonly tips: readonly BranchTip[];
  readonly active: string | null;
}

/** By absolute path of the session file. */
export type SourceCache = Map<string, CachedSource>;

/** Files remembered; those imported longest ago go first. */
const CACHE = "sources-1";
const MOST_ENTRIES = 5000;

/**
 * Digest of the branches that a session is looked for in: their names, their tips, and which one is active. While it is the
 * same, so is what an unchanged file is found to be.
 */
export function proofOf(
  { tips, active }: StoreFacts,
  { format, session, origin, branch }: Pick<CachedSource, "format" | "session" | "origin" | "branch">,
): string {
  const names = { suffix: importSuffix(format, session), continues: origin?.conversation ?? conversationOf(branch) };
  const family = familyOf(tips, names);
  return sha256(JSON.stringify(family.map(({ name, commit }) => [name, commit, name === active])));
}

/** Reads what is remembered; empty when there is nothing or it is damaged: then every file is read. */
export function readSourceCache(store: ConversationStore): SourceCache {
  const entries = openSealedCache(store, CACHE).read();
  return new Map(entries === null ? [] : (JSON.parse(String(entries)) as [string, CachedSource][]));
}

/** Writes what is remembered. A store that cannot be written to keeps no cache. */
export async function writeSourceCache(store: ConversationStore, sources: SourceCache): Promise<void> {
  await openSealedCache(store, CACHE).write(JSON.stringify([...sources].slice(-MOST_ENTRIES)));
}
