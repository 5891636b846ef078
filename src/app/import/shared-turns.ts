// Finds the turns that a session has in common with a branch of another conversation, or with its own branch.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import type { Event } from "../../core/conversation/event.ts";
import { turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import type { ImportedSession, SessionLineage } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { readRecordLog } from "../conversation/log.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../conversation/tree.ts";
import { parseTurnBytes, prepareTurn } from "../conversation/turns.ts";
import { familyOf } from "../names/find-session.ts";
import { lineOf } from "./continued-session.ts";
import type { TurnSequence } from "./import-commits.ts";
import type { SessionBranch } from "./import-place.ts";

export interface ForkedSession {
  /** The branch with these turns: the session's own, or the one that it was forked off. */
  readonly tree: BranchTree;
  /** Whether no branch has the session yet. */
  readonly isNew: boolean;
  /** Whether the session is only a copy: no branch is made of it. */
  readonly addsNothing: boolean;
  /** The number of the branch's turns that it shares. */
  readonly shared: number;
  /** The session, its compactions with the ids of the branch. */
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
}

/** Where to look for a fork's first turns. */
export interface ForkFamily {
  readonly tips: readonly BranchTip[];
  /** As `conversationForkedOff` returns it. */
  readonly conversation: string | undefined;
  /** Branches that have the session already. */
  readonly own: readonly SessionBranch[];
}

/** Turns that a session and a branch have in common. */
export interface SharedTurns {
  readonly tree: BranchTree;
  /** Number of the branch's turns that are shared. */
  readonly shared: number;
  /** Number of the session's turns that hold them: fewer if it begins at a compaction, more never. */
  readonly copied: number;
}

/**
 * The session's own branch. The turns before the first one stored with lines of the session are shared, as far as they are still
 * equal.
 */
export async function findOwn(
  store: ConversationStore,
  session: ImportedSession,
  own: readonly SessionBranch[],
): Promise<SharedTurns | null> {
  const first = ({ pieces }: SessionBranch): number => turnIndexOfSource(pieces[0]?.path ?? "") ?? 0;
  const best = own.reduce<SessionBranch | null>((a, b) => (a === null || first(b) > first(a) ? b : a), null);
  if (best === null) return null;
  const found = await countShared(store, session, best.tree);
  const beyond = Math.max(0, found.shared - first(best));
  return { tree: best.tree, shared: found.shared - beyond, copied: Math.max(0, found.copied - beyond) };
}

/** The branch of the other conversation that shares the most first turns with the session. */
export async function findShared(
  store: ConversationStore,
  session: ImportedSession,
  { tips, conversation }: ForkFamily,
): Promise<SharedTurns | null> {
  let best: SharedTurns | null = null;
  for (const { name, commit } of familyOf(tips, { suffix: NO_SUFFIX, continues: conversation })) {
    const tree = await loadBranchTree(store, name, commit);
    const found = await countShared(store, session, tree);
    if (best === null || found.copied > best.copied) best = { tree, ...found };
  }
  return best;
}

/** Longer than any suffix. */
export const NO_SUFFIX: string = "-".repeat(8);

type SharedCounts = Omit<SharedTurns, "tree">;

async function countShared(
  store: ConversationStore,
  session: ImportedSession,
  tree: BranchTree,
): Promise<SharedCounts> {
  if (session.lineage?.after !== undefined) return countAfterCompaction(store, session, tree);
  const most = Math.min(session.turnCount, tree.turnOids.length);
  for (let turn = 0; turn < most; turn++) {
    const theirs = await storedTurn(store, tree, turn);
    if (!isSameTurn(copiedTurn(session, turn), theirs, session.lineage)) return { shared: turn, copied: turn };
  }
  return { shared: most, copied: most };
}

/** A turn of the session as it would be stored. */
function copiedTurn(session: ImportedSession, turn: number): readonly Event[] {
  return parseTurnBytes(prepareTurn(session.readTurn(turn), undefined).bytes, turn);
}

/**
 * Whether a copied turn says what the stored one says. Lines that a copy has in common with the original also make them equal if
 * another version of jpg read the stored turn and left out something of the harness.
 */
function isSameTurn(ours: readonly Event[], theirs: readonly Event[], lineage: SessionLineage | undefined): boolean {
  const [own, other] = [ours.filter(isSaid), theirs.filter(isSaid)];
  if (own.length === other.length && own.every((event, at) => contentOf(event) === contentOf(other[at] ?? event)))
    return true;
  if (lineage === undefined) return false;
  const words = new Map(own.map((event) => [originalId(event.id, lineage), wordsOf(event)]));
  const known = new Set(other.map(({ id }) => id));
  return (
    other.length > 0 &&
    other.every((event) => words.get(event.id) === wordsOf(event)) &&
    own.every((event) => known.has(originalId(event.id, lineage)) || event.metadata?.origin === "harness")
  );
}

/** The id that an event has where its line was copied from. */
export function originalId(id: string, { originalOf }: SessionLineage): string {
  const line = lineOf(id);
  return `${originalOf(line)}${id.slice(line.length)}`;
}

function wordsOf(event: Event): string {
  return JSON.stringify({ ...event, id: "", metadata: undefined });
}

/**
 * Counts the turns of a copy that begins at a compaction, without what the compaction hides: all that is in the branch, up to the
 * end of a turn there.
 */
async function countAfterCompaction(
  store: ConversationStore,
  session: ImportedSession,
  tree: BranchTree,
): Promise<SharedCounts> {
  const { lineage } = session;
  const [turnOf, lastOf] = [new Map<string, number>(), new Map<number, string>()];
  for (const turn of tree.turnOids.keys()) {
    for (const { id } of (await storedTurn(store, tree, turn)).filter(isSaid)) {
      turnOf.set(id, turn);
      lastOf.set(turn, id);
    }
  }
  let found: SharedCounts = { shared: 0, copied: 0 };
  for (let turn = 0; turn < session.turnCount && lineage !== undefined; turn++) {
    const ids = session
      .readTurn(turn)
      .filter((event) => isSaid(event) && !isSummary(event))
      .map(({ id }) => originalId(id, lineage));
    if (!ids.every((id) => turnOf.has(id))) break;
    const last = ids.at(-1) ?? "";
    const at = turnOf.get(last);
    if (at !== undefined && lastOf.get(at) === last && at >= turn) found = { shared: at + 1, copied: turn + 1 };
  }
  return found;
}

function isSummary({ metadata }: Event): boolean {
  return metadata?.origin === "summary";
}

/** The compaction that a copy begins with: the branch may have it later than the turn after which the copy continues. */
export async function compactionBefore(
  store: ConversationStore,
  tree: BranchTree,
  { lineage }: ImportedSession,
): Promise<readonly Compaction[]> {
  if (lineage?.after === undefined) return [];
  const { compaction } = lineage.after;
  return (await everyImportedCompaction(store, tree)).filter(({ id }) => id === compaction);
}

export async function storedTurn(store: ConversationStore, tree: BranchTree, turn: number): Promise<readonly Event[]> {
  const [bytes = new Uint8Array()] = await collectBlobs(store, [tree.turnOids[turn] ?? ""]);
  return parseTurnBytes(bytes, turn);
}

export function isSaid({ type }: Event): boolean {
  return type !== "turn_start" && type !== "note";
}

export function contentOf(event: Event): string {
  const { id: _id, timestamp: _timestamp, metadata, ...content } = event as Event & { readonly metadata?: object };
  const { message_id: _message, ...made } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  return JSON.stringify([content, made]);
}

/** All imported compactions that a branch ever had, oldest first. */
export async function everyImportedCompaction(store: ConversationStore, tree: BranchTree): Promise<Compaction[]> {
  const found: Compaction[] = [];
  for (const { commit, added } of (await readRecordLog(store, tree.commit)).toReversed()) {
    const paths = added.filter((path) => compactionIdOfPath(path) !== null);
    const oids = await store.readEntries(commit, paths);
    for (const path of paths) {
      const [bytes] = await collectBlobs(store, [oids.get(path) ?? ""]);
      const record = parseCompactionLine(new TextDecoder().decode(bytes), path);
      if (record.source === "import" && !found.some(({ id }) => id === record.id)) found.push(record);
    }
  }
  return found;
}

/** A range that begins with the file begins with the conversation. */
export function shiftTurns(compaction: Compaction, shift: number): Compaction {
  const { from_turn: from, from_event: event, to_turn: to } = compaction;
  return { ...compaction, from_turn: from === 0 && event === undefined ? 0 : from + shift, to_turn: to + shift };
}
