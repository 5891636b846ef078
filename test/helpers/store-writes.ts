// Short ways for tests to write commits to a store and to read files back.
import type {
  BranchWrite,
  CommitSpec,
  ConversationStore,
  FileChange,
  Signature,
  WriteResult,
} from "../../src/store/store.ts";

/** The author of all commits of tests. */
export const AUTHOR: Signature = {
  name: "Zoë Agent",
  email: "agent@example.com",
  seconds: 1_790_000_000,
  offsetMinutes: 120,
};
/** Their committer, at the start of time. */
export const COMMITTER: Signature = {
  name: "Committer",
  email: "c@example.com",
  seconds: 1_790_000_100,
  offsetMinutes: -330,
};

/** A file change from text. */
export function file(path: string, text: string): FileChange {
  return { path, bytes: Buffer.from(text) };
}

/** A commit whose committer time is `at` seconds after a fixed start. */
export function commit(message: string, changes: readonly FileChange[], at = 0): CommitSpec {
  return { message, author: AUTHOR, committer: { ...COMMITTER, seconds: COMMITTER.seconds + at }, changes };
}

/** Writes commits on top of a branch as it stands. */
export async function append(
  store: ConversationStore,
  branch: string,
  commits: readonly CommitSpec[],
): Promise<WriteResult> {
  const tip = await store.readBranch(branch);
  return await writeOne(store, { branch, expected: tip, parent: tip, commits });
}

/** Writes to one branch. */
export async function writeOne(store: ConversationStore, write: BranchWrite): Promise<WriteResult> {
  const [result] = await store.write([write]);
  if (result === undefined) throw new Error("a write gave no result");
  return result;
}

/** Reads a file of a commit as text; null when it is not there. */
export async function readText(store: ConversationStore, at: string, path: string): Promise<string | null> {
  const oid = (await store.readEntries(at, [path])).get(path);
  if (oid === undefined) return null;
  for await (const bytes of store.readBlobs([oid])) return Buffer.from(bytes).toString();
  return null;
}

/** Reads all contents. */
export async function readAll(store: ConversationStore, oids: readonly string[]): Promise<Buffer[]> {
  const result: Buffer[] = [];
  for await (const bytes of store.readBlobs(oids)) result.push(Buffer.from(bytes));
  return result;
}
