// The commits of an import: pure functions of the session, so that two people who import one session share history.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { formatCompactionLine, formatRecordLine, recordPath } from "../../core/conversation/compaction-line.ts";
import { shortId } from "../../core/conversation/name.ts";
import { estimateEvents } from "../../core/conversation/token-estimate.ts";
import { documentPath, turnPath } from "../../core/conversation/turn-file.ts";
import { compactionMessage, turnMessage } from "../../store/messages.ts";
import type { CommitSpec, FileChange } from "../../store/store.ts";
import { derivedPadding } from "../branch/append-record.ts";
import type { ConversationHeader } from "../branch/branch-tree.ts";
import { coversDigest } from "../branch/covers.ts";
import type { PreparedTurn } from "../branch/prepared-turn.ts";
import { encode, rootCommit, sign } from "../branch/root-commit.ts";
import { toolRecord } from "../branch/tool-records.ts";
import type { ByteSource } from "../sessions/buffer-source.ts";
import type { SideFile } from "../sessions/side-files.ts";
import { cutPieces, type PieceLimits, pieceChanges } from "../sessions/source-pieces.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { TurnChain } from "./turn-chain.ts";
import type { TurnSequence } from "./turn-sequence.ts";

/** What one run of commits writes. */
export interface ImportCommits {
  readonly sequence: TurnSequence;
  readonly source: ByteSource;
  /** Extension of a source that is one document: it comes with the newest turn. Null = lines, cut at turns. */
  readonly document: string | null;
  /** Sizes at which pieces of the source are cut. */
  readonly limits: PieceLimits;
  /** Folder of the session under `sources/`. */
  readonly session: string;
  /** Name and address that stand as author and committer. */
  readonly agent: { readonly name: string; readonly email: string };
  /** Written by a root commit first; absent when building on a commit. */
  readonly root?: ConversationHeader;
  readonly firstTurn: number;
  /** The first turn exists already in a shorter form that stays in history. */
  readonly continued: boolean;
  /** The sequence's turns with their object ids. */
  readonly chain: TurnChain;
  /** What the first turn's commit changes of what the branch holds already: pieces of earlier turns that grew, later turns. */
  readonly alignment: readonly FileChange[];
  /** Ids of compactions that are or were on the branch: never written again. */
  readonly known: ReadonlySet<string>;
  readonly sideFiles: readonly SideFile[];
  /** Counts the compactions that are written. */
  readonly counts: { compactions: number };
}

/** Characters of a record's id: as many as random ones have, and some more against chance. */
const RECORD_ID_LENGTH = 10;

/** Yields the commits oldest first; one turn is prepared at a time. */
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
    author: sign(work.agent, turn.startSeconds),
    committer: sign(work.agent, turn.endSeconds),
    changes: [
      // First: it may take away what stood where this turn goes.
      ...(first ? work.alignment : []),
      { path: turnPath(index), bytes: turn.bytes },
      ...sourceChanges(work, index),
      ...turn.attachments,
      // A title that came after the newest turn was stored belongs to that turn.
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
    const id = shortId(sha256(`${work.session}:${source}`), RECORD_ID_LENGTH);
    return {
      path: recordPath("meta", timestamp, id),
      bytes: encode(`${formatRecordLine({ type: "meta", id, timestamp, title }, derivedPadding(id))}\n`),
    };
  });
}

/** What the agent offers from a turn on; with the first turn also what holds already: an earlier jpg did not record it. */
function toolChanges(work: ImportCommits, index: number): Iterable<FileChange> {
  const turns = index === work.firstTurn ? [turnOfTools(work, index), index] : [index];
  const files = turns.flatMap((turn) => {
    const list = turn < 0 ? undefined : work.sequence.toolsIn(turn).at(-1);
    if (list === undefined) return [];
    const id = shortId(sha256(`${work.session}:${list.id}`), RECORD_ID_LENGTH);
    return toolRecord(list.tools, { id, timestamp: list.timestamp, atTurn: turn, padding: derivedPadding(id) });
  });
  // Most tools are those of the list before.
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

/** The last turn before one that brings a list of tools; -1 = none that is read. */
function turnOfTools({ sequence }: ImportCommits, end: number): number {
  for (let turn = end - 1; turn >= sequence.firstRead; turn--) if (sequence.toolsIn(turn).length > 0) return turn;
  return -1;
}

async function* compactionCommits(
  work: ImportCommits,
  index: number,
  turn: PreparedTurn | null,
): AsyncGenerator<CommitSpec> {
  for (const draft of work.sequence.compactionsAfter(index)) {
    if (work.known.has(draft.id)) continue;
    const compaction = await completeCompaction(work, draft, turn === null ? null : { index, turn });
    const signature = sign(work.agent, Math.floor(Date.parse(compaction.timestamp) / 1000) || 0);
    work.counts.compactions++;
    yield {
      message: compactionMessage({ compaction, hidden: null }),
      author: signature,
      committer: signature,
      changes: [
        {
          path: recordPath("compactions", compaction.timestamp, compaction.id),
          bytes: encode(`${formatCompactionLine(compaction, derivedPadding(compaction.id))}\n`),
        },
      ],
    };
  }
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

/** The agent's own count of tokens before; after = its own count, else an estimate of the summary. */
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
