// A session whose file has grown since a branch was made to hold all of it: only the newest turns are read. What comes of it
// is what reading the whole file comes to; where that is not sure the whole file is read.

import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { familyOf, importSuffix } from "../names/session-family.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { digestOfTurns, type Growth, growthKey, readGrowth } from "./growth-cache.ts";
import { decide } from "./import-decision.ts";
import { type ImportPlace, placeImport } from "./import-place.ts";
import { sourcesAt } from "./keep-growth.ts";
import type { Planned } from "./planned-import.ts";
import type { StoreFacts } from "./source-cache.ts";
import { createTurnChain } from "./turn-chain.ts";
import { wholeSequence } from "./turn-sequence.ts";

/** A branch that holds pieces of the session. */
interface Holder {
  readonly tree: BranchTree;
  /** Whether its pieces are what the file was when it was read last. */
  readonly isNewest: boolean;
}

/** Plans the import of a file of which the beginning is known; null where the whole file has to be read. */
export async function planGrown(
  workspace: Workspace,
  open: OpenSession,
  { tips, active }: StoreFacts,
): Promise<Planned | null> {
  const growth = knownGrowth(workspace, open);
  const holders = growth === null ? null : await findHolders(workspace, { open, growth, tips });
  const held = holders?.filter(({ isNewest }) => isNewest) ?? [];
  const holder = held.find(({ tree }) => tree.branch === active) ?? held[0];
  if (growth === null || holders === null || holder === undefined) return null;
  const { turnOids } = holder.tree;
  if (digestOfTurns(turnOids.slice(0, growth.turnCount)) !== growth.turns) return null;
  if (open.source.sha1(growth.byteLength) !== growth.sha1) return null;
  const session = open.format.readTail?.(open.source, growth.mark) ?? null;
  if (session === null) return null;

  const known = growth.events.map((events, turn) => ({ oid: turnOids[turn] ?? "", events }));
  const sequence = wholeSequence(session, open.source.lineCount, known);
  const chain = createTurnChain(sequence);
  const trees = holders.map(({ tree }) => tree);
  if (!trees.every((tree) => isComparable(tree, known))) return null;
  const { decision } = await decide(workspace, { sequence, chain, trees, active, mayGrow: () => true });
  if (decision.kind !== "extend" && decision.kind !== "same") return null;
  const { branch, commit } = decision.candidate;
  if (!held.some(({ tree }) => tree.branch === branch)) return null;
  const place = await placeImport(workspace, {
    open,
    session,
    chain,
    decision,
    suffix: importSuffix(open.format.name, open.sessionId),
    continued: null,
    holdsPieces: true,
    keepsTurns: false,
    sequence,
    taken: new Set(tips.map(({ name }) => name)),
  });
  if (!(await keepsWhatIsBefore(workspace, { place, commit, firstRead: sequence.firstRead }))) return null;
  const others = holders.map(({ tree }) => ({ branch: { tree, pieces: [] }, comparison: "longer" as const }));
  return { open, session, sequence, chain, decision, place, continued: null, keepsTurns: false, held: others };
}

/** What is known of a file, if it may be read from its mark on. */
function knownGrowth({ store }: Workspace, open: OpenSession): Growth | null {
  const { format, origin, document, allBranches, again, source, markedFrom } = open;
  if (
    format.readTail === undefined ||
    origin !== null ||
    document !== null ||
    allBranches ||
    again ||
    source.byteLength < markedFrom
  )
    return null;
  const growth = readGrowth(store, growthKey(open));
  return growth?.importer === format.importer && growth.byteLength < source.byteLength ? growth : null;
}

/** The branches that hold pieces of the session; null where one holds others than those that are known. */
async function findHolders(
  { store }: Workspace,
  { open, growth, tips }: { readonly open: OpenSession; readonly growth: Growth; readonly tips: StoreFacts["tips"] },
): Promise<Holder[] | null> {
  const names = { suffix: importSuffix(open.format.name, open.sessionId), continues: undefined };
  const holders: Holder[] = [];
  for (const { name, commit } of familyOf(tips, names)) {
    const sources = await sourcesAt(store, commit, open.sessionId);
    if (sources === null) continue;
    const isNewest = sources === growth.sources;
    if (!isNewest && !growth.others.includes(sources)) return null;
    holders.push({ tree: await loadBranchTree(store, name, commit), isNewest });
  }
  return holders;
}

/** Whether it is known how a branch's newest turn stands to the file's, though turns before the mark are not read. */
function isComparable({ turnOids }: BranchTree, known: readonly { readonly oid: string }[]): boolean {
  const last = turnOids.length - 1;
  return last >= known.length || (last >= 0 && turnOids[last] === known[last]?.oid);
}

/** Whether an import leaves all that is stored of what was not read: the turns and titles, and compactions made since. */
async function keepsWhatIsBefore(
  { store }: Workspace,
  at: { readonly place: ImportPlace; readonly commit: string; readonly firstRead: number },
): Promise<boolean> {
  const { parent, firstTurn } = at.place;
  if (parent === null || firstTurn <= at.firstRead) return false;
  if (parent === at.commit) return true;
  const [before, after] = await Promise.all(
    [at.commit, parent].map((commit) => store.listTree(commit, { under: ["compactions"] })),
  );
  return before?.length === after?.length;
}
