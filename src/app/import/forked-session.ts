// A session that an agent began as a copy of another one: as far as it says the same as that one's conversation, it is a fork of
// it. Copies have new ids and times, so their content is compared.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import type { Event } from "../../core/conversation/event.ts";
import { branchName, conversationOf } from "../../core/conversation/name.ts";
import { turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import type { AbandonedBranch, ImportedSession, SessionLineage } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { startOfTurns } from "../conversation/fork-start.ts";
import { readRecordLog } from "../conversation/log.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../conversation/tree.ts";
import { inlineEvents, parseTurnBytes, prepareTurn } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { familyOf, findSession } from "../names/find-session.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { lineOf } from "./continued-session.ts";
import {
  abandonedSequence,
  createTurnChain,
  makeCommits,
  type TurnChain,
  type TurnSequence,
  wholeSequence,
} from "./import-commits.ts";
import { commonTurns, everyCompactionId, type SessionBranch } from "./import-place.ts";
import { countStoredEvents } from "./import-report.ts";

export interface ForkedSession {
  /** The branch with these turns: the session's own, or the one that it was forked off. */
  readonly tree: BranchTree;
  /** Whether no branch has the session yet. */
  readonly isNew: boolean;
  /** Whether the session is only a copy: no branch is made of it. */
  readonly addsNothing: boolean;
  /** The number of the branch's turns that it shares, at least 1. */
  readonly shared: number;
  /** The session, its compactions with the ids of the branch. */
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
}

/**
 * The conversation of the session that this one was forked off; undefined where it is no fork, or the store does not have the
 * other.
 */
export async function conversationForkedOff(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { descent, origin, format, sessionId }: Pick<OpenSession, "descent" | "origin" | "format" | "sessionId">,
): Promise<string | undefined> {
  if (descent?.kind !== "fork" || origin !== null) return undefined;
  // First its own branch: the original may have been deleted since.
  for (const session of [sessionId, ...descent.sessions]) {
    const tip = await findSession(store, tips, { format: format.name, session });
    if (tip !== null) return conversationOf(tip.name);
  }
  return undefined;
}

/** Where to look for a fork's first turns. */
export interface ForkFamily {
  readonly tips: readonly BranchTip[];
  /** As `conversationForkedOff` returns it. */
  readonly conversation: string | undefined;
  /** Branches that have the session already. */
  readonly own: readonly SessionBranch[];
}

/** Reads a session as a fork of another conversation; null if they share no turn. */
export async function readForkedSession(
  { store }: { readonly store: ConversationStore },
  open: OpenSession,
  { session, family }: { readonly session: ImportedSession; readonly family: ForkFamily },
): Promise<ForkedSession | null> {
  if (family.conversation === undefined) return null;
  const found =
    family.own.length > 0 ? await findOwn(store, session, family.own) : await findShared(store, session, family);
  if (found === null || found.shared === 0) return null;
  const { tree, shared, copied } = found;
  const shift = shared - copied;
  const counts = await countStoredEvents(store, tree.turnOids.slice(0, shared));
  const known = counts.map((events, turn) => ({ oid: tree.turnOids[turn] ?? "", events }));
  const kept = await storedTurn(store, tree, shared - 1);
  const stored = await inlineEvents(store, tree.commit, kept);
  const named = await nameCompactions(store, found, session);
  const begins = await compactionBefore(store, tree, session);
  const whole = wholeSequence(named, countLines(open), known);
  const sequence: TurnSequence = {
    turnCount: session.turnCount + shift,
    known,
    asStored: new Map(kept.map((event) => [event.id, event])),
    readTurn: (index) => (index < shared ? (index === shared - 1 ? stored : []) : session.readTurn(index - shift)),
    lines: (index) => {
      const lines = index < shared ? null : whole.lines(index - shift);
      // The copied lines are stored with the first turn that is new.
      return lines !== null && index === shared ? { ...lines, first: 0 } : lines;
    },
    compactionsAfter: (index) => {
      if (index < shared - 1) return [];
      return [...(index === shared - 1 ? begins : []), ...whole.compactionsAfter(index - shift)];
    },
    titlesIn: (index) => (index < shared ? [] : whole.titlesIn(index - shift)),
    toolsIn: (index) => (index < shared ? [] : whole.toolsIn(index - shift)),
    settingsIn: (index) => (index < shared ? [] : whole.settingsIn(index - shift)),
  };
  const isNew = family.own.length === 0;
  return { tree, isNew, addsNothing: isNew && copied === session.turnCount, shared, session: named, sequence };
}

interface SharedTurns {
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
async function findOwn(
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
async function findShared(
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
const NO_SUFFIX = "-".repeat(8);

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
function originalId(id: string, { originalOf }: SessionLineage): string {
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
async function compactionBefore(
  store: ConversationStore,
  tree: BranchTree,
  { lineage }: ImportedSession,
): Promise<readonly Compaction[]> {
  if (lineage?.after === undefined) return [];
  const { compaction } = lineage.after;
  return (await everyImportedCompaction(store, tree)).filter(({ id }) => id === compaction);
}

async function storedTurn(store: ConversationStore, tree: BranchTree, turn: number): Promise<readonly Event[]> {
  const [bytes = new Uint8Array()] = await collectBlobs(store, [tree.turnOids[turn] ?? ""]);
  return parseTurnBytes(bytes, turn);
}

function isSaid({ type }: Event): boolean {
  return type !== "turn_start" && type !== "note";
}

function contentOf(event: Event): string {
  const { id: _id, timestamp: _timestamp, metadata, ...content } = event as Event & { readonly metadata?: object };
  const { message_id: _message, ...made } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  return JSON.stringify([content, made]);
}

/**
 * Gives copied compactions the ids that they have on the branch, even if they were reverted there, and has the others name the
 * branch's events.
 */
async function nameCompactions(
  store: ConversationStore,
  { tree, shared, copied }: SharedTurns,
  session: ImportedSession,
): Promise<ImportedSession> {
  if (session.compactions.length === 0) return session;
  const shift = shared - copied;
  const events = shift === 0 ? await pairEvents(store, tree, { session, shared }) : originalEvents(session, copied);
  const known = await everyImportedCompaction(store, tree);
  const named = session.compactions.map((own): Compaction => {
    const compaction = shiftTurns(own, shift);
    if (compaction.to_turn >= shared) return withEvents(compaction, events);
    const same = known.findIndex((other) => saysTheSame(compaction, other));
    const [taken] = same < 0 ? [] : known.splice(same, 1);
    return withEvents({ ...compaction, ...(taken !== undefined && { id: taken.id }) }, events);
  });
  const turns = session.compactions.map(
    ({ id }, at) => [named[at]?.id ?? id, session.compactionTurns.get(id)] as const,
  );
  const compactionTurns = new Map(turns.flatMap(([id, turn]) => (turn === undefined ? [] : [[id, turn]])));
  return { ...session, compactions: named, compactionTurns };
}

/** The stored event that each copied one repeats, by their order. */
async function pairEvents(
  store: ConversationStore,
  tree: BranchTree,
  { session, shared }: { readonly session: ImportedSession; readonly shared: number },
): Promise<ReadonlyMap<string, string>> {
  const events = new Map<string, string>();
  for (let turn = 0; turn < shared; turn++) {
    const theirs = (await storedTurn(store, tree, turn)).filter(isSaid);
    let before = theirs[0]?.id;
    let at = 0;
    for (const event of session.readTurn(turn)) {
      if (isSaid(event)) before = theirs[at++]?.id ?? before;
      if (before !== undefined) events.set(event.id, before);
    }
  }
  return events;
}

/** The same by their ids. */
function originalEvents(session: ImportedSession, copied: number): ReadonlyMap<string, string> {
  const { lineage } = session;
  const turns = lineage === undefined ? [] : Array.from({ length: copied }, (_, turn) => session.readTurn(turn));
  return new Map(turns.flat().flatMap(({ id }) => (lineage === undefined ? [] : [[id, originalId(id, lineage)]])));
}

/** A range that begins with the file begins with the conversation. */
function shiftTurns(compaction: Compaction, shift: number): Compaction {
  const { from_turn: from, from_event: event, to_turn: to } = compaction;
  return { ...compaction, from_turn: from === 0 && event === undefined ? 0 : from + shift, to_turn: to + shift };
}

function withEvents(compaction: Compaction, events: ReadonlyMap<string, string>): Compaction {
  const rename = (id: string): string => events.get(id) ?? id;
  const { from_event: from, to_event: to, keep } = compaction;
  return {
    ...compaction,
    ...(from !== undefined && { from_event: rename(from) }),
    ...(to !== undefined && { to_event: rename(to) }),
    ...(keep !== undefined && { keep: keep.map(rename) }),
  };
}

function saysTheSame(a: Compaction, b: Compaction): boolean {
  const words = ({ from_turn, to_turn, summary, replacement = [], turns, reason, keep = [] }: Compaction): string =>
    JSON.stringify([from_turn, to_turn, summary?.summary, replacement.map(contentOf), turns, reason, keep.length]);
  return words(a) === words(b);
}

/** All imported compactions that a branch ever had, oldest first. */
async function everyImportedCompaction(store: ConversationStore, tree: BranchTree): Promise<Compaction[]> {
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

// `import --all-branches`: a fork for each abandoned branch of the session, unless a branch has it already.

interface AbandonedPaths {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  /** The turns of the path that the agent follows. */
  readonly chain: TurnChain;
  /** The branch that has them. */
  readonly branch: string;
}

/** Makes the forks and returns the names of those that it made. */
export async function forkAbandoned(workspace: Workspace, left: AbandonedPaths): Promise<string[]> {
  const names: string[] = [];
  if (left.session.abandoned.length === 0) return names;
  const family = await loadFamily(workspace, conversationOf(left.branch));
  for (const abandoned of left.session.abandoned) {
    const made = await forkOne(workspace, left, { abandoned, family });
    if (made !== null) names.push(made);
  }
  return names;
}

async function loadFamily(workspace: Workspace, conversation: string): Promise<BranchTree[]> {
  const trees: BranchTree[] = [];
  for (const { name, commit } of await workspace.store.listBranches()) {
    if (conversationOf(name) === conversation) trees.push(await loadBranchTree(workspace.store, name, commit));
  }
  return trees;
}

async function forkOne(
  workspace: Workspace,
  { open, session, chain, branch }: AbandonedPaths,
  { abandoned, family }: { readonly abandoned: AbandonedBranch; readonly family: readonly BranchTree[] },
): Promise<string | null> {
  const { store } = workspace;
  const common = abandoned.commonTurns;
  const sequence = abandonedSequence(abandoned, chain.known(common));
  const own = createTurnChain(sequence);
  const oids = own.oids(own.turnCount);
  const holds = (turns: number) => (tree: BranchTree) => commonTurns(oids, tree.turnOids) >= turns;
  if (family.some(holds(oids.length))) return null;
  const host = family.find((tree) => tree.branch === branch && holds(common)(tree)) ?? family.find(holds(common));
  if (host === undefined) return null;
  const { commit: parent, changes } = await startOfTurns(store, host, common);
  const name = branchName(conversationOf(branch), abandoned.name);
  const commits = makeCommits({
    sequence,
    chain: own,
    source: open.source,
    document: null,
    limits: open.limits,
    session: session.sessionId,
    agent: open.format.agent,
    firstTurn: common,
    continued: false,
    changes,
    known: await everyCompactionId(store, parent),
    sideFiles: [],
  });
  const [result] = await store.write([{ branch: name, expected: null, parent, commits }]);
  return result?.moved === true ? name : null;
}
