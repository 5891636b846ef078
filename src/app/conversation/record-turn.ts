// Commits a turn in one commit, by compare-and-swap. Compactions, titles and settings that others added meanwhile are kept, but
// turns are never spliced: if the branch got another turn, this one goes to a new fork. A turn that was committed in part is
// continued. Committing a turn twice changes nothing.
import { type Content, type Event, type Note, textOfContent } from "../../core/conversation/event.ts";
import { branchName, conversationOf, shortId } from "../../core/conversation/name.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import { JpgError, messageOf, repositoryError } from "../../core/errors.ts";
import { turnMessage } from "../../store/messages.ts";
import type { BranchWrite, CommitSpec, ConversationStore, FileChange } from "../../store/store.ts";
import { currentSignatures, type Signatures } from "./append.ts";
import { activateIfNoneIs } from "./checked-out.ts";
import { hasJournals, type JournalHead, listJournals, type Replay, readJournal, removeJournal } from "./journal.ts";
import { refreshViews } from "./refresh-view.ts";
import { sha256 } from "./runtime.ts";
import { type BranchTree, loadBranchTree } from "./tree.ts";
import { prepareTurn, readFirstEvent, rootCommit } from "./turns.ts";
import { loadTurns } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** A turn, and the place where it belongs. */
export interface TurnRecord extends Pick<JournalHead, "branch" | "turn" | "start" | "parent" | "prev" | "root"> {
  /** In order; the first is its `turn_start`, with the id `start`. */
  readonly events: readonly Event[];
  /** Further files of its commit. */
  readonly extraChanges?: readonly FileChange[];
}

export interface RecordedTurn {
  /** A new fork if the turn's own branch has another turn at this position. */
  readonly branch: string;
  readonly commit: string;
  /** Parent commit; null when the branch already held the turn or begins with it. */
  readonly parent: string | null;
}

/** Attempts while others move the branch. */
const MAX_ATTEMPTS = 8;

/** Where a turn is committed: a write without its commits, or the branch that already holds the turn. */
type Place =
  | (Omit<BranchWrite, "commits"> & {
      /** Whether the branch holds the beginning of the turn. */
      readonly continued: boolean;
    })
  | { readonly holds: RecordedTurn };

/**
 * Commits the turn. `signatures`: for callers that asked git beforehand. Throws `branch_busy` after 8 refusals,
 * `worktree_in_the_way`, and git's errors; nothing is written then.
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
  // The branch did not move, or does not exist (yet, or any more): the turn creates it.
  if (tip === parent || tip === null) return { branch, expected: tip, parent, continued: false };
  const tree = await loadBranchTree(store, branch, tip);
  if (endsBefore(tree, record)) return { branch, expected: tip, parent: tip, continued: false };
  return (await findStoredTurn(workspace, tree, record)) ?? placeOnFork(workspace, record);
}

/** Returns whether the branch still ends with the turn before this one, so that only records were added. */
function endsBefore({ turnOids }: BranchTree, { parent, turn, prev }: TurnRecord): boolean {
  return parent !== null && turnOids.length === turn && (turnOids.at(-1) ?? null) === prev;
}

/**
 * Finds the turn on a branch: the branch holds all of it, or its beginning as the newest turn. Null when it holds another turn
 * there.
 */
