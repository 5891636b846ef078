// Reads a session and decides where it goes: by what the branches hold of its bytes and of its turns.
import { type JpgError, userError } from "../../core/errors.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import {
  compareSource,
  countLines,
  nameOfInput,
  type OpenSession,
  type SourceComparison,
} from "../sessions/open-session.ts";
import { type ContinuedSession, readContinuedSession } from "./continued-session.ts";
import { type ForkedSession, type ForkFamily, readForkedSession } from "./forked-session.ts";
import { createTurnChain, type TurnChain, type TurnSequence, wholeSequence } from "./import-commits.ts";
import {
  commonTurns,
  decideImport,
  hasGrown,
  type ImportDecision,
  type SessionBranch,
  toCandidate,
  turnsToCompare,
} from "./import-place.ts";
import { keepStoredTurns, type Reading } from "./stored-reading.ts";

/** How the file stands to what a branch holds of it. */
export interface HeldSource {
  readonly branch: SessionBranch;
  readonly comparison: SourceComparison;
  /** Bytes of the session that the branch holds. */
  readonly byteLength: number;
}

/** Compares a file with what the branches hold of it. */
export async function compareBranches(
  store: ConversationStore,
  open: OpenSession,
  branches: readonly SessionBranch[],
): Promise<HeldSource[]> {
  const held: HeldSource[] = [];
  for (const branch of branches) {
    const { tree, pieces } = branch;
    const comparison = await compareSource(store, tree.commit, pieces, open);
    held.push({ branch, comparison, byteLength: pieces.reduce((sum, { size }) => sum + (size ?? 0), 0) });
  }
  return held;
}

/** Whether a branch holds the whole file. */
export function isWhole(held: readonly HeldSource[], branch: string): boolean {
  return held.some((one) => one.branch.tree.branch === branch && ["same", "shorter"].includes(one.comparison));
}

/** A file as it is read now, and what it continues. */
export interface WholeReading extends Reading {
  readonly continued: ContinuedSession | null;
  /** Where its first turns are those of a conversation that it was forked off. */
  readonly forked: ForkedSession | null;
}

/** Reads a whole file. Throws `empty_session` when nobody asked anything in it. */
export async function readWhole(workspace: Workspace, open: OpenSession, family: ForkFamily): Promise<WholeReading> {
  const read = readSession(open);
  const continued = await readContinuedSession(workspace, open, read);
  const forked = continued === null ? await readForkedSession(workspace, open, { session: read, family }) : null;
  const session = forked?.session ?? read;
  const sequence = (continued ?? forked)?.sequence ?? wholeSequence(session, countLines(open));
  return { session, continued, forked, sequence, chain: createTurnChain(sequence) };
}

/** Where the turns of a sequence go. */
export interface Decided {
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
}

/** Decides where the turns of a sequence go among branches. */
export async function decide(
  { store }: Workspace,
  {
    sequence,
    chain,
    trees,
    active,
    mayGrow,
  }: Omit<Decided, "decision"> & {
    readonly trees: readonly BranchTree[];
    readonly active: string | null;
    readonly mayGrow: (branch: string) => boolean;
  },
): Promise<Decided> {
  const sessionTurn = (index: number): Uint8Array | null =>
    index < chain.turnCount ? chain.prepare(index).bytes : null;
  const candidates = await Promise.all(trees.map((tree) => toCandidate(store, tree, { active, sessionTurn })));
  const known = { oids: chain.oids(turnsToCompare(candidates)), turnCount: chain.turnCount };
  const growing = candidates.map((one) => ({ ...one, lastTurnGrew: one.lastTurnGrew && mayGrow(one.branch) }));
  return { sequence, chain, decision: decideImport(known, growing) };
}

/** What decides where a session goes. */
interface Deciding {
  readonly open: OpenSession;
  readonly held: readonly HeldSource[];
  readonly trees: readonly BranchTree[];
  readonly active: string | null;
  readonly reading: Reading & Pick<WholeReading, "forked">;
  readonly family: ForkFamily;
}

