// An import that was planned: its commits, made while the store takes them in, and what is reported once they are written.
import { conversationOf } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import type { ImportedSession, SessionMark } from "../../formats/imported-session.ts";
import type { BranchWrite, CommitSpec, ConversationStore, WriteResult } from "../../store/store.ts";
import { openSealedCache } from "../conversation/caches.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSuffix } from "../names/find-session.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { reportSideFiles } from "../sessions/side-files.ts";
import type { ContinuedSession } from "./continued-session.ts";
import { forkAbandoned } from "./forked-session.ts";
import { alignPieces, makeCommits, type TurnChain, type TurnSequence } from "./import-commits.ts";
import type { HeldSource } from "./import-decision.ts";
import { everCompactions, type ImportDecision, type ImportPlace } from "./import-place.ts";
import { agentOf, countCompactions, type ImportReport, newerAgentOf } from "./import-report.ts";

export interface SessionImport {
  /** Null when the store holds all of it. */
  readonly write: BranchWrite | null;
  /** To be called once the write is done: counts are known then. Makes the forks of `--all-branches`. */
  readonly finish: (result?: WriteResult) => Promise<ImportReport>;
  /** The branch that holds the whole file once the write is done; null where that is not sure. */
  readonly holder: string | null;
  /** Sessions of agents that stand in its file; absent = it was not read whole, or holds none. */
  readonly parts?: ImportedSession["parts"];
}

/** What a session's commits are made from; let go once they are written, so that many sessions may be on their way at once. */
interface Held {
  plan: Planned | null;
  report: ImportReport | null;
  growth: GrowthDraft | null;
}

/** An import that was decided. */
export interface Planned extends DecidedImport {
  readonly place: ImportPlace;
  readonly continued: ContinuedSession | null;
}

