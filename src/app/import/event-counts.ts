// How many events a commit's turns hold, remembered beside the store: a cache that saves reading every turn of a conversation
// of which an import finds nothing new. Derived from commits, which never change; it may be deleted at any time.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { replaceFile } from "../../store/files/replace-file.ts";

/** Events by commit id. */
export type EventCounts = Map<string, number>;

/** Commits remembered; the oldest entries go first. */
const MOST_ENTRIES = 5000;

/** Reads what is remembered; empty when there is nothing or it cannot be read. */
export async function readEventCounts(store: ConversationStore): Promise<EventCounts> {
  if (store.engine !== "native") return new Map();
  try {
    const entries: unknown = JSON.parse(await readFile(pathOf(store), "utf8"));
    return new Map(Object.entries(entries as Record<string, unknown>).filter(isCount));
  } catch {
    return new Map(); // never written, or damaged: the counts are made anew
  }
}

/** Writes what is remembered. A store that cannot be written to keeps no cache. */
export async function writeEventCounts(store: ConversationStore, counts: EventCounts): Promise<void> {
  if (store.engine !== "native") return;
  const entries = Object.fromEntries([...counts].slice(-MOST_ENTRIES));
  await replaceFile(pathOf(store), JSON.stringify(entries)).catch(() => undefined);
}

function pathOf(store: ConversationStore): string {
  return join(store.gitDir, "jpg-event-counts.json");
}

function isCount(entry: [string, unknown]): entry is [string, number] {
  return typeof entry[1] === "number" && /^[0-9a-f]{40,64}$/.test(entry[0]);
}
