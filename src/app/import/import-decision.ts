// Decides what an import of a session writes, from the file and from the branches that may have it.
import { type JpgError, userError } from "../../core/errors.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import {
  compareSource,
  countLines,
  nameOfInput,
  type OpenSession,
  type SourceComparison,
} from "../sessions/open-session.ts";
import { type ContinuedSession, readContinuedSession } from "./continued-session.ts";
import { findCopiedExport, mayBeCopiedExport } from "./copied-export.ts";
import { conversationForkedOff, readForkedSession } from "./forked-session.ts";
import { createTurnChain, hasSideFiles, type TurnChain, type TurnSequence, wholeSequence } from "./import-commits.ts";
import {
  commonTurns,
  decideImport,
  findSessionBranches,
  hasGrown,
  type ImportDecision,
  type SessionBranch,
  toCandidate,
  turnsToCompare,
} from "./import-place.ts";
import type { FileState, StoreFacts } from "./import-report.ts";
import { findOriginal } from "./original-session.ts";
import type { ForkedSession } from "./shared-turns.ts";
import { keepStoredTurns, type Reading } from "./stored-reading.ts";

/** A session file, and what the store has of it. */
export interface SessionLook extends StoreFacts {
  readonly open: OpenSession;
  /** The conversation that it was forked off; undefined = none in the store. */
  readonly forkedOff: string | undefined;
  /** The branches that have pieces of it. */
  readonly held: readonly HeldSource[];
  /** The file as it was read to find its original; null = it was not read yet. */
  readonly read: ImportedSession | null;
}

/** A branch that has a part of the file, compared with it. */
interface HeldSource {
  readonly branch: SessionBranch;
  readonly comparison: SourceComparison;
  /** Bytes of the session on the branch. */
  readonly byteLength: number;
}

export type SessionDecision =
  /** Nothing to write: a branch has the whole file, or a continuation of it. */
  { readonly kind: "unchanged"; readonly tree: BranchTree; readonly isWhole: boolean } | ChangedSession;

export interface ChangedSession extends Decided {
  readonly kind: "changed";
  readonly session: ImportedSession;
  readonly continued: ContinuedSession | null;
  /** Whether the branch's turns stay as an earlier version of jpg read them. */
  readonly keepsTurns: boolean;
}

/** Compares a session's bytes with those on branches. Throws `empty_session`. */
export async function lookAtSession(
  { store }: Workspace,
  given: OpenSession,
  { tips, active }: StoreFacts,
): Promise<SessionLook> {
  const copied = mayBeCopiedExport(given) ? await findCopiedExport(store, tips, given) : null;
  const open = copied === null ? given : { ...given, origin: copied.origin };
  const named = await conversationForkedOff(store, tips, open);
  const names = { session: open.sessionId, suffix: importSuffix(open.format.name, open.sessionId) };
  const continues = open.origin?.conversation ?? named;
  const known = await findSessionBranches(store, tips, { ...names, continues });
  // A known session never moves to another conversation.
  const mayBeCopy = known.length === 0 && continues === undefined && open.format.start !== undefined;
  const read = copied !== null ? { ...readSession(open), ...copied } : mayBeCopy ? readSession(open) : null;
  const forkedOff = read === null || copied !== null ? named : await findOriginal(store, tips, { open, session: read });
  const branches =
    read === null || copied !== null || forkedOff === undefined
      ? known
      : await findSessionBranches(store, tips, { ...names, continues: forkedOff });
  const held: HeldSource[] = [];
  for (const branch of branches) {
    const { tree, pieces } = branch;
    const comparison = await compareSource(store, tree.commit, pieces, open);
    held.push({ branch, comparison, byteLength: pieces.reduce((sum, { size }) => sum + (size ?? 0), 0) });
  }
  return { open, tips, active, forkedOff, held, read };
}

/**
 * Decides what to write: nothing, if a branch has the file's bytes. Else reads the file and compares turns: the session is new,
 * continues a branch, or left it. Throws `empty_session` when it has no request.
 */
export async function decideSession(workspace: Workspace, look: SessionLook): Promise<SessionDecision> {
  const { open, held } = look;
  const holder = open.again ? null : await findHolder(workspace.store, look);
  if (holder !== null) return { kind: "unchanged", tree: holder, isWhole: true };
  const reading = await readWhole(workspace, look, open);
  const { session, continued, forked } = reading;
  const source = [continued, forked].find((one) => one?.addsNothing === true);
  if (source !== undefined && source !== null) return { kind: "unchanged", tree: source.tree, isWhole: false };
  const trees = held.map(({ branch }) => branch.tree);
  if (continued !== null && !trees.some((tree) => tree.branch === continued.tree.branch)) trees.push(continued.tree);
  const { keepsTurns, ...decided } = await decideTurns(workspace, look, { reading, trees });
  const nothing = await findNothingNew(workspace.store, look, { ...decided, trees });
  return nothing ?? { kind: "changed", ...decided, session, continued, keepsTurns };
}

/** The branch that has the file's bytes, or more of the same file; the active one if there are several. */
async function findHolder(store: ConversationStore, { open, held, active }: SessionLook): Promise<BranchTree | null> {
  const isActive = ({ branch }: HeldSource): boolean => branch.tree.branch === active;
  for (const { branch, comparison } of [...held].sort((a, b) => Number(isActive(b)) - Number(isActive(a)))) {
    const { tree } = branch;
    if (comparison === "shorter") return tree;
    const side = { id: open.sessionId, sideFiles: open.sideFiles.files };
    if (comparison === "same" && (await hasSideFiles(store, tree.commit, side))) return tree;
  }
  return null;
}

