// An import that was planned: its commits, made while the store takes them in, and what is reported once they are written.
import { conversationOf } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { BranchWrite, CommitSpec } from "../../store/store.ts";
import type { Workspace } from "../conversation/workspace.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { reportSideFiles } from "../sessions/side-files.ts";
import type { ContinuedSession } from "./continued-session.ts";
import { forkAbandoned } from "./forked-session.ts";
import { alignPieces, makeCommits, type TurnChain, type TurnSequence } from "./import-commits.ts";
import { everCompactions, type ImportDecision, type ImportPlace } from "./import-place.ts";
import { agentOf, countCompactions, type ImportReport, newerAgentOf } from "./import-report.ts";

export interface SessionImport {
  /** Null when the store holds all of it. */
  readonly write: BranchWrite | null;
  /** To be called once the write is done: counts are known then. Makes the forks of `--all-branches`. */
  readonly finish: () => Promise<ImportReport>;
  /** The branch that holds the whole file once the write is done; null where that is not sure. */
  readonly holder: string | null;
  /** Sessions of agents that stand in its file; absent = it was not read whole, or holds none. */
  readonly parts?: ImportedSession["parts"];
}

/** What a session's commits are made from; let go once they are written, so that many sessions may be on their way at once. */
interface Held {
  plan: Planned | null;
  report: ImportReport | null;
}

/** An import that was decided. */
interface Planned {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
  readonly place: ImportPlace;
  readonly continued: ContinuedSession | null;
}

/** The import that a plan comes to. */
export async function plannedImport(workspace: Workspace, plan: Planned): Promise<SessionImport> {
  const { branch, expected, parent } = plan.place;
  const held: Held = { plan, report: null };
  return {
    write: { branch, expected, parent, commits: writeAndRelease(held, await createCommits(workspace, plan)) },
    finish: () => finishImport(workspace, held),
    holder: plan.open.origin === null ? branch : null,
    ...defined({ parts: plan.session.parts }),
  };
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
  const commits = makeCommits({
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

/** Yields the commits, then describes what was written and lets the session go, unless its abandoned branches are still to be made. */
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
    ...agentOf(open),
    ...newerAgentOf(open),
    turns_added: chain.turnCount - turnsBefore(decision),
    bytes: open.source.byteLength,
    skipped: session.skippedLines.slice(0, SKIPPED_LISTED),
    updated_at: session.readTurn(session.turnCount - 1).at(-1)?.timestamp ?? session.createdAt,
    ...reportSideFiles(open.beside),
  };
}

/** How many skipped lines a report lists; it counts all. */
const SKIPPED_LISTED = 1000;

function turnsBefore(decision: ImportDecision): number {
  if (decision.kind === "create") return 0;
  return decision.kind === "fork" ? decision.commonTurns : decision.candidate.turnOids.length;
}

/** Adds the branches made of what the agent left. */
export function withAbandoned(report: ImportReport, abandoned: readonly string[]): ImportReport {
  return abandoned.length === 0 ? report : { ...report, abandoned };
}
