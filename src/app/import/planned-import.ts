// The import of a session as a value: what the store will write, generated while it is written, and the report.

import { findBreaks } from "../../core/conversation/broken-chain.ts";
import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { branchName, conversationOf } from "../../core/conversation/name.ts";
import type { AbandonedBranch, ImportedSession } from "../../formats/imported-session.ts";
import type { BranchWrite, CommitSpec } from "../../store/store.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { reportSideFiles } from "../sessions/side-files.ts";
import { forkAbandoned } from "./forked-session.ts";
import { countNewCompactions, createTurnChain, makeCommits, wholeSequence } from "./import-commits.ts";
import {
  type ChangedSession,
  decideSession,
  fileState,
  lookAtSession,
  readSession,
  type SessionDecision,
} from "./import-decision.ts";
import { type ImportDecision, type ImportPlace, placeImport, readKnownRecords } from "./import-place.ts";
import {
  agentOf,
  countCompactions,
  type FileState,
  type ImportReport,
  type LeftTurns,
  newerAgentOf,
  reportUnchanged,
  type StoreFacts,
} from "./import-report.ts";
import { givenSessionTitle, sessionTitle } from "./session-title.ts";

export interface SessionImport {
  /** Null when the store has all of it. */
  readonly write: BranchWrite | null;
  /** To be called after the write, when counts are known. Makes the forks of `--all-branches`. */
  readonly finish: () => Promise<ImportReport>;
  /** The branch that has the whole file after the write; null if that is not certain. */
  readonly holder: string | null;
  /** Sessions of sub-agents within its file; absent = it was not read, or has none. */
  readonly parts?: ImportedSession["parts"];
}

/** Plans the import of one session into the store as it is. Throws `empty_session` when it has no request. */
export async function prepareImport(
  workspace: Workspace,
  given: OpenSession,
  facts: StoreFacts,
): Promise<SessionImport> {
  const look = await lookAtSession(workspace, given, facts);
  const { open } = look;
  const decided = await decideSession(workspace, look);
  const state = fileState(look);
  if (decided.kind === "unchanged") return unchangedImport(workspace, open, { ...decided, state });
  const { decision, continued, keepsTurns } = decided;
  const holder = look.held.find(
    ({ branch: { tree } }) => decision.kind !== "create" && tree.branch === decision.candidate.branch,
  );
  const taken = new Set(facts.tips.map(({ name }) => name));
  const place = await placeImport(workspace, {
    ...decided,
    open,
    continued: keepsTurns ? null : continued,
    holdsPieces: holder !== undefined,
    replacesPieces: holder?.comparison === "different",
    taken,
  });
  return changedImport(workspace, { ...decided, open, place, taken, state });
}

type Unchanged = Extract<SessionDecision, { kind: "unchanged" }> & { readonly state: FileState | undefined };

async function unchangedImport(
  workspace: Workspace,
  open: OpenSession,
  { tree, isWhole, state }: Unchanged,
): Promise<SessionImport> {
  const report = { ...(await reportUnchanged(workspace.store, open, tree)), file_state: state };
  const holder = isWhole && state === undefined ? tree.branch : null;
  if (!open.allBranches || !isWhole || open.origin !== null)
    return { write: null, finish: () => Promise.resolve(report), holder };
  const finish = async (): Promise<ImportReport> => {
    const session = readSession(open);
    const chain = createTurnChain(wholeSequence(session, countLines(open)));
    return withAbandoned(report, await forkAbandoned(workspace, { open, session, chain, branch: tree.branch }));
  };
  return { write: null, finish, holder: null };
}

/** Adds the branches made from abandoned ones. */
function withAbandoned(report: ImportReport, abandoned: readonly string[]): ImportReport {
  return abandoned.length === 0 ? report : { ...report, abandoned };
}

/** An import with its decision and its place. */
interface Planned extends ChangedSession {
  readonly open: OpenSession;
  readonly place: ImportPlace;
  /** Names of branches. */
  readonly taken: ReadonlySet<string>;
  readonly state: FileState | undefined;
}

/** What a session's commits are made from; released once they are written, so that many sessions can be in progress at once. */
interface Held {
  plan: Planned | null;
  report: ImportReport | null;
}

async function changedImport(workspace: Workspace, plan: Planned): Promise<SessionImport> {
  const { branch, expected, parent } = plan.place;
  const held: Held = { plan, report: null };
  return {
    write: { branch, expected, parent, commits: writeAndRelease(held, await createCommits(workspace, plan)) },
    finish: () => finishImport(workspace, held),
    holder: plan.open.origin === null ? branch : null,
    parts: plan.session.parts,
  };
}

/** The commits of a planned import, with what the conversation has after them: its live compactions and its title. */
interface CountedCommits {
  readonly commits: AsyncIterable<CommitSpec>;
  readonly compactions: number;
  readonly title: string;
}

