// Decides where an import writes: a new conversation, a fork, or the branch that the session continues; and from which turn on.

import type { ParentSession } from "../../core/conversation/branch-files.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { branchName, conversationId, conversationOf, isTurnNumber, shortId } from "../../core/conversation/name.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import type { ExportOrigin, ImportedSession } from "../../formats/imported-session.ts";
import type { LiveMarks } from "../../formats/live-mark.ts";
import type { SessionDescent } from "../../formats/session-source.ts";
import type { BranchTip, ConversationStore, FileChange, TreeFile } from "../../store/store.ts";
import { compactionIdOfPath, findAddition, groupPaths } from "../conversation/append.ts";
import { type BranchAtTurn, startOfTurns } from "../conversation/fork-start.ts";
import { readRecordLog } from "../conversation/log.ts";
import {
  type BranchTree,
  type ConversationHeader,
  collectBlobs,
  FORMAT_VERSION,
  loadBranchTree,
} from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { titleForId } from "../names/conversations.ts";
import { type FamilyNames, familyOf, importSuffix } from "../names/find-session.ts";
import { listPieces, type OpenSession } from "../sessions/open-session.ts";
import type { ContinuedSession } from "./continued-session.ts";
import { alignPieces, type KnownRecords, type TurnChain, type TurnSequence } from "./import-commits.ts";

export interface ImportPlace {
  readonly branch: string;
  /** The branch's tip; null = it must not exist. */
  readonly expected: string | null;
  /** The commit to build on; null = write a root commit. */
  readonly parent: string | null;
  /** First turn to write, 0-based. */
  readonly firstTurn: number;
  /** Whether `parent` has the first turn already: its commit says "(continued)". */
  readonly continued: boolean;
  /** Further changes of the first commit. */
  readonly changes: readonly FileChange[];
  /** Written by a root commit; null when the conversation exists. */
  readonly header: ConversationHeader | null;
}

interface Placing {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
  /** What it continues, if jpg exported it; null also where `keepsTurns`. */
  readonly continued: ContinuedSession | null;
  /** Whether the branch has pieces of this session. */
  readonly holdsPieces: boolean;
  /** Whether the file no longer begins with them: then no commit is replaced, so that they stay in history. */
  readonly replacesPieces: boolean;
  /** Whether the branch's turns stay as an earlier version of jpg read them: then no commit is replaced. */
  readonly keepsTurns: boolean;
  /**
   * Branch names at the time of the comparison. A branch created after that may be of this very session: the write is then refused,
   * and planned again.
   */
  readonly taken: ReadonlySet<string>;
}

export async function placeImport(workspace: Workspace, placing: Placing): Promise<ImportPlace> {
  const { decision } = placing;
  switch (decision.kind) {
    case "create":
      return newConversation(placing);
    case "fork":
      return align(workspace, placing, await placeFork(workspace, placing, decision));
    case "same":
    case "extend":
      return placeOnBranch(workspace, placing, decision);
  }
}

/** Adds to the first commit the changes that make its parent's pieces equal to the file. */
async function align({ store }: Workspace, placing: Placing, at: PlaceOnCommit): Promise<ImportPlace> {
  const { open, session, sequence } = placing;
  const place = withOneTurn(at, placing);
  const { source, document, limits } = open;
  const stretches = { sequence, source, document, session: session.sessionId, limits };
  const pieces = await alignPieces(store, place.parent, { ...stretches, firstTurn: place.firstTurn });
  return { ...place, changes: [...place.changes, ...pieces] };
}

type PlaceOnCommit = ImportPlace & { readonly parent: string };

/** Lines or compactions without a new turn still need a commit: a continued one of the newest turn. */
function withOneTurn<Place extends ImportPlace>(place: Place, { chain }: Placing): Place {
  return place.firstTurn < chain.turnCount ? place : { ...place, firstTurn: chain.turnCount - 1, continued: true };
}

