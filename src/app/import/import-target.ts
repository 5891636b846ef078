// Finds what the store holds of a session and where its next commits go.
import { conversationOf } from "../../core/conversation/name.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import type { BranchTip, ConversationStore, TreeFile } from "../../store/store.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { readRecordLog } from "../branch/record-log.ts";
import { type FamilyNames, familyOf } from "../names/session-family.ts";
import { listPieces } from "../sessions/stored-session.ts";
import type { ImportCandidate } from "./import-plan.ts";

/** A branch that holds pieces of the session. */
export interface SessionBranch {
  readonly tree: BranchTree;
  readonly pieces: readonly TreeFile[];
}

/** What a session's branches are found by. */
export interface SessionNames extends FamilyNames {
  readonly session: string;
}

/** The branches of the session's conversation (or of the one it continues) that hold pieces of it, by name. */
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

/** The branch as the import's plan sees it; `sessionTurn` gives the session's bytes of a turn, null past its end. */
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
 * Whether a turn holds every line that it held, and more or in another place: a late part of a message is put in where the
 * message stands, and a result that was written before its call is put behind the call once the session goes on from it. What
 * was written before the message that it follows stands with what came before until that message comes, then in `next`.
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

/** Ids of all compactions that a commit's history ever held. */
export async function everCompactions(store: ConversationStore, commit: string): Promise<Set<string>> {
  const entries = await readRecordLog(store, commit);
  return new Set(
    entries.flatMap((entry) => [...entry.added, ...entry.removed]).map((path) => compactionIdOfPath(path) ?? path),
  );
}

/** Where a newest turn that grew is written. */
export interface TurnPlace {
  readonly parent: string;
  /** The turn stays in history in its shorter form. */
  readonly continued: boolean;
}

/**
 * Where to build when the newest turn grew: in place of its commit when nothing was built on it and nothing of the store
 * is published, so that history reads as if it had been imported at once; else on the tip, as a commit that continues the turn.
 */
export async function placeOfGrownTurn(
  store: ConversationStore,
  tip: {
    readonly branch: string;
    readonly commit: string;
    readonly turn: number;
    readonly agentEmail: string;
    /** A commit that a session was exported from, and names. */
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

/** How many commits of compactions may stand on a turn that is replaced together with them. */
const NEWEST_COMMITS = 20;

/** The commits of a conversation's other branches that wrote the turn or a compaction. */
async function commitsOfOtherBranches(store: ConversationStore, branch: string, turn: number): Promise<Set<string>> {
  const commits = new Set<string>();
  for (const other of await store.listBranches()) {
    if (other.name === branch || conversationOf(other.name) !== conversationOf(branch)) continue;
    const log = await readRecordLog(store, other.commit, [turnPath(turn), "compactions"]);
    for (const entry of log) commits.add(entry.commit);
  }
  return commits;
}
