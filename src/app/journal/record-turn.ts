// Commits a turn that was talked here: one commit with its file, by compare-and-swap. What others added to the branch
// meanwhile stays: compactions, titles and settings are built upon, but turns are never spliced, so beside another turn it
// becomes a fork. A turn that was committed as far as it had come is continued. Committing a turn twice changes nothing.

import type { Event } from "../../core/conversation/event.ts";
import { branchName, conversationOf, shortId } from "../../core/conversation/name.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import { repositoryError } from "../../core/errors.ts";
import { turnMessage } from "../../store/messages.ts";
import type { BranchWrite, CommitSpec, FileChange } from "../../store/store.ts";
import { currentSignatures, type Signatures } from "../branch/append-record.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { loadTurns } from "../branch/load-view.ts";
import { prepareTurn } from "../branch/prepared-turn.ts";
import { rootCommit } from "../branch/root-commit.ts";
import { readFirstEvent } from "../branch/turn-bytes.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { JournalHead } from "./journal-lines.ts";

/** A turn and where it was talked. */
export interface TurnRecord extends Pick<JournalHead, "branch" | "turn" | "start" | "parent" | "prev" | "root"> {
  /** In order; the first is its turn_start, with the id `start`. */
  readonly events: readonly Event[];
  /** What else its commit brings; absent = nothing. */
  readonly beside?: readonly FileChange[];
}

export interface RecordedTurn {
  /** Another branch than the turn's own when that has another turn at this position. */
  readonly branch: string;
  readonly commit: string;
  /** What it was built on; null when the branch held the turn already, or began with it. */
  readonly parent: string | null;
}

/** How often it is tried again when others move the branch at the same time. */
const MAX_ATTEMPTS = 8;

/** Where a turn is committed: a write without its commits, or the branch that holds all of it already. */
type Place =
  | (Omit<BranchWrite, "commits"> & {
      /** Whether the branch holds the beginning of the turn. */
      readonly continued: boolean;
    })
  | { readonly holds: RecordedTurn };

/**
 * Commits the turn. `signatures` = who commits, for callers that asked git beforehand. Throws `branch_busy` after 8
 * refusals, `worktree_in_the_way`, and as git fails; nothing is written then.
 */
export async function recordTurn(
  workspace: Workspace,
  record: TurnRecord,
  signatures?: Signatures,
): Promise<RecordedTurn> {
  const signers = signatures ?? (await currentSignatures(workspace));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const place = await findPlace(workspace, record);
    if ("holds" in place) return place.holds;
    const { continued, ...write } = place;
    const [result] = await workspace.store.write([{ ...write, commits: commitsOf(record, signers, continued) }]);
    if (result?.moved === true) return { branch: place.branch, commit: result.commit, parent: place.parent };
  }
  throw repositoryError(
    "branch_busy",
    `${record.branch} moved ${MAX_ATTEMPTS} times while a turn was being added to it.`,
    {
      hints: ["Run any jpg command when the other jpg or git processes are done."],
    },
  );
}

async function findPlace(workspace: Workspace, record: TurnRecord): Promise<Place> {
  const { store } = workspace;
  const { branch, parent } = record;
  const tip = await store.readBranch(branch);
  // Nobody touched it; or there is none yet, or none any more: the turn makes it.
  if (tip === parent || tip === null) return { branch, expected: tip, parent, continued: false };
  const tree = await loadBranchTree(store, branch, tip);
  if (isBefore(tree, record)) return { branch, expected: tip, parent: tip, continued: false };
  return (await findHeld(workspace, tree, record)) ?? placeOnFork(workspace, record);
}

/** Whether the branch ends with the turn before this one: then only what is no turn was added. */
function isBefore({ turnOids }: BranchTree, { parent, turn, prev }: TurnRecord): boolean {
  return parent !== null && turnOids.length === turn && (turnOids.at(-1) ?? null) === prev;
}

/** The branch as the place of a turn of which it holds all, or the beginning as its newest turn; null when it holds another. */
async function findHeld(
  { store }: Workspace,
  tree: BranchTree,
  { turn, start, events }: TurnRecord,
): Promise<Place | null> {
  const { branch, commit, turnOids } = tree;
  const oid = turnOids[turn];
  if (oid === undefined) return null;
  const [first] = await readFirstEvent(store, oid, turn);
  if (first?.id !== start) return null;
  const stored =
    turn === turnOids.length - 1 ? ((await loadTurns(store, tree, [turn])).get(turn)?.events ?? []) : events;
  const isBeginning = stored.length < events.length && stored.every(({ id }, index) => events[index]?.id === id);
  if (!isBeginning) return { holds: { branch, commit, parent: null } };
  return { branch, expected: commit, parent: commit, continued: true };
}

/** The fork's name derives from the turn: committed again, it is found there. */
async function placeOnFork(workspace: Workspace, record: TurnRecord): Promise<Place> {
  const { store } = workspace;
  const digest = sha256(record.start);
  for (let length = 4; ; length++) {
    const branch = branchName(conversationOf(record.branch), `fork-${shortId(digest, length)}`);
    const tip = await store.readBranch(branch);
    if (tip === null) return { branch, expected: null, parent: record.parent, continued: false };
    const held = await findHeld(workspace, await loadBranchTree(store, branch, tip), record);
    if (held !== null) return held;
  }
}

function commitsOf(record: TurnRecord, signatures: Signatures, continued: boolean): readonly CommitSpec[] {
  const { turn, prev, root, events, beside = [] } = record;
  const prepared = prepareTurn(events, prev ?? undefined);
  const commit: CommitSpec = {
    message: turnMessage({ turn, request: prepared.request, continued }),
    ...signatures,
    changes: [{ path: turnPath(turn), bytes: prepared.bytes }, ...prepared.attachments, ...beside],
  };
  if (root === undefined || continued) return [commit];
  return [{ ...rootCommit(root, signatures.author), ...signatures }, commit];
}
