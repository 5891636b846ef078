// A side of a branch told again on top of another history of the same turns: what it brought and took back, commit by commit, by
// the same authors at the same times. A record that it took back again is told, too, for it can be brought back from history.
import { RECORD_FOLDERS } from "../../core/conversation/branch-files.ts";
import { filesBetween, type MergeSide, sharedTurns } from "../../core/conversation/merge-sides.ts";
import { type CommitSpec, type ConversationStore, FALLBACK_IDENTITY, type LogEntry } from "../../store/store.ts";
import { readRecordLog } from "../branch/record-log.ts";

/** Two sides without a common history, and the files that both come to. */
interface Telling {
  readonly ours: MergeSide;
  readonly theirs: MergeSide;
  readonly merged: ReadonlyMap<string, string>;
}

type Changes = ReturnType<typeof filesBetween>;

/** Our commits as new ones on top of theirs: turns that only we have, first; then records. */
export async function tellAgain(
  store: ConversationStore,
  { ours, theirs, merged }: Telling,
): Promise<readonly CommitSpec[]> {
  const commits: CommitSpec[] = [];
  const current = new Map(theirs.files);
  const add = (
    changes: Changes,
    { message, author, committer }: Pick<LogEntry, "message" | "author" | "committer">,
  ) => {
    if (changes.length === 0) return;
    commits.push({ message, author, committer, changes });
    for (const change of changes) {
      if ("oid" in change) current.set(change.path, change.oid);
      else current.delete(change.path);
    }
  };
  const nobody = { ...FALLBACK_IDENTITY, seconds: 0 };
  const [signed = { author: nobody, committer: nobody }] = await store.readLog({ from: ours.commit, limit: 1 });
  const rest = (): Changes => filesBetween(current, merged);
  const from = sharedTurns(ours.turnOids, theirs.turnOids);
  add(
    rest().filter(({ path }) => !isRecord(path)),
    { ...signed, message: `turns ${from}..${ours.turnOids.length - 1}, from another history of the same turns\n` },
  );
  const isOurs = (path: string): boolean => !theirs.files.has(path) && !theirs.touched.has(path);
  for (const entry of [...(await readRecordLog(store, ours.commit, RECORD_FOLDERS))].reverse()) {
    const named = new Set([...entry.added, ...entry.removed]);
    const met = rest().filter(({ path }) => named.has(path) && !isOurs(path));
    add([...(await changesOf(store, entry, { isOurs, current })), ...met], entry);
  }
  add(rest(), { ...signed, message: "records of another history of the same turns\n" });
  return commits;
}

function isRecord(path: string): boolean {
  return RECORD_FOLDERS.some((folder) => path.startsWith(`${folder}/`));
}

/** What a commit did to records that only our side ever had. */
async function changesOf(
  store: ConversationStore,
  { commit, added, removed }: LogEntry,
  { isOurs, current }: { readonly isOurs: (path: string) => boolean; readonly current: ReadonlyMap<string, string> },
): Promise<Changes> {
  const brought = added.filter((path) => isOurs(path) && !current.has(path));
  const gone = removed.filter((path) => isOurs(path) && current.has(path));
  const oids = brought.length === 0 ? [] : [...(await store.readEntries(commit, brought))];
  return [...gone.map((path) => ({ path, remove: true }) as const), ...oids.map(([path, oid]) => ({ path, oid }))];
}
