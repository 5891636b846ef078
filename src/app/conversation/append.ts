// Appends one immutable record to a branch, such as a compaction, a title or settings.
import type { Compaction } from "../../core/conversation/compaction.ts";
import {
  formatCompactionLine,
  formatRecordLine,
  parseCompactionLine,
  recordPath,
} from "../../core/conversation/compaction-line.ts";
import { clampCompaction } from "../../core/conversation/group.ts";
import { repositoryError } from "../../core/errors.ts";
import type { CommitAuthor, CommitSpec, ConversationStore, FileChange, LogEntry } from "../../store/store.ts";
import { coverFacts, coversDigest } from "./covers.ts";
import { refreshViews } from "./refresh-view.ts";
import { randomId, sha256 } from "./runtime.ts";
import { type BranchTree, collectBlobs, decodeText, loadBranchTree } from "./tree.ts";
import { type MetaRecord, parseTurnBytes, readMetas } from "./turns.ts";
import type { LiveCompactions } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** Returns the id in a compaction's file name, `compactions/<stamp>-<id>.jsonl`; null for other paths. */
export function compactionIdOfPath(path: string): string | null {
  return /^compactions\/[^/]*?Z-([^/]+)\.jsonl$/.exec(path)?.[1] ?? null;
}

/** Reads a record from history; null when it is damaged, so that the history stays readable. */
export function readRecord(bytes: Uint8Array, path: string): Compaction | null {
  try {
    return parseCompactionLine(decodeText(bytes), path);
  } catch {
    return null;
  }
}

/** Finds the oldest commit of a log (newest first) that adds a compaction, and its path there. Later commits only bring it back. */
export function findAddition(
  entries: readonly LogEntry[],
  id: string,
): { readonly entry: LogEntry; readonly path: string } | null {
  for (const entry of entries.toReversed()) {
    const path = entry.added.find((candidate) => compactionIdOfPath(candidate) === id);
    if (path !== undefined) return { entry, path };
  }
  return null;
}

/** Attempts to commit while others move the branch. */
const MAX_ATTEMPTS = 8;

/** A change planned against a branch's tree. */
export interface PlannedChange {
  readonly message: string;
  readonly changes: readonly FileChange[];
  /** Sign if the user's git configuration says so. */
  readonly sign: boolean;
  /** Further parents; such a commit is never signed. */
  readonly merges?: readonly string[];
}

export interface AppendedCommit {
  readonly commit: string;
  /** Parent commit; worktrees of the branch that were at it have followed. */
  readonly parent: string;
}

/**
 * Plans against the branch's tip and commits by compare-and-swap; plans again if the branch moved. Returns null when there is
 * nothing to do. Throws `branch_busy` after 8 refusals.
 */
export async function commitChange(
  workspace: Workspace,
  tree: BranchTree,
  plan: (tree: BranchTree) => Promise<PlannedChange | null>,
): Promise<AppendedCommit | null> {
  const { appended } = await commitPlan(workspace, tree, async (at) => ({ change: await plan(at), value: null }));
  return appended;
}

/** A change, and a value that its plan yields. */
export interface PlannedValue<Value> {
  /** Null = nothing to do. */
  readonly change: PlannedChange | null;
  readonly value: Value;
}

/**
 * Like `commitChange`, and returns the value of the plan that was committed. `target` names a new branch to create instead of
 * moving this one.
 */
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
  // Git looks up the author while the plan is made.
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
            merges: change.merges,
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

/** Author and committer. */
export type Signatures = Pick<CommitSpec, "author" | "committer">;

/** Returns the user's signatures at the current time. */
export async function currentSignatures(workspace: Workspace): Promise<Signatures> {
  return sign(await workspace.store.identity(), workspace);
}

/** Asks git for the author at once; the returned function signs with the time of its call. */
export function prepareSignatures(workspace: Workspace): () => Promise<Signatures> {
  const author = askAuthor(workspace);
  return async () => sign(await author, workspace);
}

/** Only a caller that awaits the author sees the error. */
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

/** Makes the file of a record: one line, with random padding before each key so that git never takes two records for a rename. */
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

export function randomPadding({ runtime }: Pick<Workspace, "runtime">): number[] {
  return [...runtime.random(32)].map((byte) => byte % 64);
}

