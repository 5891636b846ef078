// Makes the commits of an import from the session alone, so that two people who import one session share history.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { formatCompactionLine, formatRecordLine, recordPath } from "../../core/conversation/compaction-line.ts";
import type { Event } from "../../core/conversation/event.ts";
import { isResumedTitle } from "../../core/conversation/marks.ts";
import { shortId } from "../../core/conversation/name.ts";
import { estimateEvents } from "../../core/conversation/token-estimate.ts";
import { documentPath, turnPath } from "../../core/conversation/turn-file.ts";
import { appendAll } from "../../core/lists.ts";
import type { ImportedSession, ImportedTurns, SettingsChange, ToolList } from "../../formats/imported-session.ts";
import type { LiveUndo } from "../../formats/live-mark.ts";
import { compactionMessage, revertMessage, subjectOf, turnMessage } from "../../store/messages.ts";
import type { CommitSpec, ConversationStore, FileChange } from "../../store/store.ts";
import { derivedPadding } from "../conversation/append.ts";
import { coversDigest } from "../conversation/covers.ts";
import { blobId, sha256 } from "../conversation/runtime.ts";
import type { ConversationHeader } from "../conversation/tree.ts";
import { encode, type PreparedTurn, prepareTurn, rootCommit, signatureAt } from "../conversation/turns.ts";
import { toolRecord } from "../conversation/view.ts";
import { listPieces, listStoredSideFiles } from "../sessions/open-session.ts";
import type { SideFile } from "../sessions/side-files.ts";
import { type ByteSource, cutPieces, type PieceLimits, pieceChanges } from "../sessions/sources.ts";

interface ImportCommits {
  readonly sequence: TurnSequence;
  readonly source: ByteSource;
  /** Extension of a source that is one document, stored with the newest turn. Null = lines, cut at turns. */
  readonly document: string | null;
  /** Sizes at which the source is cut into pieces. */
  readonly limits: PieceLimits;
  /** Folder of the session under `sources/`. */
  readonly session: string;
  /** Name and address of author and committer. */
  readonly agent: { readonly name: string; readonly email: string };
  /** Written by a root commit first; absent when there is a parent. */
  readonly root?: ConversationHeader;
  readonly firstTurn: number;
  /** Whether the first turn is stored already in a shorter form, which stays in history. */
  readonly continued: boolean;
  /** The sequence's turns with their object ids. */
  readonly chain: TurnChain;
  /** Changes of the first turn's commit to what the branch has: pieces of earlier turns that grew, later turns. */
  readonly changes: readonly FileChange[];
  /** Compactions that are or were on the branch; they are not written again. */
  readonly known: KnownRecords;
  readonly sideFiles: readonly SideFile[];
}

/** Characters of a record's id: as many as random ones have, and some more against collisions. */
const RECORD_ID_LENGTH = 10;

/** Yields the commits oldest first; prepares one turn at a time. */
export async function* makeCommits(work: ImportCommits): AsyncGenerator<CommitSpec> {
  if (work.root !== undefined) yield rootCommit(work.root, work.agent);
  for (let index = 0; index < work.firstTurn; index++) yield* compactionCommits(work, index, null);
  for (let index = work.firstTurn; index < work.sequence.turnCount; index++) {
    const turn = work.chain.prepare(index);
    yield turnCommit(work, index, turn);
    yield* compactionCommits(work, index, turn);
  }
}

function turnCommit(work: ImportCommits, index: number, turn: PreparedTurn): CommitSpec {
  const first = index === work.firstTurn;
  const continued = work.continued && first;
  const last = index === work.sequence.turnCount - 1;
  return {
    message: turnMessage({ turn: index, request: turn.request, continued }),
    author: signatureAt(work.agent, turn.startSeconds),
    committer: signatureAt(work.agent, turn.endSeconds),
    changes: [
      // First, because it may remove what was in the place of this turn.
      ...(first ? work.changes : []),
      { path: turnPath(index), bytes: turn.bytes },
      ...sourceChanges(work, index),
      ...turn.attachments,
      // A title given after the newest turn was stored belongs to that turn.
      ...(first && index > 0 ? titleChanges(work, index - 1) : []),
      ...titleChanges(work, index),
      ...toolChanges(work, index),
      ...settingsChanges(work, index),
      ...(last
        ? work.sideFiles.map((file) => ({ path: `sources/${work.session}/files/${file.path}`, bytes: file.bytes }))
        : []),
    ],
  };
}