async function createCommits({ store }: Workspace, plan: Planned): Promise<CountedCommits> {
  const { open, session, sequence, chain, place } = plan;
  const { parent, header, firstTurn, continued, changes } = place;
  const known = await readKnownRecords({ store }, parent, { changes, live: session.live });
  const commits = makeCommits({
    sequence,
    source: open.source,
    document: open.document,
    session: session.sessionId,
    limits: open.limits,
    chain,
    agent: open.format.agent,
    ...(header === null ? {} : { root: header }),
    firstTurn,
    continued,
    changes,
    known,
    sideFiles: open.sideFiles.files,
  });
  const before = await countCompactions(store, parent, changes);
  const compactions = before + countNewCompactions(sequence, known);
  return { commits, compactions, title: await titleAfter({ store }, plan) };
}

async function titleAfter(workspace: Pick<Workspace, "store">, { session, continued }: Planned): Promise<string> {
  if (continued === null) return sessionTitle(session);
  // What was read of the session began after its stored turns.
  return givenSessionTitle(session) ?? conversationTitle(workspace, continued.tree);
}

/**
 * Yields the commits, then reports what was written and releases the session, unless its abandoned branches are still to be made.
 */
async function* writeAndRelease(held: Held, { commits, ...counted }: CountedCommits): AsyncGenerator<CommitSpec> {
  yield* commits;
  const { plan } = held;
  if (plan === null) return;
  held.report = describe(plan, counted);
  if (!plan.open.allBranches || plan.continued !== null) held.plan = null;
}

async function finishImport(workspace: Workspace, { plan, report }: Held): Promise<ImportReport> {
  if (report === null) throw new Error("an import is finished after its commits are written");
  if (plan === null) return report;
  const { open, session, chain, place } = plan;
  return withAbandoned(report, await forkAbandoned(workspace, { open, session, chain, branch: place.branch }));
}

function describe(plan: Planned, { compactions, title }: Omit<CountedCommits, "commits">): ImportReport {
  const { open, session, chain, decision, place } = plan;
  return {
    id: conversationOf(place.branch),
    branch: place.branch,
    turns: chain.turnCount,
    events: chain.countEvents(),
    compactions,
    skipped_lines: session.skippedLines.length,
    status: decision.kind === "create" ? "created" : decision.kind === "fork" ? "forked" : "updated",
    source: open.path,
    title,
    ...agentOf(open),
    ...newerAgentOf(open),
    turns_added: chain.turnCount - turnsBefore(decision),
    bytes: open.source.byteLength,
    skipped: session.skippedLines.slice(0, SKIPPED_LISTED),
    updated_at: session.readTurn(session.turnCount - 1).at(-1)?.timestamp ?? session.createdAt,
    ...reportSideFiles(open.sideFiles),
    file_state: plan.state,
    ...reportTurnsLeft(plan),
    unreached: findUnreached(plan),
  };
}

/** What only `--all-branches` imports. */
function reportTurnsLeft({
  open,
  session,
  place,
  continued,
  taken,
}: Planned): Pick<ImportReport, "turns_left" | "left_at"> {
  if (open.allBranches || continued !== null) return {};
  const conversation = conversationOf(place.branch);
  const left = session.abandoned.filter(({ name }) => !taken.has(branchName(conversation, name)));
  const turns = left.reduce((sum, { turnCount, commonTurns }) => sum + turnCount - commonTurns, 0);
  return turns === 0 ? {} : { turns_left: turns, left_at: left.slice(0, LEFT_LISTED).map(describeLeft) };
}

/** Abandoned branches that a report names, at most; it counts the turns of all. */
const LEFT_LISTED = 3;

function describeLeft(branch: AbandonedBranch): LeftTurns {
  const { turnCount, commonTurns } = branch;
  const asked = turnCount > commonTurns ? branch.readTurn(commonTurns).find(isUserRequest) : undefined;
  const request = asked === undefined ? "" : titleOfRequest(wordsOfContent(asked.content));
  return { turns: turnCount - commonTurns, after_turn: commonTurns - 1, request };
}

/** Of a session that continues another, the turns of its file are not those of the branch. */
function findUnreached({ open, session, continued }: Planned): ImportReport["unreached"] {
  const { unreached, compacted } = findBreaks(session.turnCount, session.compactions);
  if (continued !== null || unreached.length + compacted.length === 0) return undefined;
  const turnsOf = (list: typeof unreached) => list.map(({ from_turn, to_turn }) => ({ from_turn, to_turn }));
  const more = compacted.length > 0 && { compacted_turns: turnsOf(compacted) };
  return { agent: open.format.agent.name, turns: turnsOf(unreached), ...more };
}

/** Skipped lines that a report lists, at most; it counts all. */
const SKIPPED_LISTED = 1000;

function turnsBefore(decision: ImportDecision): number {
  if (decision.kind === "create") return 0;
  return decision.kind === "fork" ? decision.commonTurns : decision.candidate.turnOids.length;
}
