// The small records of a branch (compactions, titles, pins) as they can be read: a damaged file is left out and named, so
// that one bad record makes only itself not applied. A record that needs a newer jpg refuses the branch.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { parseCompactionLine, parseRecordLine } from "../../core/conversation/compaction-line.ts";
import type { Fields } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import type { ConversationStore, TreeFile } from "../../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type BranchTree, collectBlobs } from "./branch-tree.ts";
import { decodeText } from "./decoded-text.ts";

/** A file that is no record, and why. */
export interface DamagedRecord {
  readonly path: string;
  readonly reason: string;
}

export interface StoredRecords<Kind> {
  readonly records: readonly { readonly path: string; readonly record: Kind }[];
  readonly damaged: readonly DamagedRecord[];
}

/** Reads the live compactions, in the order of their files. Throws `newer_record`. */
export function readCompactions(
  store: ConversationStore,
  tree: Pick<BranchTree, "compactions">,
): Promise<StoredRecords<Compaction>> {
  return readRecords(store, tree.compactions, parseCompactionLine);
}

/** Reads the records under meta/, in the order of their files. */
export function readMetaRecords(store: ConversationStore, tree: BranchTree): Promise<StoredRecords<Fields>> {
  return readRecords(store, tree.metas, parseRecordLine);
}

/** Says which records of a branch are damaged; gives how many are. */
export async function warnOfDamage({ store, warn }: Workspace, tree: BranchTree): Promise<number> {
  const read = await Promise.all([readCompactions(store, tree), readMetaRecords(store, tree)]);
  const damaged = read.flatMap((records) => records.damaged);
  for (const { path, reason } of damaged) {
    warn(
      `${path} on ${tree.branch} is damaged and not applied: ${reason}. \`jpg git log -p -- ${path}\` shows its history.`,
    );
  }
  return damaged.length;
}

async function readRecords<Kind>(
  store: ConversationStore,
  files: readonly TreeFile[],
  parse: (text: string, path: string) => Kind,
): Promise<StoredRecords<Kind>> {
  const blobs = await collectBlobs(
    store,
    files.map((file) => file.oid),
  );
  const records: { path: string; record: Kind }[] = [];
  const damaged: DamagedRecord[] = [];
  for (const [index, { path }] of files.entries()) {
    try {
      records.push({ path, record: parse(decodeText(blobs[index]), path) });
    } catch (error) {
      damaged.push({ path, reason: reasonOf(error) });
    }
  }
  return { records, damaged };
}

function reasonOf(error: unknown): string {
  if (error instanceof JpgError && DAMAGED.has(error.code)) return String(error.data["reason"]);
  throw error;
}

const DAMAGED: ReadonlySet<string> = new Set(["malformed_compaction", "malformed_record"]);