/** Derives padding from the id, for a record that must be the same wherever it is made. */
export function derivedPadding(id: string): number[] {
  return [...Buffer.from(sha256(id), "hex")].map((byte) => byte % 64);
}

/** Returns a time later than every given record's, so that a skewed clock never makes a new record lose. RFC 3339 UTC. */
export function timestampAfter(now: Date, others: Iterable<string>): string {
  let time = now.getTime();
  for (const other of others) {
    const value = Date.parse(other);
    if (Number.isFinite(value)) time = Math.max(time, value + 1);
  }
  return new Date(time).toISOString();
}

// Groups: compactions, and pins with them, that one commit added. They are reverted together.

/** Returns a function from the path of a live compaction to the paths of its group, itself included, that still exist. */
export async function groupPaths(
  workspace: Pick<Workspace, "store">,
  tree: BranchTree,
  { all }: Pick<LiveCompactions, "all">,
): Promise<(path: string) => readonly string[]> {
  // Members of a group may share their time, and ids are random: the turns order them.
  const grouped = all
    .filter(({ group }) => group !== undefined)
    .sort((a, b) => a.from_turn - b.from_turn || a.to_turn - b.to_turn);
  if (grouped.length === 0) return (path) => [path];
  const metas = await readMetas(workspace, tree);
  const paths = new Map<string, string[]>();
  const groups = new Map<string, string>();
  const add = (group: string, path: string): void => void paths.set(group, [...(paths.get(group) ?? []), path]);
  for (const { group = "", timestamp, id } of grouped) {
    const path = recordPath("compactions", timestamp, id);
    groups.set(path, group);
    add(group, path);
  }
  for (const { group, timestamp, id } of metas)
    if (typeof group === "string" && paths.has(group)) add(group, recordPath("meta", timestamp, id));
  return (path) => paths.get(groups.get(path) ?? "") ?? [path];
}

interface MetaChange {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/**
 * Plans against all records of meta/ (oldest first) with the id of the new record, and commits; plans again if the branch moved.
 * Returns the commit, or null when there is nothing to do. Throws like `commitChange`.
 */
export async function appendMeta(
  workspace: Workspace,
  tree: BranchTree,
  plan: (metas: readonly MetaRecord[], tree: BranchTree, id: string) => MetaChange | null,
): Promise<string | null> {
  const appended = await commitChange(workspace, tree, async (current) => {
    const metas = await readMetas(workspace, current);
    const id = randomId(workspace.runtime);
    const change = plan(metas, current, id);
    if (change === null) return null;
    const timestamp = timestampAfter(
      workspace.runtime.now(),
      metas.map((meta) => meta.timestamp),
    );
    const record = { type: "meta", id, timestamp, ...change.fields };
    return { message: change.message, changes: [recordChange(workspace, "meta", record)], sign: false };
  });
  if (appended !== null) await refreshViews(workspace, tree.branch, appended.parent);
  return appended?.commit ?? null;
}

// Compactions clamped to the first turns of a branch. Their files depend only on the original and the cut, so that every fork at
// that turn writes the same ones.

/** Makes the files of copies that end with the last of these turns (object ids of turn files, at least one). */
export async function clampedRecords(
  store: ConversationStore,
  turnOids: readonly string[],
  originals: readonly Compaction[],
): Promise<readonly FileChange[]> {
  if (originals.length === 0) return [];
  const turn = turnOids.length - 1;
  const [bytes = new Uint8Array()] = await collectBlobs(store, turnOids.slice(turn));
  const event = parseTurnBytes(bytes, turn).at(-1)?.id ?? "";
  const facts = coverFacts(store, { turnOids });
  return Promise.all(
    originals.map(async (original) => {
      const copy = clampCompaction(original, { turn, event });
      const covers = copy.covers === undefined ? null : await coversDigest(copy, facts);
      const line = formatCompactionLine({ ...copy, ...(covers === null ? {} : { covers }) }, derivedPadding(copy.id));
      return {
        path: recordPath("compactions", copy.timestamp, copy.id),
        bytes: new TextEncoder().encode(`${line}\n`),
      };
    }),
  );
}