const PLAIN = { expected: null, continued: false, header: null, changes: [] } as const;

async function placeFork(
  { store }: Workspace,
  placing: Placing,
  { candidate, commonTurns }: Extract<ImportDecision, { kind: "fork" }>,
): Promise<PlaceOnCommit> {
  const branch = forkName(placing, { conversation: conversationOf(candidate.branch), commonTurns });
  const start = placing.continued?.start;
  if (start !== undefined && commonTurns <= start.turnCount) {
    // The agent was shown the turns of the export, with the compactions in force there.
    const firstTurn = placing.sequence.known.length;
    const continued = firstTurn < start.turnCount;
    return { ...PLAIN, branch, parent: start.commit, firstTurn, continued, changes: start.changes };
  }
  const begin = await startOfTurns(store, candidate, commonTurns);
  const changes = await withoutFormerReading(store, begin, placing);
  return { ...PLAIN, branch, parent: begin.commit, firstTurn: commonTurns, changes };
}

/**
 * Changes the tree of the first turns to begin with: removes compactions that the agent's path does not have any more, imported
 * ones and those that jpg made while the agent ran.
 */
async function withoutFormerReading(
  store: ConversationStore,
  start: BranchAtTurn,
  { session, continued }: Placing,
): Promise<readonly FileChange[]> {
  // A session that jpg exported does not contain the earlier compactions, nor does a copy that begins at one.
  const hasEarlier = continued === null && session.lineage?.after === undefined;
  if (start.compactions.length === 0 || !hasEarlier) return start.changes;
  const { all } = await loadCompactions(store, await loadBranchTree(store, "", start.commit));
  const read = new Set(session.compactions.map(({ id }) => id));
  const live = new Set(
    session.live?.marks.filter(({ isInstalled }) => isInstalled).map(({ compaction }) => compaction),
  );
  const isMade = ({ id, source }: Compaction): boolean => source === "import" || live.has(id);
  const gone = new Set(all.filter((record) => isMade(record) && !read.has(record.id)).map(({ id }) => id));
  const files = start.compactions.filter(({ path }) => gone.has(compactionIdOfPath(path) ?? ""));
  return [...start.changes, ...files.map(({ path }): FileChange => ({ path, remove: true }))];
}

async function placeOnBranch(
  workspace: Workspace,
  placing: Placing,
  decision: Extract<ImportDecision, { kind: "same" | "extend" }>,
): Promise<ImportPlace> {
  const { branch, commit, turnOids } = decision.candidate;
  const { open, holdsPieces, replacesPieces, keepsTurns } = placing;
  const onTip = { ...PLAIN, branch, expected: commit, parent: commit, firstTurn: turnOids.length };
  const last = turnOids.length - 1;
  const grew = decision.kind === "extend" && decision.grew;
  if (last < 0 || (!grew && !holdsPieces)) return align(workspace, placing, onTip);
  const exported = placing.continued?.exported;
  const tip = { branch, commit, turn: last, agentEmail: open.format.agent.email };
  const grown =
    keepsTurns || replacesPieces
      ? { parent: commit, continued: true }
      : await placeOfGrownTurn(workspace.store, { ...tip, exported });
  const onNewest = { ...onTip, ...grown, firstTurn: last };
  if (grew || decision.kind === "same") return align(workspace, placing, onNewest);
  // With new turns, the newest stored one is written again only if its lines in the file grew and its commit can be replaced.
  const aligned = await align(workspace, placing, onTip);
  return grown.parent === commit || aligned.changes.length === 0 ? aligned : align(workspace, placing, onNewest);
}

