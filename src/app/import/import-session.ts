import { conversationOf } from "../../core/conversation-name.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { BranchWrite, CommitSpec } from "../../store/conversation-store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { reportSideFiles } from "../sessions/side-files.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ContinuedSession } from "./continued-session.ts";
import type { CountCache } from "./count-cache.ts";
import { forkAbandoned } from "./import-abandoned.ts";
import { importCommits } from "./import-commits.ts";
import {
  compareBranches,
  decideSession,
  findNewerState,
  type HeldSource,
  isWhole,
  readSession,
  readWhole,
} from "./import-decision.ts";
import { type ImportPlace, placeImport } from "./import-place.ts";
import type { ImportDecision } from "./import-plan.ts";
import type { ImportReport } from "./import-report.ts";
import { countCompactions, reportUnchanged, unchangedReport } from "./import-report.ts";
import type { KnownSession } from "./import-run.ts";
import { everCompactions, findSessionBranches, importSuffix } from "./import-target.ts";
import { alignPieces, hasSideFiles } from "./source-alignment.ts";
import type { StoreFacts } from "./source-cache.ts";
import { createTurnChain, type TurnChain } from "./turn-chain.ts";
import { type TurnSequence, wholeSequence } from "./turn-sequence.ts";

export interface SessionImport {
  /** Null when the store holds all of it. */
  readonly write: BranchWrite | null;
  /** To be called once the write is done: counts are known then. Makes the forks of `--all-branches`. */
  readonly finish: () => Promise<ImportReport>;
  /** The branch that holds the whole file once the write is done; null where that is not sure. */
  readonly holder: string | null;
}

/** What a session's commits are made from; let go once they are written, so that many sessions may be on their way at once. */
interface Held {
  plan: Planned | null;
  report: ImportReport | null;
}

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
  const suffix = importSuffix(open.format.name, open.sessionId);
  const branches = await findSessionBranches(store, tips, {
    session: open.sessionId,
    suffix,
    continues: open.origin?.conversation,
  });
  const held = await compareBranches(store, open, branches);
  const unchanged = open.again ? null : await findUnchanged(workspace, { open, held, active });
  if (unchanged !== null) return unchangedImport(workspace, counts, { open, tree: unchanged, isWhole: true });

  const { session, continued, ...reading } = await readWhole(workspace, open);
  if (continued?.addsNothing === true)
    return unchangedImport(workspace, counts, { open, tree: continued.tree, isWhole: false });
  const trees = branches.map((branch) => branch.tree);
  if (continued !== null && !trees.some((tree) => tree.branch === continued.tree.branch)) trees.push(continued.tree);
  const { decision, sequence, chain, keepsTurns } = await decideSession(workspace, {
    open,
    held,
    trees,
    active,
    reading: { session, ...reading },
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
  return plannedImport(workspace, { open, session, sequence, chain, decision, place, continued });
}

interface Planned {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
  readonly place: ImportPlace;
  readonly continued: ContinuedSession | null;
}

async function plannedImport(workspace: Workspace, plan: Planned): Promise<SessionImport> {
  const { branch, expected, parent } = plan.place;
  const held: Held = { plan, report: null };
  return {
    write: { branch, expected, parent, commits: writeAndRelease(held, await createCommits(workspace, plan)) },
    finish: () => finishImport(workspace, held),
    holder: plan.open.origin === null ? branch : null,
  };
}

/** Reports a session of which a branch is known to hold everything: nothing of the store is read. */
export function reportKnown({ file, known, byteLength }: KnownSession): SessionImport {
  const report = unchangedReport(known.branch, known.held, { path: file.path, byteLength });
  return nothingToDo(report, known.branch);
}

/** The commits of a planned import, and what will be counted when they are written. */
interface CountedCommits {
  readonly commits: AsyncIterable<CommitSpec>;
  /** Live compactions of the branch, once all commits are there. */
  readonly compactions: () => number;
}

async function createCommits(
  { store }: Workspace,
  { open, session, sequence, chain, place }: Planned,
): Promise<CountedCommits> {
  const { parent, header, firstTurn, continued } = place;
  const counts = { compactions: 0 };
  const before = await countCompactions(store, parent, place.changes);
  const { source, document, limits } = open;
  const stretches = { sequence, source, document, session: session.sessionId, limits };
  const commits = importCommits({
    ...stretches,
    chain,
    agent: open.format.agent,
    ...(header === null ? {} : { root: header }),
    firstTurn,
    continued,
    alignment:
      parent === null ? [] : [...place.changes, ...(await alignPieces(store, parent, { ...stretches, firstTurn }))],
    known: parent === null ? new Set() : await everCompactions(store, parent),
    sideFiles: open.beside.files,
    counts,
  });
  return { commits, compactions: () => before + counts.compactions };
}

/** Yields the commits, then describes what was written and lets the session go, unless its left branches are still to be made. */
async function* writeAndRelease(held: Held, { commits, compactions }: CountedCommits): AsyncGenerator<CommitSpec> {
  yield* commits;
  const { plan } = held;
  if (plan === null) return;
  held.report = describe(plan, { compactions: compactions() });
  if (!plan.open.allBranches || plan.continued !== null) held.plan = null;
}

async function finishImport(workspace: Workspace, { plan, report }: Held): Promise<ImportReport> {
  if (report === null) throw new Error("an import is finished after its commits are written");
  if (plan === null) return report;
  const { open, session, chain, place } = plan;
  return withAbandoned(report, await forkAbandoned(workspace, { open, session, chain, branch: place.branch }));
}

function describe({ open, session, chain, decision, place }: Planned, counts: { compactions: number }): ImportReport {
  return {
    id: conversationOf(place.branch),
    branch: place.branch,
    turns: chain.turnCount,
    events: chain.countEvents(),
    compactions: counts.compactions,
    skipped_lines: session.skippedLines.length,
    status: decision.kind === "create" ? "created" : decision.kind === "fork" ? "forked" : "updated",
    source: open.path,
    title: session.title,
    turns_added: chain.turnCount - turnsBefore(decision),
    bytes: open.source.byteLength,
    skipped: session.skippedLines.slice(0, SKIPPED_LISTED),
    updated_at: session.readTurn(session.turnCount - 1).at(-1)?.timestamp ?? session.createdAt,
    ...reportSideFiles(open.beside),
  };
}

/** How many skipped lines a report lists; it counts all. */
const SKIPPED_LISTED = 20;

function turnsBefore(decision: ImportDecision): number {
  if (decision.kind === "create") return 0;
  return decision.kind === "fork" ? decision.commonTurns : decision.candidate.turnOids.length;
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

function withAbandoned(report: ImportReport, abandoned: readonly string[]): ImportReport {
  return abandoned.length === 0 ? report : { ...report, abandoned };
}
