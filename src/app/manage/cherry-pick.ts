// Puts a compaction of one fork onto another that has the same turns: the same record in one commit, as stock `git cherry-pick`
// of it. What stands for turns that the other fork does not have is refused.
import type { Compaction } from "../../core/compaction/compaction.ts";
import { repositoryError, userError } from "../../core/errors.ts";
import type { LogEntry } from "../../store/conversation-store.ts";
import { compactionMessage } from "../../store/messages/commit-message.ts";
import { commitChange } from "../branch/append-record.ts";
import { type BranchTree, collectBlobs } from "../branch/branch-tree.ts";
import { findAddition, readRecord } from "../branch/compaction-path.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { checkCovers } from "../branch/covers.ts";
import { readRecordLog } from "../branch/record-log.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { viewEffectOf } from "../compact/view-effect.ts";
import { resolveId } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What `cherry-pick` did. */
export interface CherryPickReport {
  readonly compaction: string;
  /** The fork that it was taken from. */
  readonly from: string;
  readonly branch: string;
  /** Null when the fork had it already. */
  readonly commit: string | null;
}

/** Puts a compaction onto a fork. Throws `unknown_id`, `damaged_record`, and `covers_differ` where the turns are others. */
export async function cherryPick(workspace: Workspace, id: string, onto: BranchTree): Promise<CherryPickReport> {
  const { store } = workspace;
  const target = await resolveId(workspace, id, ["compaction"]);
  if (target.kind !== "compaction")
    throw userError("unknown_id", `${JSON.stringify(id)} names no compaction.`, {
      hints: ["`jpg log FORK` lists those of a fork."],
    });
  const { branch: from, compaction } = target;
  const log = await readRecordLog(store, (await store.readBranch(from)) ?? from);
  const found = findAddition(log, compaction);
  if (found === null) throw userError("unknown_id", `${compaction} is no compaction of ${from}.`);
  const { oid, record } = await readPicked(workspace, found);
  const appended = await commitChange(workspace, onto, async (tree) => {
    await requireCovers(workspace, tree, record);
    if (tree.compactions.some(({ path }) => path === found.path)) return null;
    const message = compactionMessage({ compaction: record, ...(await viewEffectOf(store, tree, record)) });
    return { message, changes: [{ path: found.path, oid }], sign: true };
  });
  if (appended !== null) await refreshViews(workspace, onto.branch, appended.parent);
  return { compaction, from, branch: onto.branch, commit: appended?.commit ?? null };
}

async function readPicked(
  { store }: Workspace,
  { entry, path }: { readonly entry: LogEntry; readonly path: string },
): Promise<{ readonly oid: string; readonly record: Compaction }> {
  const oid = (await store.readEntries(entry.commit, [path])).get(path) ?? "";
  const [bytes = new Uint8Array()] = await collectBlobs(store, [oid]);
  const record = readRecord(bytes, path);
  if (record !== null) return { oid, record };
  throw repositoryError("damaged_record", `${path} of ${entry.commit.slice(0, 9)} cannot be read.`, {
    hints: ["`jpg fsck` says what is wrong with it."],
  });
}

async function requireCovers({ store }: Workspace, tree: BranchTree, record: Compaction): Promise<void> {
  const isThere = record.to_turn < tree.turnOids.length;
  if (isThere && (await checkCovers(record, coverFacts(store, tree))).matches) return;
  const range = `turns ${record.from_turn}..${record.to_turn}`;
  throw userError("covers_differ", `${record.id} was made over ${range}, and ${tree.branch} has other turns there.`, {
    hints: [`\`jpg compact ${tree.branch} --from ${record.from_turn} --to ${record.to_turn}\` makes one for these.`],
  });
}
