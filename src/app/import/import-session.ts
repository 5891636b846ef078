// Plans the import of one session against the store as it stands, and reports one of which the store holds everything.
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { conversationForkedOff, forkAbandoned } from "./forked-session.ts";
import { createTurnChain, hasSideFiles, wholeSequence } from "./import-commits.ts";
import {
  compareBranches,
  decideSession,
  findNewerState,
  type HeldSource,
  isWhole,
  readSession,
  readWhole,
} from "./import-decision.ts";
import { findSessionBranches, type ImportDecision, placeImport } from "./import-place.ts";
import { type ImportReport, reportUnchanged, type StoreFacts, unchangedReport } from "./import-report.ts";
import type { KnownSession } from "./import-run.ts";
import { plannedImport, type SessionImport, withAbandoned } from "./planned-import.ts";

/** Plans the import of one session against the store as it stands. Throws `empty_session` when nobody asked anything in it. */
export async function prepareImport(
  workspace: Workspace,
  open: OpenSession,
  { tips, active }: StoreFacts,
): Promise<SessionImport> {
  const { store } = workspace;
  const suffix = importSuffix(open.format.name, open.sessionId);
  const forkedOff = await conversationForkedOff(store, tips, open);
  const branches = await findSessionBranches(store, tips, {
    session: open.sessionId,
    suffix,
    continues: open.origin?.conversation ?? forkedOff,
  });
  const held = await compareBranches(store, open, branches);
  const unchanged = open.again ? null : await findUnchanged(workspace, { open, held, active });
  if (unchanged !== null) return unchangedImport(workspace, { open, tree: unchanged, isWhole: true });

  const family = { tips, conversation: forkedOff, own: branches };
  const { session, continued, forked, ...reading } = await readWhole(workspace, open, family);
  const source = [continued, forked].find((one) => one?.addsNothing === true);
  if (source !== undefined && source !== null)
    return unchangedImport(workspace, { open, tree: source.tree, isWhole: false });
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
    if (tree !== undefined) return unchangedImport(workspace, { open, tree, isWhole: true });
  }
  const newer = open.document === null ? null : await findNewerState(store, { chain, decision, trees });
  if (newer !== null) return unchangedImport(workspace, { open, tree: newer, isWhole: false });
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
  return plannedImport(workspace, { open, session, sequence, chain, decision, place, continued });
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

async function unchangedImport(workspace: Workspace, found: Unchanged): Promise<SessionImport> {
  const { open, tree, isWhole } = found;
  const report = await reportUnchanged(workspace.store, open, tree);
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