/** Names a new conversation; its suffix is longer if another session has the name already, or if it would be all digits. */
async function newConversation({ session, open, taken }: Placing): Promise<ImportPlace> {
  const title = await titleForId(session.title);
  let own = importSuffix(open.format.name, open.sessionId);
  const idOf = (): string => conversationId(title, own);
  for (let length = own.length + 1; isTurnNumber(own) || taken.has(branchName(idOf(), "main")); length++)
    own = importSuffix(open.format.name, session.sessionId, length);
  const id = idOf();
  const header: ConversationHeader = {
    format: FORMAT_VERSION,
    id,
    title: session.title,
    created_at: session.createdAt,
    source: {
      format: open.format.name,
      session: session.sessionId,
      importer: session.importer,
      ...(open.descent !== null && { parent: parentOf(open.descent) }),
    },
  };
  return { ...PLAIN, branch: branchName(id, "main"), parent: null, firstTurn: 0, header };
}

function parentOf({ kind, sessions: [session = ""], call, name }: SessionDescent): ParentSession {
  return { kind, session, call, name };
}

/** Names a fork after the first turn that differs: the same rewind has the same name everywhere. */
function forkName(
  { chain, taken }: Placing,
  at: { readonly conversation: string; readonly commonTurns: number },
): string {
  const digest = chain.oids(at.commonTurns + 1).at(-1) ?? "";
  for (let length = 4; ; length++) {
    const name = branchName(at.conversation, `fork-${shortId(digest, length)}`);
    if (!taken.has(name)) return name;
  }
}

export interface ImportCandidate {
  readonly branch: string;
  readonly commit: string;
  readonly turnOids: readonly string[];
  /**
   * Whether the session has a longer form of the branch's last turn: together with the next turn, all of its lines, and more or in
   * another order.
   */
  readonly lastTurnGrew: boolean;
  readonly active: boolean;
}

export type ImportDecision =
  | { readonly kind: "create" }
  /** The file has every turn of the branch: write from `firstTurn` on (a grown last turn is written again). */
  | { readonly kind: "extend"; readonly candidate: ImportCandidate; readonly firstTurn: number; readonly grew: boolean }
  /** The branch has all turns unchanged; the file may have more lines that are no events. */
  | { readonly kind: "same"; readonly candidate: ImportCandidate }
  /** The file left the branch's path, or the branch has other turns: make a fork after `commonTurns` turns. */
  | { readonly kind: "fork"; readonly candidate: ImportCandidate; readonly commonTurns: number };