function sourceChanges(work: ImportCommits, index: number): FileChange[] {
  if (work.document !== null) {
    if (index < work.sequence.turnCount - 1) return [];
    return [{ path: documentPath(work.session, work.document), bytes: work.source.slice(0, work.source.byteLength) }];
  }
  const lines = work.sequence.lines(index);
  if (lines === null) return [];
  const pieces = cutPieces(work.source, { session: work.session, turn: index, ...lines }, work.limits);
  return pieces.flatMap((piece) => pieceChanges(work.source, piece, work.limits));
}

function titleChanges(work: ImportCommits, index: number): FileChange[] {
  return work.sequence.titlesIn(index).map(({ timestamp, title, id: source }) => {
    const id = titleRecordId(work.session, source);
    return {
      path: recordPath("meta", timestamp, id),
      bytes: encode(`${formatRecordLine({ type: "meta", id, timestamp, title }, derivedPadding(id))}\n`),
    };
  });
}

/** The id under which a session's title is stored. `source`: its id in the session. */
export function titleRecordId(session: string, source: string): string {
  return shortId(sha256(`${session}:${source}`), RECORD_ID_LENGTH);
}

/** The tools that the agent offers from a turn on. The first turn also gets the earlier ones, which an older jpg did not record. */
function toolChanges(work: ImportCommits, index: number): Iterable<FileChange> {
  const turns = index === work.firstTurn ? [turnOfTools(work, index), index] : [index];
  const files = turns.flatMap((turn) => {
    const list = turn < 0 ? undefined : work.sequence.toolsIn(turn).at(-1);
    if (list === undefined) return [];
    const id = shortId(sha256(`${work.session}:${list.id}`), RECORD_ID_LENGTH);
    return toolRecord(list.tools, { id, timestamp: list.timestamp, atTurn: turn, padding: derivedPadding(id) });
  });
  // Most tools are the same as in the list before.
  return new Map(files.map((file) => [file.path, file])).values();
}

function settingsChanges(work: ImportCommits, index: number): FileChange[] {
  return work.sequence.settingsIn(index).map(({ timestamp, delta, id: source }) => {
    const id = shortId(sha256(`${work.session}:${source}`), RECORD_ID_LENGTH);
    const record = { type: "config_delta", id, timestamp, at_turn: index, delta };
    const bytes = encode(`${formatRecordLine(record, derivedPadding(id))}\n`);
    return { path: recordPath("config", timestamp, id), bytes };
  });
}

/** The last turn before `end` with a list of tools; -1 = none in the turns that are read. */
function turnOfTools({ sequence }: ImportCommits, end: number): number {
  for (let turn = end - 1; turn >= 0; turn--) if (sequence.toolsIn(turn).length > 0) return turn;
  return -1;
}

/** Compactions and what took them back, in the order of their times. */
async function* compactionCommits(
  work: ImportCommits,
  index: number,
  turn: PreparedTurn | null,
): AsyncGenerator<CommitSpec> {
  const undone = [...(work.sequence.undoneAfter?.(index) ?? [])];
  for (const draft of work.sequence.compactionsAfter(index)) {
    while (undone[0] !== undefined && compareTimestamps(undone[0].timestamp, draft.timestamp) < 0)
      yield* revertCommits(work, undone.shift());
    if (work.known.ids.has(draft.id)) continue;
    const compaction = await completeCompaction(work, draft, turn === null ? null : { index, turn });
    const path = recordPath("compactions", compaction.timestamp, compaction.id);
    work.known.live.set(compaction.id, { paths: [path], subject: subjectOf([compaction]) });
    yield {
      message: compactionMessage({ compaction, hidden: null }),
      ...signedAt(work, compaction.timestamp),
      changes: [{ path, bytes: encode(`${formatCompactionLine(compaction, derivedPadding(compaction.id))}\n`) }],
    };
  }
  for (const undo of undone) yield* revertCommits(work, undo);
}