/** How a file of lines changed otherwise than by growing; undefined = it grew, or is new. */
export function fileState({ open, held }: SessionLook): FileState | undefined {
  const found = new Set(held.map(({ comparison }) => comparison));
  if (open.document !== null || found.size === 0 || found.has("same") || found.has("longer")) return undefined;
  return found.has("shorter") ? "shorter" : "rewritten";
}

/** Whether a branch has the whole file. */
function holdsWhole({ held }: SessionLook, branch: string): boolean {
  return held.some((one) => one.branch.tree.branch === branch && ["same", "shorter"].includes(one.comparison));
}

/** A file as this jpg reads it, and what it continues. */
interface WholeReading extends Reading {
  readonly continued: ContinuedSession | null;
  /** The fork that it is, if its first turns are those of another conversation. */
  readonly forked: ForkedSession | null;
}

/** Reads a file, or the beginning of one. Throws `empty_session` when it has no request. */
async function readWhole(
  workspace: Workspace,
  { tips, forkedOff, held, open: whole, read: known }: SessionLook,
  open: OpenSession,
): Promise<WholeReading> {
  const read = (open === whole ? known : null) ?? readSession(open);
  const continued = await readContinuedSession(workspace, open, read);
  const family = { tips, conversation: forkedOff, own: held.map(({ branch }) => branch) };
  const forked = continued === null ? await readForkedSession(workspace, open, { session: read, family }) : null;
  const session = forked?.session ?? read;
  const sequence = (continued ?? forked)?.sequence ?? wholeSequence(session, countLines(open));
  return { session, continued, forked, sequence, chain: createTurnChain(sequence) };
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

/** Where to write a sequence of turns. */
interface Decided {
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
}

/** Decides by turns where to write a session, and by bytes if a branch has those as an earlier jpg read them. */
async function decideTurns(
  workspace: Workspace,
  look: SessionLook,
  { reading, trees }: { readonly reading: WholeReading; readonly trees: readonly BranchTree[] },
): Promise<Decided & Pick<ChangedSession, "keepsTurns">> {
  const { open, active } = look;
  if (reading.forked?.isNew === true) return forkOff(workspace, look, { reading, forked: reading.forked });
  // Reading a file again does not make a turn grow.
  const mayGrow = (branch: string): boolean => !open.again || !holdsWhole(look, branch);
  const decided = await compareTurns(workspace.store, reading, { trees, active, mayGrow });
  const kept = open.again ? null : await decideByBytes(workspace, look, { reading, decision: decided.decision });
  return { ...(kept ?? decided), keepsTurns: kept !== null };
}

/** Decides by turns on which branch to write. */
async function compareTurns(
  store: ConversationStore,
  { sequence, chain }: Pick<Reading, "sequence" | "chain">,
  among: {
    readonly trees: readonly BranchTree[];
    readonly active: string | null;
    readonly mayGrow: (branch: string) => boolean;
  },
): Promise<Decided> {
  const { trees, active, mayGrow } = among;
  const sessionTurn = (index: number): Uint8Array | null =>
    index < chain.turnCount ? chain.prepare(index).bytes : null;
  const candidates = await Promise.all(trees.map((tree) => toCandidate(store, tree, { active, sessionTurn })));
  const known = { oids: chain.oids(turnsToCompare(candidates)), turnCount: chain.turnCount };
  const growing = candidates.map((one) => ({ ...one, lastTurnGrew: one.lastTurnGrew && mayGrow(one.branch) }));
  return { sequence, chain, decision: decideImport(known, growing) };
}

/** Puts a session that was forked off elsewhere on a fork of its own, never on the original branch. */
async function forkOff(
  { store }: Workspace,
  { active }: SessionLook,
  { reading, forked }: { readonly reading: Reading; readonly forked: ForkedSession },
): Promise<Decided & Pick<ChangedSession, "keepsTurns">> {
  const { sequence, chain } = reading;
  const candidate = await toCandidate(store, forked.tree, { active, sessionTurn: () => null });
  return { sequence, chain, decision: { kind: "fork", candidate, commonTurns: forked.shared }, keepsTurns: false };
}

/** Decides by the bytes on a branch, if an earlier jpg read them differently; else null. */
async function decideByBytes(
  workspace: Workspace,
  look: SessionLook,
  { reading, decision }: { readonly reading: Reading; readonly decision: ImportDecision },
): Promise<Decided | null> {
  const { open, held, active } = look;
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
    open.format.read(beginning.source).turnCount === 0 ? null : readWhole(workspace, look, beginning);
  const sequence = await keepStoredTurns({ store: workspace.store, open, holder: best.branch, read }, reading);
  if (sequence === null) return null;
  const stored = { sequence, chain: createTurnChain(sequence) };
  return compareTurns(workspace.store, stored, { trees: [tree], active, mayGrow: () => true });
}

/** Finds a session with nothing to write: one read again with the same result, or an older state of a document. */
async function findNothingNew(
  store: ConversationStore,
  look: SessionLook,
  decided: Decided & { readonly trees: readonly BranchTree[] },
): Promise<SessionDecision | null> {
  const { open } = look;
  const { decision, trees } = decided;
  if (open.again && decision.kind === "same" && holdsWhole(look, decision.candidate.branch)) {
    const tree = trees.find(({ branch }) => branch === decision.candidate.branch);
    if (tree !== undefined) return { kind: "unchanged", tree, isWhole: true };
  }
  const newer = open.document === null ? null : await findNewerState(store, decided);
  return newer === null ? null : { kind: "unchanged", tree: newer, isWhole: false };
}

/**
 * The branch that has all turns of a document, the newest perhaps in a longer form, though the document would become a fork. Bytes
 * cannot distinguish an older state of a document from a new one.
 */
async function findNewerState(
  store: ConversationStore,
  { chain, decision, trees }: Decided & { readonly trees: readonly BranchTree[] },
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