/** Counts the first turns that two histories share. */
export function commonTurns(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

/** How many turns of a session to compare: as many as the longest branch has. */
export function turnsToCompare(candidates: readonly { readonly turnOids: readonly string[] }[]): number {
  return candidates.reduce((most, candidate) => Math.max(most, candidate.turnOids.length), 0);
}

/**
 * Decides for a session of `turnCount` turns whose first ones have the given object ids (see `turnsToCompare`). The branch that
 * shares most turns wins, then one that the session continues, then the active one.
 */
export function decideImport(
  { oids, turnCount }: { readonly oids: readonly string[]; readonly turnCount: number },
  candidates: readonly ImportCandidate[],
): ImportDecision {
  const ranked = candidates
    .map((candidate) => {
      const common = commonTurns(oids, candidate.turnOids);
      const grew = candidate.lastTurnGrew && common === candidate.turnOids.length - 1;
      const shared = grew ? common + 1 : common;
      return { candidate, common, grew, shared, extends: shared === candidate.turnOids.length };
    })
    .sort(
      (a, b) =>
        b.shared - a.shared ||
        Number(b.extends) - Number(a.extends) ||
        Number(b.candidate.active) - Number(a.candidate.active),
    );
  const best = ranked[0];
  if (best === undefined) return { kind: "create" };
  if (best.common === turnCount && best.common === best.candidate.turnOids.length)
    return { kind: "same", candidate: best.candidate };
  return best.extends
    ? { kind: "extend", candidate: best.candidate, firstTurn: best.common, grew: best.grew }
    : { kind: "fork", candidate: best.candidate, commonTurns: best.common };
}

/** A branch with pieces of the session. */
export interface SessionBranch {
  readonly tree: BranchTree;
  readonly pieces: readonly TreeFile[];
}

interface SessionNames extends FamilyNames {
  readonly session: string;
}

/** The branches of the session's conversation (or of the one that it continues) with pieces of it, in order of names. */
export async function findSessionBranches(
  store: ConversationStore,
  branches: readonly BranchTip[],
  names: SessionNames,
): Promise<SessionBranch[]> {
  const found: SessionBranch[] = [];
  for (const { name, commit } of familyOf(branches, names)) {
    const pieces = await listPieces(store, commit, names.session);
    if (pieces.length > 0) found.push({ tree: await loadBranchTree(store, name, commit), pieces });
  }
  return found;
}

/** Prepares a branch for `decideImport`; `sessionTurn` returns the session's bytes of a turn, null past its end. */
export async function toCandidate(
  store: ConversationStore,
  tree: BranchTree,
  how: { readonly active: string | null; readonly sessionTurn: (index: number) => Uint8Array | null },
): Promise<ImportCandidate> {
  const last = tree.turnOids.length - 1;
  const now = last < 0 ? null : how.sessionTurn(last);
  const next = now === null ? null : how.sessionTurn(last + 1);
  const [before] = now === null ? [] : await collectBlobs(store, [tree.turnOids[last] ?? ""]);
  return {
    branch: tree.branch,
    commit: tree.commit,
    turnOids: tree.turnOids,
    lastTurnGrew: now !== null && before !== undefined && hasGrown(before, now, next),
    active: tree.branch === how.active,
  };
}

/**
 * Whether a turn has all its former lines, and more or in another order: a late part of a message is inserted into the message, and
 * a result written before its call is moved after it once the session continues. A line may also move to the `next` turn, when the
 * message that it follows arrives.
 */
export function hasGrown(before: Uint8Array, now: Uint8Array, next: Uint8Array | null = null): boolean {
  const [start, ...lines] = linesOf(before);
  const [newStart, ...newLines] = linesOf(now);
  const held = new Set([...newLines, ...(next === null ? [] : linesOf(next).slice(1))]);
  return start === newStart && lines.every((line) => held.has(line)) && !Buffer.from(before).equals(now);
}

function linesOf(turn: Uint8Array): string[] {
  return new TextDecoder().decode(turn).split("\n");
}

/**
 * Reads the compactions that a commit, changed so, has and had; null = there is no commit yet. Those in force are read where the
 * session says that some were taken back.
 */
export async function readKnownRecords(
  workspace: Pick<Workspace, "store">,
  commit: string | null,
  { changes, live: undo }: { readonly changes: readonly FileChange[]; readonly live?: LiveMarks },
): Promise<KnownRecords> {
  if (commit === null) return { ids: new Set(), reverted: new Set(), live: new Map() };
  const { store } = workspace;
  const entries = await readRecordLog(store, commit);
  const idOf = (path: string): string => compactionIdOfPath(path) ?? path;
  const reverted = new Set(entries.flatMap(({ removed }) => removed.map(idOf)));
  const ids = new Set([...entries.flatMap(({ added }) => added.map(idOf)), ...reverted]);
  if (undo === undefined || undo.undone.length === 0) return { ids, reverted, live: new Map() };
  const tree = await loadBranchTree(store, "", commit);
  const together = await groupPaths(workspace, tree, await loadCompactions(store, tree));
  const gone = new Set(changes.flatMap((change) => ("remove" in change ? [change.path] : [])));
  const live = tree.compactions.flatMap(({ path }) => {
    const addition = findAddition(entries, idOf(path))?.entry;
    if (gone.has(path) || addition === undefined) return [];
    const [subject = ""] = addition.message.split("\n", 1);
    return [[idOf(path), { paths: together(path), subject, commit: addition.commit }] as const];
  });
  return { ids, reverted, live: new Map(live) };
}

/** Where to write a newest turn that grew. */
interface TurnPlace {
  readonly parent: string;
  /** Whether the shorter form of the turn stays in history. */
  readonly continued: boolean;
}

/**
 * Finds where to write when the newest turn grew: in place of its commit if nothing was built on it and nothing is published, so
 * that history reads as if imported at once; else on the tip, as a commit that continues the turn.
 */
async function placeOfGrownTurn(
  store: ConversationStore,
  tip: {
    readonly branch: string;
    readonly commit: string;
    readonly turn: number;
    readonly agentEmail: string;
    /** A commit that an exported session names. */
    readonly exported?: string;
  },
): Promise<TurnPlace> {
  const onTip = { parent: tip.commit, continued: true };
  if (await store.isPublished()) return onTip;
  const elsewhere = await commitsOfOtherBranches(store, tip.branch, tip.turn);
  if (tip.exported !== undefined) elsewhere.add(tip.exported);
  for (const entry of await store.readLog({ from: tip.commit, limit: NEWEST_COMMITS })) {
    if (entry.committer.email !== tip.agentEmail || elsewhere.has(entry.commit)) return onTip;
    const parent = entry.parents[0];
    const [, turn, continued] = /^turn (\d+)( \(continued\))?/.exec(entry.message) ?? [];
    if (turn === String(tip.turn) && parent !== undefined) return { parent, continued: continued !== undefined };
    if (entry.added.length !== 1 || compactionIdOfPath(entry.added[0] ?? "") === null) return onTip;
  }
  return onTip;
}

/** Commits of compactions, at most, that are replaced together with the turn below them. */
const NEWEST_COMMITS = 20;

/** The commits on a conversation's other branches that wrote the turn or a compaction. */
async function commitsOfOtherBranches(store: ConversationStore, branch: string, turn: number): Promise<Set<string>> {
  const commits = new Set<string>();
  for (const other of await store.listBranches()) {
    if (other.name === branch || conversationOf(other.name) !== conversationOf(branch)) continue;
    const log = await readRecordLog(store, other.commit, [turnPath(turn), "compactions"]);
    for (const entry of log) commits.add(entry.commit);
  }
  return commits;
}

// Finds sessions of one conversation, so that the second one of a write waits until the first is stored. It is called for each of
// thousands of sessions, so it looks them up by id.

/** The ids that decide which conversation a session belongs to. */
export interface ConflictNames {
  readonly sessionId: string;
  /** The conversation that jpg exported it from. */
  readonly origin: ExportOrigin | null;
  /** Ids of the sessions that it was forked off. */
  readonly forkedOff: readonly string[];
  /** The line that it begins with, which copies of it begin with, too; absent = unknown. */
  readonly start?: string;
  /** Whether it may be a copy of an export, of any conversation. */
  readonly mayBeCopiedExport?: boolean;
}

interface SessionConflicts {
  /** Adds a session that is being written; one that cannot change the store conflicts with none. */
  add(names: ConflictNames, session: { readonly mayChange: boolean }): void;
  /** Whether a session may be of the same conversation as one of them. */
  mustWait(names: ConflictNames): boolean;
}

export function createSessionConflicts(): SessionConflicts {
  const ids = new Set<string>();
  const forked = new Set<string>();
  const starts = new Set<string>();
  let hasOrigin = false;
  return {
    add({ sessionId, origin, forkedOff, start, mayBeCopiedExport }, { mayChange }) {
      if (!mayChange) return;
      ids.add(sessionId);
      if (start !== undefined) starts.add(start);
      for (const id of forkedOff) forked.add(id);
      hasOrigin ||= origin !== null || mayBeCopiedExport === true;
    },
    mustWait({ sessionId, origin, forkedOff, start, mayBeCopiedExport }) {
      if (ids.size === 0) return false;
      if (start !== undefined && starts.has(start)) return true;
      if (hasOrigin || origin !== null || mayBeCopiedExport === true || ids.has(sessionId) || forked.has(sessionId))
        return true;
      return forkedOff.some((id) => ids.has(id) || forked.has(id));
    },
  };
}
