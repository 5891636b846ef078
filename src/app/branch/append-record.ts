// Appends one immutable record (a compaction, a title, a config delta) to a branch: one commit that touches only its file.
import { formatRecordLine, recordPath } from "../../core/conversation/compaction-line.ts";
import { repositoryError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { CommitAuthor, CommitSpec, FileChange } from "../../store/store.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type BranchTree, loadBranchTree } from "./branch-tree.ts";

/** How often a commit is tried again when others move the branch at the same time. */
const MAX_ATTEMPTS = 8;

/** A change planned against a branch's tree. */
export interface PlannedChange {
  readonly message: string;
  readonly changes: readonly FileChange[];
  /** Sign when the user's git says so. */
  readonly sign: boolean;
  /** Further parents; such a commit is never signed. */
  readonly merges?: readonly string[];
}

/** A commit that was added to a branch. */
export interface AppendedCommit {
  readonly commit: string;
  /** What it was built on; the branch's worktrees that stood there have followed. */
  readonly parent: string;
}

/**
 * Plans against the branch as it stands and commits by compare-and-swap; plans again when the branch moved. Gives null when
 * the plan has nothing to do. Throws `branch_busy` after 8 refusals.
 */
export async function commitChange(
  workspace: Workspace,
  tree: BranchTree,
  plan: (tree: BranchTree) => Promise<PlannedChange | null>,
): Promise<AppendedCommit | null> {
  const { appended } = await commitPlan(workspace, tree, async (at) => ({ change: await plan(at), value: null }));
  return appended;
}

/** A change, and what else its plan came to. */
export interface PlannedValue<Value> {
  /** Null = there is nothing to do. */
  readonly change: PlannedChange | null;
  readonly value: Value;
}

/** The same, with what the plan that was committed came to. `target` names a new branch to make instead of moving this one. */
export async function commitPlan<Value>(
  workspace: Workspace,
  tree: BranchTree,
  plan: (tree: BranchTree) => Promise<PlannedValue<Value>>,
  target: string = tree.branch,
): Promise<{ readonly appended: AppendedCommit | null; readonly value: Value }> {
  if (tree.revision !== undefined || tree.atTurn !== undefined)
    throw new Error(
      `a change of ${tree.branch} was planned on ${tree.revision ?? `turn ${tree.atTurn}`}, not on the branch`,
    );
  let current = tree;
  // Git is asked who commits while the plan is made.
  const author = askAuthor(workspace);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { change, value } = await plan(current);
    if (change === null) return { appended: null, value };
    const signatures = sign(await author, workspace);
    const [result] = await workspace.store.write([
      {
        branch: target,
        expected: target === current.branch ? current.commit : null,
        parent: current.commit,
        commits: [
          {
            message: change.message,
            ...signatures,
            changes: change.changes,
            sign: change.sign && (await author).maySign,
            ...defined({ merges: change.merges }),
          },
        ],
      },
    ]);
    if (result?.moved === true) return { appended: { commit: result.commit, parent: current.commit }, value };
    const tip = await workspace.store.readBranch(current.branch);
    if (tip === null) break;
    current = await loadBranchTree(workspace.store, current.branch, tip);
  }
  throw repositoryError(
    "branch_busy",
    `${tree.branch} moved ${MAX_ATTEMPTS} times while jpg was adding a commit to it; nothing was written.`,
    {
      hints: ["Try again when the other jpg or git processes are done."],
    },
  );
}

/** Who wrote a commit, and who made it. */
export type Signatures = Pick<CommitSpec, "author" | "committer">;

/** The user, now. */
export async function currentSignatures(workspace: Workspace): Promise<Signatures> {
  return sign(await workspace.store.identity(), workspace);
}

/** Asks git at once who commits; the function gives the signatures of the time at which it is called. */
export function prepareSignatures(workspace: Workspace): () => Promise<Signatures> {
  const author = askAuthor(workspace);
  return async () => sign(await author, workspace);
}

/** Whoever waits for the answer is told why there is none; nobody else is. */
function askAuthor({ store }: Workspace): Promise<CommitAuthor> {
  const author = store.identity();
  author.catch(() => undefined);
  return author;
}

function sign({ name, email, committer }: CommitAuthor, { runtime }: Workspace): Signatures {
  const now = runtime.now();
  const at = { seconds: Math.floor(now.getTime() / 1000), offsetMinutes: -now.getTimezoneOffset() };
  return { author: { name, email, ...at }, committer: { ...committer, ...at } };
}

/** The file of a record: one line, random padding before each key so that git never takes two records for a rename. */
export function recordChange(
  workspace: Workspace,
  folder: "compactions" | "config" | "meta",
  record: { readonly id: string; readonly timestamp: string },
): FileChange {
  return {
    path: recordPath(folder, record.timestamp, record.id),
    bytes: new TextEncoder().encode(`${formatRecordLine({ ...record }, randomPadding(workspace))}\n`),
  };
}

/** Random padding of a record. */
export function randomPadding({ runtime }: Pick<Workspace, "runtime">): number[] {
  return [...runtime.random(32)].map((byte) => byte % 64);
}

/** Padding of a record that must be the same wherever it is made: it derives from the id. */
export function derivedPadding(id: string): number[] {
  return [...Buffer.from(sha256(id), "hex")].map((byte) => byte % 64);
}

/** A time that is later than every record given, so that a skewed clock never makes a new record lose. RFC 3339 UTC. */
export function timestampAfter(now: Date, others: Iterable<string>): string {
  let time = now.getTime();
  for (const other of others) {
    const value = Date.parse(other);
    if (Number.isFinite(value)) time = Math.max(time, value + 1);
  }
  return new Date(time).toISOString();
}
