// What automatic compaction remembers of a branch between calls, below the git dir: when it last tried, and whether it has
// warned. A cache that may be deleted at any time: then it tries, or warns, once more.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { replaceFile } from "../../store/files/replace-file.ts";

/** What is remembered of a branch. */
export interface AutoMemory {
  /** Complete turns there were when it last tried; null = it never did. */
  readonly triedAt: number | null;
  readonly hasWarned: boolean;
}

/** Branches remembered; those that changed longest ago go first. */
const MOST_ENTRIES = 2000;
const NOTHING: AutoMemory = { triedAt: null, hasWarned: false };

/** Reads what is remembered of a branch; nothing when it is damaged or was never written. */
export async function readAutoMemory(store: ConversationStore, branch: string): Promise<AutoMemory> {
  const entry = (await readEntries(store)).get(branch);
  return typeof entry !== "object" || entry === null
    ? NOTHING
    : {
        triedAt: typeof entry.triedAt === "number" ? entry.triedAt : null,
        hasWarned: entry.hasWarned === true,
      };
}

/** Remembers something of a branch. A store that cannot be written to keeps no memory. */
export async function writeAutoMemory(store: ConversationStore, branch: string, memory: AutoMemory): Promise<void> {
  if (store.engine !== "native") return;
  const entries = await readEntries(store);
  entries.delete(branch);
  entries.set(branch, memory);
  await replaceFile(pathOf(store), JSON.stringify([...entries].slice(-MOST_ENTRIES))).catch(() => undefined);
}

async function readEntries(store: ConversationStore): Promise<Map<string, Partial<AutoMemory> | null>> {
  if (store.engine !== "native") return new Map();
  try {
    return new Map(JSON.parse(await readFile(pathOf(store), "utf8")) as [string, Partial<AutoMemory>][]);
  } catch {
    return new Map(); // never written, or damaged
  }
}

/** The name ends with the version of what stands in it. */
function pathOf(store: ConversationStore): string {
  return join(store.gitDir, "jpg-auto-1.json");
}