/** The commit that takes a compaction back, as `jpg revert` does, unless that was done: a user may have brought it back since. */
function* revertCommits({ known, agent }: ImportCommits, undo: LiveUndo | undefined): Generator<CommitSpec> {
  const record =
    undo === undefined || known.reverted.has(undo.compaction) ? undefined : known.live.get(undo.compaction);
  if (undo === undefined || record === undefined) return;
  known.live.delete(undo.compaction);
  yield {
    message: revertMessage({ isBack: false, subject: record.subject, commit: record.commit }),
    ...signedAt({ agent }, undo.timestamp),
    changes: record.paths.map((path): FileChange => ({ path, remove: true })),
  };
}

function signedAt(
  { agent }: Pick<ImportCommits, "agent">,
  timestamp: string,
): Pick<CommitSpec, "author" | "committer"> {
  const signature = signatureAt(agent, Math.floor(Date.parse(timestamp) / 1000) || 0);
  return { author: signature, committer: signature };
}

/** The compactions of a branch before an import. */
export interface KnownRecords {
  /** Ids of all that it ever had. */
  readonly ids: ReadonlySet<string>;
  /** Ids of those that a commit removed. */
  readonly reverted: ReadonlySet<string>;
  /** Those in force, by id; the import adds its own. */
  readonly live: Map<string, LiveRecord>;
}

interface LiveRecord {
  /** Its file, and those of its group. */
  readonly paths: readonly string[];
  /** Subject of the commit that added it. */
  readonly subject: string;
  /** That commit; absent = the import itself makes it. */
  readonly commit?: string;
}

async function completeCompaction(
  work: ImportCommits,
  draft: Compaction,
  at: { index: number; turn: PreparedTurn } | null,
): Promise<Compaction> {
  const readText = async (index: number): Promise<string> => {
    const prepared = at?.index === index ? at.turn : work.chain.prepare(index);
    return new TextDecoder().decode(prepared.bytes);
  };
  const covers = await coversDigest(draft, { turnOids: work.chain.oids(draft.to_turn + 1), readText });
  const tokens = recordedTokens(draft);
  return {
    ...draft,
    ...(covers === null ? {} : { covers }),
    ...(tokens === null ? {} : { stats: { ...draft.stats, tokens } }),
  };
}

/** Counts the compactions that the commits of a sequence add, less those that they take back. */
export function countNewCompactions(sequence: TurnSequence, { ids, reverted, live }: KnownRecords): number {
  const turns = Array.from({ length: sequence.turnCount }, (_, turn) => turn);
  const made = turns.flatMap((turn) => sequence.compactionsAfter(turn)).filter(({ id }) => !ids.has(id));
  const after = new Map([...live].map(([id, { paths }]) => [id, paths.length] as const));
  for (const { id } of made) after.set(id, 1);
  const undone = turns.flatMap((turn) => sequence.undoneAfter?.(turn) ?? []).map(({ compaction }) => compaction);
  const gone = new Set(undone.filter((id) => !reverted.has(id)));
  return made.length - [...gone].reduce((count, id) => count + (after.get(id) ?? 0), 0);
}

/** The agent's own count of tokens before and after; without the latter, an estimate of the summary. */
function recordedTokens(draft: Compaction): { before: number; after: number } | null {
  const before = draft.metadata?.["preTokens"];
  const after = draft.metadata?.["postTokens"];
  if (typeof before !== "number") return null;
  if (typeof after === "number") return { before, after };
  const text = draft.summary?.summary ?? "";
  return {
    before,
    after: estimateEvents([{ type: "chat_request", id: draft.id, timestamp: draft.timestamp, content: text }]),
  };
}