async function findStoredTurn(
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

/** Derives the fork's name from the turn, so that a second commit finds the first. */
async function placeOnFork(workspace: Workspace, record: TurnRecord): Promise<Place> {
  const { store } = workspace;
  const digest = sha256(record.start);
  for (let length = 4; ; length++) {
    const branch = branchName(conversationOf(record.branch), `fork-${shortId(digest, length)}`);
    const tip = await store.readBranch(branch);
    if (tip === null) return { branch, expected: null, parent: record.parent, continued: false };
    const held = await findStoredTurn(workspace, await loadBranchTree(store, branch, tip), record);
    if (held !== null) return held;
  }
}

function commitsOf(record: TurnRecord, signatures: Signatures, continued: boolean): readonly CommitSpec[] {
  const { turn, prev, root, events, extraChanges = [] } = record;
  const prepared = prepareTurn(events, prev ?? undefined);
  const commit: CommitSpec = {
    message: turnMessage({ turn, request: prepared.request, continued }),
    ...signatures,
    changes: [{ path: turnPath(turn), bytes: prepared.bytes }, ...prepared.attachments, ...extraChanges],
  };
  if (root === undefined || continued) return [commit];
  return [{ ...rootCommit(root, signatures.author), ...signatures }, commit];
}

// Recovery: the next command that opens the store commits the turns of ended writers from their journals. Without journals this
// costs one `readdir`. Doing it twice, or in two processes at once, gives the same branches.

export interface RecoveryOutput {
  info(text: string): void;
  warn(text: string): void;
}

/**
 * Commits abandoned turns. One that cannot be committed now is reported and stays for the next time; no command fails because of
 * it.
 */
export async function recoverTurns(workspace: Workspace, voice: RecoveryOutput): Promise<void> {
  const { store, runtime } = workspace;
  if (!(await hasJournals(store.journal()))) return;
  for (const { path, isAbandoned } of await listJournals(store.journal(), runtime.now())) {
    if (!isAbandoned) continue;
    try {
      await recoverTurn(workspace, path, voice);
    } catch (error) {
      const reason = messageOf(error);
      voice.warn(`a turn that was interrupted cannot be committed and stays in ${path}: ${reason}`);
    }
  }
}

async function recoverTurn(workspace: Workspace, path: string, voice: RecoveryOutput): Promise<void> {
  const { head, isComplete, recorded, unsent } = await commitAbandonedTurn(workspace, path, "process_ended");
  if (head === null) return;
  if (recorded === null) {
    if (unsent !== null)
      voice.info(`A request of ${head.branch} was interrupted before its answer; its text is in ${unsent}.`);
    return;
  }
  const fork = recorded.branch === head.branch ? "" : `, on the new fork ${recorded.branch}`;
  voice.info(
    `Turn ${head.turn} of ${head.branch} was ${isComplete ? "complete but not committed" : "interrupted"}; it is committed now${fork}.`,
  );
}

/** The outcome for one journal. */
export interface AbandonedTurn {
  /** Null when the journal had no head. */
  readonly head: JournalHead | null;
  readonly isComplete: boolean;
  /** Null when no model had answered: the turn is not kept. */
  readonly recorded: RecordedTurn | null;
  /** File with the request of a turn that is not kept. */
  readonly unsent: string | null;
}

/** Commits the turn of an abandoned journal and removes the journal. Throws like `recordTurn`; the journal stays then. */
export async function commitAbandonedTurn(
  workspace: Workspace,
  path: string,
  reason: InterruptionReason,
): Promise<AbandonedTurn> {
  const found = await readJournal(path);
  if (found === null || !hasAnswer(found.events)) {
    const { head = null, events = [] } = found ?? {};
    const unsent = await saveUnsent(workspace.store, requestOf(events));
    await removeJournal(path, head?.start ?? null);
    return { head, isComplete: false, recorded: null, unsent };
  }
  const { head, isComplete } = found;
  const events = isComplete ? found.events : withInterruptionNote(found, reason);
  const recorded = await recordTurn(workspace, { ...head, events });
  await removeJournal(path, head.start);
  if (head.root !== undefined) await activateIfNoneIs(workspace, recorded.branch);
  await refreshViews(workspace, recorded.branch, recorded.parent);
  return { head, isComplete, recorded, unsent: null };
}

function withInterruptionNote({ head, events }: Replay, reason: InterruptionReason): readonly Event[] {
  return [...events, interruptionNote(head.start, reason, events.at(-1)?.timestamp ?? "")];
}

// The mark of an interrupted turn: a note, which no model is sent. It depends only on the turn, so that every attempt to commit it
// makes the same one.

/** What ended a turn early; `error`: such as its limit of tool calls. */
export type InterruptionReason = "user" | "provider" | "error" | "process_ended";

/** Creates the note at the end of an interrupted turn; `start` = id of its first event. */
export function interruptionNote(start: string, reason: InterruptionReason, timestamp: string): Note {
  return { type: "note", id: `${start}-interrupted`, timestamp, kind: "interrupted", data: { reason } };
}

/** Returns whether a model said or did anything in a turn; otherwise the turn is not kept. */
export function hasAnswer(events: readonly Event[]): boolean {
  return events.some(({ type }) => type === "chat_response" || type === "tool_call_request");
}

// A request that no model answered makes no turn, so that asking again does not double it. Its text is kept in a file in the git
// dir, like git's COMMIT_EDITMSG.

/** Saves the text of a request, attached texts included. Returns the file; null when there is no text or it cannot be written. */
export async function saveUnsent(store: ConversationStore, content: Content): Promise<string | null> {
  const text = textOfContent(content);
  // A failure here must not hide the error that is being reported.
  return text.trim() === "" ? null : await store.keepText("unsent", text);
}

/** Returns the request of a turn; empty when its events hold none. */
export function requestOf(events: readonly Event[]): Content {
  return events.find((event) => event.type === "chat_request")?.content ?? "";
}

/** Says what to type to send a saved text again; `isNew` = it would have begun a conversation. */
export function unsentHints(path: string | null, isNew: boolean): readonly string[] {
  if (path === null) return [];
  const state = isNew ? "No conversation was started" : "The conversation is unchanged";
  return [
    `${state}; what you wrote is in ${path}: \`jpg query${isNew ? " --new" : ""} - < '${path}'\` sends it again.`,
  ];
}

/** Adds hints and data to a `JpgError`; returns any other error unchanged. */
export function withHints(
  error: unknown,
  hints: readonly string[],
  data: Readonly<Record<string, unknown>> = {},
): unknown {
  if (!(error instanceof JpgError)) return error;
  const { kind, code, message, cause } = error;
  return new JpgError(kind, code, message, {
    hints: [...error.hints, ...hints],
    data: { ...error.data, ...data },
    cause,
  });
}