/** The import that a plan comes to. */
export async function plannedImport(workspace: Workspace, plan: Planned): Promise<SessionImport> {
  const { branch, expected, parent } = plan.place;
  const held: Held = { plan, report: null, growth: null };
  return {
    write: { branch, expected, parent, commits: writeAndRelease(held, await createCommits(workspace, plan)) },
    finish: (result) => finishImport(workspace, held, result),
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
    // A file that is read from a mark has no compactions there.
    known: parent === null || sequence.firstRead > 0 ? new Set() : await everCompactions(store, parent),
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
  held.growth = draftGrowth(plan);
  if (!plan.open.allBranches || plan.continued !== null) held.plan = null;
}

async function finishImport(
  workspace: Workspace,
  { plan, report, growth }: Held,
  result: WriteResult | undefined,
): Promise<ImportReport> {
  if (report === null) throw new Error("an import is finished after its commits are written");
  if (growth !== null && result !== undefined) await keepGrowth(workspace.store, growth, result);
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

/** An import that was decided, as far as it says what its file and the store have in common afterwards. */
interface DecidedImport {
  readonly open: OpenSession;
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
  readonly decision: ImportDecision;
  /** What it continues, where jpg exported the file. */
  readonly continued: object | null;
  /** Whether the branch's turns stay as an earlier version of jpg read them. */
  readonly keepsTurns: boolean;
  /** What the branches held of the file before. */
  readonly held: readonly Pick<HeldSource, "branch" | "comparison">[];
}

/** What will be kept of a session; it holds nothing of the file itself. */
interface GrowthDraft {
  readonly key: string;
  readonly session: string;
  /** All but the object ids of the branches' folders; null where the file has to be read whole once it has grown. */
  readonly growth: Omit<Growth, "sources" | "others"> | null;
  /** Commits of the other branches that hold pieces of the session. */
  readonly others: readonly string[];
}

/** Drafts what is known of a file once its commits are written; null of files that are always read whole. */
function draftGrowth(plan: DecidedImport): GrowthDraft | null {
  const { open, decision, held } = plan;
  if (
    open.source.byteLength < open.markedFrom ||
    open.document !== null ||
    open.allBranches ||
    open.again ||
    open.origin !== null ||
    open.descent?.kind === "fork"
  )
    return null;
  const branch = decision.kind === "same" || decision.kind === "extend" ? decision.candidate.branch : null;
  const others = held.filter(({ branch: { tree } }) => tree.branch !== branch);
  const isLongest = others.every(({ comparison }) => comparison === "longer" || comparison === "different");
  return {
    key: growthKey(open),
    session: open.sessionId,
    growth: isLongest ? describeFile(plan) : null,
    others: others.map((other) => other.branch.tree.commit),
  };
}

function describeFile(plan: DecidedImport): GrowthDraft["growth"] {
  const { open, session, sequence, chain, keepsTurns, continued } = plan;
  // What an earlier jpg read, or an export holds, has other turns than the file.
  if (keepsTurns || continued !== null || sequence.turnCount !== session.turnCount) return null;
  const mark = session.mark?.() ?? null;
  if (mark === null) return null;
  return {
    importer: session.importer,
    byteLength: open.source.byteLength,
    sha1: open.source.sha1(open.source.byteLength),
    turnCount: chain.turnCount,
    turns: digestOfTurns(chain.oids(chain.turnCount)),
    events: chain.known(mark.turn).map(({ events }) => events),
    mark,
  };
}

/** Keeps a draft, or forgets what was known, now that the branch is written. */
async function keepGrowth(store: ConversationStore, draft: GrowthDraft, { commit }: WriteResult): Promise<void> {
  const { key, session, growth } = draft;
  const sources = growth === null ? null : await sourcesAt(store, commit, session);
  const others = await Promise.all(draft.others.map((other) => sourcesAt(store, other, session)));
  const isKnown = growth !== null && sources !== null;
  await writeGrowth(store, key, isKnown ? { ...growth, sources, others: others.filter((oid) => oid !== null) } : null);
}

/** The object id of a session's folder at a commit; null when there is none. */
export async function sourcesAt(store: ConversationStore, commit: string, session: string): Promise<string | null> {
  const folder = `sources/${session}`;
  return (await store.readEntries(commit, [folder])).get(folder) ?? null;
}

// What is known of a session whose file will grow: that a branch's pieces are so many first bytes of it, and what its format
// needs to read on from there. A cache that may be deleted at any time; only what jpg wrote here is believed.

/** A session as it was when a branch was made to hold all of it. */
export interface Growth {
  /** Version of the format's importer, which the turns were read with. */
  readonly importer: number;
  /** The file's bytes, and their SHA-1. */
  readonly byteLength: number;
  readonly sha1: string;
  /** Object id of `sources/<session>` on the branch: its pieces are these bytes, cut at the turns that the file has. */
  readonly sources: string;
  /** The same of the other branches that hold pieces of the session: fewer of these bytes, or other ones. */
  readonly others: readonly string[];
  /** Turns of the file, and the digest of their object ids; see `digestOfTurns`. */
  readonly turnCount: number;
  readonly turns: string;
  /** Events of each turn before the mark. */
  readonly events: readonly number[];
  readonly mark: SessionMark;
}

/** One file a session. */
const CACHE = "growth-1";
const KEY_LENGTH = 16;
const NEWLINE = 10;

/** Digest of the object ids of a conversation's first turns. */
export function digestOfTurns(oids: readonly string[]): string {
  return sha256(oids.join("\n"));
}

/** Reads what is known of a session; null when nothing is, or it is damaged. */
export function readGrowth(store: ConversationStore, key: string): Growth | null {
  const kept = openSealedCache(store, CACHE).read(key);
  if (kept === null) return null;
  const end = kept.indexOf(NEWLINE);
  const { mark, ...growth } = JSON.parse(kept.toString("utf8", 0, end)) as Omit<Growth, "mark"> & {
    readonly mark: Omit<SessionMark, "names">;
  };
  return { ...growth, mark: { ...mark, names: kept.subarray(end + 1) } };
}

/** Keeps what is known of a session; null = nothing, and what was known is forgotten. */
async function writeGrowth(store: ConversationStore, key: string, growth: Growth | null): Promise<void> {
  const cache = openSealedCache(store, CACHE);
  if (growth === null) return cache.drop(key);
  const { names, ...mark } = growth.mark;
  await cache.write(Buffer.concat([Buffer.from(`${JSON.stringify({ ...growth, mark })}\n`), names]), key);
}

/** Under what a session is kept. */
export function growthKey({ format, sessionId }: Pick<OpenSession, "format" | "sessionId">): string {
  return importSuffix(format.name, sessionId, KEY_LENGTH);
}