// The turns of a sequence with their object ids. Each id depends on the one before; it is computed once, on demand, and kept with
// the number of events. Bytes are not kept: a session may be larger than memory.

export interface TurnChain {
  /** Turns of the conversation after the import. */
  readonly turnCount: number;
  /** Prepares a turn, and first those before it whose ids are not computed yet. */
  prepare(index: number): PreparedTurn;
  /** The first `count` turns; all when there are fewer. */
  known(count: number): readonly KnownTurn[];
  /** Object ids of the first `count` turns; of all when there are fewer. */
  oids(count: number): readonly string[];
  countEvents(): number;
}

/** Creates the chain of a sequence. Prepares nothing yet. */
export function createTurnChain(sequence: TurnSequence): TurnChain {
  const turns: KnownTurn[] = [...sequence.known];
  const prepare = (index: number): PreparedTurn => {
    while (turns.length < index) keep(turns.length);
    return keep(index);
  };
  const keep = (index: number): PreparedTurn => {
    const turn = prepareTurn(sequence.readTurn(index), turns[index - 1]?.oid, sequence.asStored);
    turns[index] = { oid: turn.oid, events: turn.events };
    return turn;
  };
  const known = (count: number): readonly KnownTurn[] => {
    const wanted = Math.min(count, sequence.turnCount);
    while (turns.length < wanted) keep(turns.length);
    return turns.slice(0, wanted);
  };
  return {
    turnCount: sequence.turnCount,
    prepare,
    known,
    oids: (count) => known(count).map((turn) => turn.oid),
    countEvents: () => known(sequence.turnCount).reduce((sum, turn) => sum + turn.events, 0),
  };
}

/** A turn known by its object id and number of events. */
export interface KnownTurn {
  readonly oid: string;
  readonly events: number;
}

export interface TurnSequence {
  /** Turns of the conversation after the import. */
  readonly turnCount: number;
  /** The first turns, if they are known without reading the file. */
  readonly known: readonly KnownTurn[];
  /** Events of one turn, `turn_start` first; not of known turns, except the newest one, which may be written again. */
  readTurn(index: number): readonly Event[];
  /** Events of the branch's newest turn as stored, by id: they are written again unchanged. */
  readonly asStored?: ReadonlyMap<string, Event>;
  /** The file's lines of a turn, `[first, end)`; null if the turn is not in the file. */
  lines(index: number): { readonly first: number; readonly end: number } | null;
  /** The agent's compactions to commit after that turn, oldest first, in positions of the conversation. */
  compactionsAfter(index: number): readonly Compaction[];
  /** Compactions that were taken back after that turn, oldest first; absent = none. */
  undoneAfter?(index: number): readonly LiveUndo[];
  /** Titles given during that turn, oldest first. */
  titlesIn(index: number): ImportedSession["titles"];
  /** Lists of tools that the agent offered from that turn on, one per change, oldest first. */
  toolsIn(index: number): readonly ToolList[];
  /** Changes of settings by the agent in that turn, oldest first. */
  settingsIn(index: number): readonly SettingsChange[];
}

/**
 * The sequence of a file with a whole conversation; `lineCount` null = it is one document, `known` = turns before the first one
 * that was read.
 */
export function wholeSequence(
  session: ImportedSession,
  lineCount: number | null,
  known: readonly KnownTurn[] = [],
): TurnSequence {
  const { turnCount } = session;
  const titles = titlesByTurn(session);
  return {
    turnCount,
    known,
    readTurn: (index) => session.readTurn(index),
    lines: (index) =>
      lineCount === null
        ? null
        : {
            first: index === 0 ? 0 : session.turnLine(index),
            end: index + 1 < turnCount ? session.turnLine(index + 1) : lineCount,
          },
    compactionsAfter: (index) =>
      session.compactions.filter((compaction) => session.compactionTurns.get(compaction.id) === index),
    undoneAfter: (index) => undoneIn(session, index),
    titlesIn: (index) => titles.get(index) ?? [],
    toolsIn: (index) => toolsOfTurn(session, index),
    settingsIn: (index) => settingsOfTurn(session, index),
  };
}

