// Plans the import of one session against the store as it stands, and reports one of which the store holds everything.
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { familyOf, importSuffix } from "../names/find-session.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { conversationForkedOff, forkAbandoned } from "./forked-session.ts";
import { createTurnChain, hasSideFiles, wholeSequence } from "./import-commits.ts";
import {
  compareBranches,
  decide,
  decideSession,
  findNewerState,
  type HeldSource,
  isWhole,
  readSession,
  readWhole,
} from "./import-decision.ts";
import { findSessionBranches, type ImportDecision, type ImportPlace, placeImport } from "./import-place.ts";
import {
  type CountCache,
  type ImportReport,
  reportUnchanged,
  type StoreFacts,
  unchangedReport,
} from "./import-report.ts";
import type { KnownSession } from "./import-run.ts";
import {
  digestOfTurns,
  type Growth,
  growthKey,
  type Planned,
  plannedImport,
  readGrowth,
  type SessionImport,
  sourcesAt,
  withAbandoned,
} from "./planned-import.ts";

/** What is known of the store before a pass. */
export interface ImportFacts extends StoreFacts {
  readonly counts: CountCache;
}

/** Plans the import of one session against the store as it stands. Throws `empty_session` when nobody asked anything in it. */
export async function prepareImport(
  workspace: Workspace,
  open: OpenSession,
  { tips, active, counts }: ImportFacts,
): Promise<SessionImport> {
  const { store } = workspace;
  const grown = await planGrown(workspace, open, { tips, active });
  if (grown !== null) return plannedImport(workspace, grown);
  const suffix = importSuffix(open.format.name, open.sessionId);
  const forkedOff = await conversationForkedOff(store, tips, open);
  const branches = await findSessionBranches(store, tips, {
    session: open.sessionId,
    suffix,
    continues: open.origin?.conversation ?? forkedOff,
  });
  const held = await compareBranches(store, open, branches);
  const unchanged = open.again ? null : await findUnchanged(workspace, { open, held, active });
  if (unchanged !== null) return unchangedImport(workspace, counts, { open, tree: unchanged, isWhole: true });

  const family = { tips, conversation: forkedOff, own: branches };
  const { session, continued, forked, ...reading } = await readWhole(workspace, open, family);
  const source = [continued, forked].find((one) => one?.addsNothing === true);
  if (source !== undefined && source !== null)
    return unchangedImport(workspace, counts, { open, tree: source.tree, isWhole: false });
  const trees = branches.map((branch) => branch.tree);
  if (continued !== null && !trees.some((tree) => tree.branch === continued.tree.branch)) trees.push(continued.tree);
  const { decision, sequence, chain, keepsTurns } = await decideSession(workspace, {
    open,
    held,
    trees,
    active,
    reading: { session, forked, ...reading },
    family,
  });
  if (open.again && decision.kind === "same" && isWhole(held, decision.candidate.branch)) {
    const tree = trees.find(({ branch }) => branch === decision.candidate.branch);
    if (tree !== undefined) return unchangedImport(workspace, counts, { open, tree, isWhole: true });
  }
  const newer = open.document === null ? null : await findNewerState(store, { chain, decision, trees });
  if (newer !== null) return unchangedImport(workspace, counts, { open, tree: newer, isWhole: false });
  const holdsPieces = branches.some(({ tree }) => tree.branch !== undefined && tree.branch === branchOf(decision));
  const place = await placeImport(workspace, {
    open,
    session,
    chain,
    decision,
    suffix,
    continued: keepsTurns ? null : continued,
    holdsPieces,
    keepsTurns,
    sequence,
    taken: new Set(tips.map((tip) => tip.name)),
  });
  return plannedImport(workspace, { open, session, sequence, chain, decision, place, continued, keepsTurns, held });
}

/** Reports a session of which a branch is known to hold everything: nothing of the store is read. */
export function reportKnown({ file, known, byteLength }: KnownSession): SessionImport {
  const report = unchangedReport(known.branch, known.held, { path: file.path, byteLength });
  return nothingToDo(report, known.branch);
}

function branchOf(decision: ImportDecision): string | undefined {
  return decision.kind === "create" ? undefined : decision.candidate.branch;
}

/** The branch that already holds the file's bytes, or more of the same file. */
async function findUnchanged(
  { store }: Workspace,
  facts: { readonly open: OpenSession; readonly held: readonly HeldSource[]; readonly active: string | null },
): Promise<BranchTree | null> {
  const { open, held, active } = facts;
  const isActive = ({ branch }: HeldSource): boolean => branch.tree.branch === active;
  for (const { branch, comparison } of [...held].sort((a, b) => Number(isActive(b)) - Number(isActive(a)))) {
    const { tree } = branch;
    if (comparison === "shorter") return tree;
    const side = { id: open.sessionId, sideFiles: open.beside.files };
    if (comparison === "same" && (await hasSideFiles(store, tree.commit, side))) return tree;
  }
  return null;
}

interface Unchanged {
  readonly open: OpenSession;
  readonly tree: BranchTree;
  /** Whether the branch holds the whole file, not only what continues it. */
  readonly isWhole: boolean;
}

async function unchangedImport(workspace: Workspace, counts: CountCache, found: Unchanged): Promise<SessionImport> {
  const { open, tree, isWhole } = found;
  const report = await reportUnchanged(workspace.store, open, { tree, counts });
  return open.allBranches && isWhole && open.origin === null
    ? leftBranchesOnly(workspace, found, report)
    : nothingToDo(report, isWhole ? tree.branch : null);
}

function nothingToDo(report: ImportReport, holder: string | null): SessionImport {
  return { write: null, finish: () => Promise.resolve(report), holder };
}

function leftBranchesOnly(workspace: Workspace, { open, tree }: Unchanged, report: ImportReport): SessionImport {
  return {
    write: null,
    holder: null,
    finish: async () => {
      const session = readSession(open);
      const chain = createTurnChain(wholeSequence(session, countLines(open)));
      return withAbandoned(report, await forkAbandoned(workspace, { open, session, chain, branch: tree.branch }));
    },
  };
}

// A session whose file has grown since a branch was made to hold all of it: only the newest turns are read. What comes of it
// is what reading the whole file comes to; where that is not sure the whole file is read.

/** A branch that holds pieces of the session. */
interface Holder {
  readonly tree: BranchTree;
  /** Whether its pieces are what the file was when it was read last. */
  readonly isNewest: boolean;
}

/** Plans the import of a file of which the beginning is known; null where the whole file has to be read. */
async function planGrown(
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