/** Decides where a session goes: by its turns, and by its bytes where a branch holds them as another jpg read them. */
export async function decideSession(
  workspace: Workspace,
  deciding: Deciding,
): Promise<Decided & { readonly keepsTurns: boolean }> {
  const { open, held, trees, active, reading } = deciding;
  if (reading.forked?.isNew === true) return forkOff(workspace, deciding, reading.forked);
  // What is read again is no growth of what was read before.
  const mayGrow = (branch: string): boolean => !open.again || !isWhole(held, branch);
  const decided = await decide(workspace, { ...reading, trees, active, mayGrow });
  const kept = open.again ? null : await decideByBytes(workspace, deciding, decided.decision);
  return kept === null ? { ...decided, keepsTurns: false } : { ...kept, keepsTurns: true };
}

/** A session that was forked off elsewhere goes on beside what it was forked off, never on it. */
async function forkOff(
  { store }: Workspace,
  { active, reading: { sequence, chain } }: Deciding,
  { tree, shared }: ForkedSession,
): Promise<Decided & { readonly keepsTurns: boolean }> {
  const candidate = await toCandidate(store, tree, { active, sessionTurn: () => null });
  return { sequence, chain, decision: { kind: "fork", candidate, commonTurns: shared }, keepsTurns: false };
}

/** Decides by the bytes that a branch holds, where an earlier version of jpg read them in another way; else null. */
async function decideByBytes(
  workspace: Workspace,
  { open, held, active, reading, family }: Deciding,
  decision: ImportDecision,
): Promise<Decided | null> {
  const [best] = held
    .filter(({ comparison }) => comparison !== "shorter" && comparison !== "different")
    .sort(
      (a, b) =>
        b.byteLength - a.byteLength ||
        Number(b.branch.tree.branch === active) - Number(a.branch.tree.branch === active),
    );
  if (best === undefined) return null;
  const { tree } = best.branch;
  if (decision.kind !== "fork" && decision.kind !== "create" && decision.candidate.branch === tree.branch) return null;
  const read = async (beginning: OpenSession): Promise<Reading | null> =>
    open.format.read(beginning.source).turnCount === 0 ? null : readWhole(workspace, beginning, family);
  const sequence = await keepStoredTurns({ store: workspace.store, open, holder: best.branch, read }, reading);
  if (sequence === null) return null;
  return decide(workspace, { sequence, chain: createTurnChain(sequence), trees: [tree], active, mayGrow: () => true });
}

/**
 * The branch that a document would leave although it holds all of the document's turns, the newest perhaps in a longer form.
 * Bytes cannot tell an older state of a document from a new one; an older state is nothing new.
 */
export async function findNewerState(
  store: ConversationStore,
  { chain, decision, trees }: Pick<Decided, "chain" | "decision"> & Pick<Deciding, "trees">,
): Promise<BranchTree | null> {
  if (decision.kind !== "fork") return null;
  const tree = trees.find(({ branch }) => branch === decision.candidate.branch);
  const last = chain.turnCount - 1;
  const common = tree === undefined ? 0 : commonTurns(chain.oids(chain.turnCount), tree.turnOids);
  if (tree === undefined || common < last) return null;
  if (common > last) return tree;
  const [stored] = await collectBlobs(store, [tree.turnOids[last] ?? ""]);
  return stored !== undefined && hasGrown(chain.prepare(last).bytes, stored) ? tree : null;
}

/** Parses a file. Throws `empty_session`. */
export function readSession(open: OpenSession): ImportedSession {
  const session = open.format.read(open.source, open.about, open.companion);
  if (session.turnCount === 0) throw emptySession(nameOfInput(open.path));
  return session;
}

function emptySession(name: string): JpgError {
  return userError("empty_session", `${name} holds no turn: nothing was asked in it.`, {
    hints: ["Nothing was imported. Agents write such files when a session is opened and closed."],
  });
}