export function undoneIn({ live }: ImportedSession, index: number): readonly LiveUndo[] {
  return live?.undone.filter(({ turn }) => turn === index) ?? [];
}

export function toolsOfTurn({ toolLists = [] }: ImportedSession, index: number): readonly ToolList[] {
  return toolLists.filter(({ turn }) => turn === index);
}

export function settingsOfTurn({ settings = [] }: ImportedSession, index: number): readonly SettingsChange[] {
  return settings.filter(({ turn }) => turn === index);
}

/** The sequence of an abandoned branch: the common turns, then its own. It has no lines in the file. */
export function abandonedSequence(turns: ImportedTurns, common: readonly KnownTurn[]): TurnSequence {
  return {
    turnCount: turns.turnCount,
    known: common,
    readTurn: (index) => turns.readTurn(index),
    lines: () => null,
    compactionsAfter: () => [],
    titlesIn: () => [],
    toolsIn: () => [],
    settingsIn: () => [],
  };
}

/** Titles by turn, without jpg's own names: the last turn that starts no later; those without a time belong to the turn before. */
export function titlesByTurn(session: ImportedSession): Map<number, ImportedSession["titles"]> {
  const byTurn = new Map<number, ImportedSession["titles"][number][]>();
  if (session.titles.length === 0 || session.turnCount === 0) return byTurn;
  const starts = Array.from({ length: session.turnCount }, (_, index) => Date.parse(session.turnTime(index)));
  for (const title of session.titles) {
    if (isResumedTitle(title.title)) continue;
    const time = Date.parse(title.timestamp);
    let turn = 0;
    while (turn + 1 < starts.length && (starts[turn + 1] ?? Number.POSITIVE_INFINITY) <= time) turn++;
    byTurn.set(turn, [...(byTurn.get(turn) ?? []), title]);
  }
  return byTurn;
}

// Keeps the stored pieces of a session equal to its file: where a turn's lines in the file grew or moved (notes, a path that the
// user returned to), they are written again.

interface SourceStretches {
  readonly sequence: Pick<TurnSequence, "turnCount" | "lines">;
  readonly source: ByteSource;
  /** Extension of a source that is one document; null = lines. */
  readonly document: string | null;
  readonly session: string;
  readonly limits: PieceLimits;
}

/** The changes at a commit that make its pieces equal to the file, except pieces of turns from `firstTurn` on. */
export async function alignPieces(
  store: ConversationStore,
  commit: string,
  work: SourceStretches & { readonly firstTurn: number },
): Promise<FileChange[]> {
  const pieces = await listPieces(store, commit, work.session);
  const stored = new Map(pieces.map((file) => [file.path, file.oid]));
  const changes: FileChange[] = [];
  if (work.document !== null) stored.delete(documentPath(work.session, work.document));
  for (let turn = 0; turn < work.sequence.turnCount; turn++) {
    const lines = work.sequence.lines(turn);
    if (lines === null) continue;
    for (const piece of cutPieces(work.source, { session: work.session, turn, ...lines }, work.limits)) {
      const oid = stored.get(piece.path);
      stored.delete(piece.path);
      if (turn >= work.firstTurn) continue;
      const [change, ...attachments] = pieceChanges(work.source, piece, work.limits);
      if (change !== undefined && "bytes" in change && blobId(change.bytes) !== oid)
        appendAll(changes, [change, ...attachments]);
    }
  }
  return [...changes, ...[...stored.keys()].map((path): FileChange => ({ path, remove: true }))];
}

/** Whether the branch has all side files as they are now. */
export async function hasSideFiles(
  store: ConversationStore,
  commit: string,
  session: { readonly id: string; readonly sideFiles: readonly SideFile[] },
): Promise<boolean> {
  if (session.sideFiles.length === 0) return true;
  const stored = await listStoredSideFiles(store, commit, session.id);
  return session.sideFiles.every((file) => stored.get(file.path) === blobId(file.bytes));
}
