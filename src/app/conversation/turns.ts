// Reads, prepares and stores the turns of a branch: their bytes, long texts and titles.
import { isAscii } from "node:buffer";
import { constants, inflateSync } from "node:zlib";
import {
  ATTACHMENT_LIMITS,
  attachmentPath,
  attachmentsOf,
  type Inflate,
  inline,
  inlineTexts,
  needsInlining,
  spill,
  textAttachmentsOf,
} from "../../core/conversation/attachment.ts";
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import { type Event, fieldsOf, formatRuns, joinRuns, type Turn, type View } from "../../core/conversation/event.ts";
import { type CommentRecord, type MarkRecord, type PinRecord, shownTitle } from "../../core/conversation/marks.ts";
import { formatTurnFile, parseTurnLines, splitLines, turnPath } from "../../core/conversation/turn-file.ts";
import { JpgError, repositoryError } from "../../core/errors.ts";
import { recordMessage } from "../../store/messages.ts";
import type { CommitSpec, ConversationStore, FileChange, Signature } from "../../store/store.ts";
import { blobId, sha256 } from "./runtime.ts";
import {
  BRANCH_ATTRIBUTES,
  type BranchTree,
  type ConversationHeader,
  collectBlobs,
  LONGEST_TEXT,
  readMetaRecords,
  textTooLong,
} from "./tree.ts";
import type { Workspace } from "./workspace.ts";

// Puts attachments back into events. Turns are read with their long texts, so that counting, showing and searching see what was
// said; images and other binary payloads are read only on demand.

/** Every reference in a turn file contains this. */
const REFERENCE = Buffer.from('$attachment"');

interface TurnFile {
  readonly index: number;
  readonly oid: string;
}

/** Lists the turn files at some positions, 0-based. */
export function turnFiles({ turnOids }: Pick<BranchTree, "turnOids">, positions: readonly number[]): TurnFile[] {
  return positions.map((index) => ({ index, oid: turnOids[index] ?? "" }));
}

/**
 * Reads turns of a commit in the given order, with their long texts. A text that the store lacks stays a reference: it is shown as
 * `[attachment NAME]` and counts as the shortest text that is moved. Throws `malformed_line`, `object_missing`.
 */
export async function* readTurnFiles(
  store: ConversationStore,
  commit: string,
  files: readonly TurnFile[],
): AsyncGenerator<Turn> {
  let next = 0;
  for await (const bytes of store.readBlobs(files.map(({ oid }) => oid))) {
    const index = files[next++]?.index ?? 0;
    const events = parseTurnBytes(bytes, index);
    const holds = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(REFERENCE);
    yield { index, events: holds ? await withTexts(store, commit, events) : events };
  }
}

async function withTexts(
  store: ConversationStore,
  commit: string,
  events: readonly Event[],
): Promise<readonly Event[]> {
  const names = [...new Set(events.flatMap(textAttachmentsOf))];
  if (names.length === 0) return events;
  const oids = await store.readEntries(commit, names.map(attachmentPath));
  await store.partial?.fetch([...oids.values()]);
  const texts = new Map<string, Uint8Array>();
  for (const name of names) {
    const bytes = await readIfPresent(store, oids.get(attachmentPath(name)));
    if (bytes !== null) texts.set(name, bytes);
  }
  return events.map((event) => inlineTexts(event, (name) => texts.get(name) ?? null));
}

/** Null when the object is lost; `jpg fsck` reports it. */
async function readIfPresent(store: ConversationStore, oid: string | undefined): Promise<Uint8Array | null> {
  if (oid === undefined) return null;
  try {
    const [bytes = null] = await collectBlobs(store, [oid]);
    return bytes;
  } catch (error) {
    if (error instanceof JpgError && (error.code === "object_missing" || error.code === "store_damaged")) return null;
    throw error;
  }
}

/** Reads every attachment that the events refer to. Returns a look-up that throws `attachment_missing`. */
export async function readAttachments(
  store: ConversationStore,
  commit: string,
  events: Iterable<Event>,
): Promise<(name: string) => Uint8Array> {
  const names = new Set<string>();
  for (const event of events) for (const name of attachmentsOf(event)) names.add(name);
  const paths = [...names].map(attachmentPath);
  const oids = paths.length === 0 ? new Map<string, string>() : await store.readEntries(commit, paths);
  const blobs = await collectBlobs(store, [...oids.values()]);
  const byPath = new Map([...oids.keys()].map((path, index) => [path, blobs[index]]));
  return (name) => {
    const bytes = byPath.get(attachmentPath(name));
    if (bytes === undefined) throw attachmentMissing(name, commit);
    return bytes;
  };
}

function attachmentMissing(name: string, commit: string): Error {
  return repositoryError("attachment_missing", `Attachment ${name} is not in the tree of ${commit.slice(0, 9)}.`, {
    hints: ["`jpg git fsck` checks the store; `jpg git log --diff-filter=D -- attachments` shows what removed it."],
  });
}

/** Puts attachments into events. Throws `attachment_missing`. */
export async function inlineEvents(
  store: ConversationStore,
  commit: string,
  events: readonly Event[],
): Promise<readonly Event[]> {
  const read = await readAttachments(store, commit, events);
  return events.map((event) => inline(event, read));
}

/** Checks that events have all their long texts. Throws `attachment_missing`. */
export function requireTexts(commit: string, events: Iterable<Event>): void {
  for (const event of events) for (const name of textAttachmentsOf(event)) throw attachmentMissing(name, commit);
}

/** Puts attachments into a view, as exports need it. Turns without any are returned as they are. */
export async function inlineView(store: ConversationStore, commit: string, view: View): Promise<View> {
  const marked = new Set(view.turns.flatMap(({ events }) => events.filter(needsInlining)));
  if (marked.size === 0) return view;
  const read = await readAttachments(store, commit, marked);
  const whole = (event: Event): Event => (marked.has(event) ? inline(event, read) : event);
  return {
    turns: view.turns.map((turn) =>
      turn.events.some((event) => marked.has(event)) ? { ...turn, events: turn.events.map(whole) } : turn,
    ),
  };
}

// Decodes turn files. Most are plain ASCII, which decodes and parses many times faster than a text with even one other character;
// any other turn is decoded line by line.

const LINE_END = 0x0a;
/** Bytes; usually more than the first line of a turn: a `turn_start` has a few hundred. */
const FIRST_LINE_BYTES = 4096;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Parses the bytes of a turn file at a position, 0-based. Throws `malformed_line`. */
export function parseTurnBytes(bytes: Uint8Array, index: number): Event[] {
  return parseTurnLines(decodeLines(bytes), turnPath(index));
}

/** Reads the first event of a turn file; empty for an empty file. Throws `malformed_line`. */
export async function readFirstEvent(store: ConversationStore, oid: string, index: number): Promise<Event[]> {
  const start = await readStart(store, oid, FIRST_LINE_BYTES);
  const isWhole = start.length < FIRST_LINE_BYTES || start.includes(LINE_END);
  const [first] = decodeLines(isWhole ? start : await readStart(store, oid));
  return parseTurnLines(first === undefined ? [] : [first], turnPath(index));
}

/** Reads the `prev` of turn files: the object id in their `turn_start`, null if it has none. */
export async function readPrevious(
  store: ConversationStore,
  oids: readonly string[],
): Promise<readonly (string | null)[]> {
  const previous: (string | null)[] = [];
  for await (const start of store.readBlobs(oids, FIRST_LINE_BYTES)) {
    const isWhole = start.length < FIRST_LINE_BYTES || start.includes(LINE_END);
    const [line = ""] = decodeLines(isWhole ? start : await readStart(store, oids[previous.length] ?? ""));
    previous.push(previousOf(line));
  }
  return previous;
}

/** Null for a line that is no event; reading the turn reports it. */
function previousOf(line: string): string | null {
  try {
    const { type, prev } = fieldsOf(JSON.parse(line));
    return type === "turn_start" && typeof prev === "string" ? prev : null;
  } catch {
    return null;
  }
}

async function readStart(store: ConversationStore, oid: string, atLeast?: number): Promise<Uint8Array> {
  for await (const bytes of store.readBlobs([oid], atLeast)) return bytes;
  return new Uint8Array();
}

/** Decodes the lines of a turn file, each with its line end. `longest` = bytes of a line at most. Throws `text_too_long`. */
export function decodeLines(
  { buffer, byteOffset, byteLength }: Uint8Array,
  longest: number = LONGEST_TEXT,
): Iterable<string> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const isOneText = byteLength <= longest && isAscii(bytes);
  return isOneText ? splitLines(bytes.toString("latin1")) : decodeEachLine(bytes, longest);
}

function* decodeEachLine(bytes: Buffer, longest: number): Generator<string> {
  let start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(LINE_END, start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    if (line.length > longest) throw textTooLong(line.length, longest);
    yield line.toString(isAscii(line) ? "latin1" : "utf8");
    start = end;
  }
}

export interface MetaRecord extends PinRecord, MarkRecord, CommentRecord {
  readonly title?: string;
  /** The group of compactions with which one commit added it. */
  readonly group?: string;
}

/** Returns the title that a record under meta/ gave last, safe to show; "" = none did. `metas`: oldest first. */
export function givenTitle(metas: readonly MetaRecord[]): string {
  const named = metas.filter((meta) => typeof meta.title === "string");
  return shownTitle(named[named.length - 1]?.title ?? "");
}

/** Reads all undamaged meta records, oldest first. */
export async function readMetas(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<MetaRecord[]> {
  const { records } = await readMetaRecords(workspace.store, tree);
  return records
    .map(({ record }) => record as unknown as MetaRecord)
    .sort((a, b) => compareTimestamps(a.timestamp, b.timestamp) || (a.id < b.id ? -1 : 1));
}

// Prepares one turn for storage: its lines, its object id, and facts for its commit.

export interface PreparedTurn {
  readonly bytes: Uint8Array;
  readonly oid: string;
  readonly events: number;
  /** Text of the turn's request, see `requestText`. */
  readonly request: string;
  /** Times of the first and the latest dated event, seconds since 1970. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly attachments: readonly FileChange[];
}

/** Longest unpacked stream of a PDF, bytes. */
const MOST_UNPACKED = 16 * 1024 * 1024;
const LIMITS = { ...ATTACHMENT_LIMITS, inflate: unpack };

const NOTHING_STORED: ReadonlyMap<string, Event> = new Map();

/**
 * Prepares a turn for storage; `prev` = object id of the previous turn, absent for the first. `asStored` = events that are already
 * stored in the conversation, by id: they are reused as they are, even if another version of jpg wrote them.
 */
export function prepareTurn(
  events: readonly Event[],
  prev: string | undefined,
  asStored: ReadonlyMap<string, Event> = NOTHING_STORED,
): PreparedTurn {
  const attachments = new Map<string, FileChange>();
  const put = (payload: { readonly bytes: Uint8Array; readonly extension: string }): string => {
    const digest = sha256(payload.bytes);
    const name = payload.extension === "" ? digest : `${digest}.${payload.extension.replace(/^\./, "")}`;
    attachments.set(name, { path: attachmentPath(name), bytes: payload.bytes });
    return digest;
  };
  const stored = events.map((event) => asStored.get(event.id) ?? spill(withPrev(event, prev), LIMITS, put));
  const bytes = new TextEncoder().encode(formatTurnFile(stored));
  const seconds = events
    .map((event) => Math.floor(Date.parse(event.timestamp) / 1000))
    .filter((value) => Number.isFinite(value));
  const start = seconds[0] ?? 0;
  return {
    bytes,
    oid: blobId(bytes),
    events: events.length,
    request: requestText(events),
    startSeconds: start,
    endSeconds: seconds.reduce((latest, value) => Math.max(latest, value), start),
    attachments: [...attachments.values()],
  };
}

/** Returns the text of the first request by a person in the turn, else of its first request; empty when it has none. */
export function requestText(events: readonly Event[]): string {
  const requests = events.filter((event) => event.type === "chat_request");
  const request = requests.find((event) => event.metadata?.origin !== "harness") ?? requests[0];
  if (request === undefined) return "";
  if (typeof request.content === "string") return request.content;
  if (!Array.isArray(request.content)) return "[attachment]";
  for (const part of request.content) if (part.type === "text" && typeof part.text === "string") return part.text;
  return request.content[0] === undefined ? "" : `[${request.content[0].type}]`;
}

function withPrev(event: Event, prev: string | undefined): Event {
  return event.type === "turn_start" && prev !== undefined ? { ...event, prev } : event;
}

function unpack(bytes: Uint8Array): ReturnType<Inflate> {
  try {
    return inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_UNPACKED });
  } catch {
    // Encrypted, damaged or too long: estimated by the size of the file instead.
    return null;
  }
}

// Fetches missing turns of a partial clone in one request before they are read. An error names those turns by position.

/** Fetches the missing ones among some turns; `positions` may repeat. Throws `turns_elsewhere`. */
export async function fetchMissingTurns(
  { partial }: Pick<ConversationStore, "partial">,
  { branch, turnOids }: Pick<BranchTree, "branch" | "turnOids">,
  positions: readonly number[],
): Promise<void> {
  if (partial === null) return;
  try {
    await partial.fetch(positions.flatMap((turn) => turnOids[turn] ?? []));
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "objects_elsewhere") throw error;
    const absent = new Set(error.data["oids"] as readonly string[]);
    const turns = [...new Set(positions)].filter((turn) => absent.has(turnOids[turn] ?? "")).sort((a, b) => a - b);
    const message = error.cause instanceof Error ? error.cause.message : error.message;
    const which = `${turns.length === 1 ? "Turn" : "Turns"} ${listRanges(turns)} of ${branch}`;
    throw repositoryError(
      "turns_elsewhere",
      `${which} ${turns.length === 1 ? "is" : "are"} not in this partial clone. ${message}`,
      {
        hints: error.hints,
        data: { branch, turns },
        cause: error,
      },
    );
  }
}

/** Ranges listed in a message. */
const LISTED = 5;

/** Formats positions as ranges: `0, 7..9`. */
function listRanges(turns: readonly number[]): string {
  const runs = joinRuns(turns.map((turn) => ({ from: turn, to: turn })));
  return formatRuns(runs.slice(0, LISTED)) + (runs.length > LISTED ? " …" : "");
}

/** Makes the root commit of a conversation, with the files that never change. */
export function rootCommit(
  header: ConversationHeader,
  agent: { readonly name: string; readonly email: string },
): CommitSpec {
  const signature = signatureAt(agent, Math.floor(Date.parse(header.created_at) / 1000) || 0);
  return {
    message: recordMessage("conversation", header.title),
    author: signature,
    committer: signature,
    changes: [
      { path: ".gitattributes", bytes: encode(BRANCH_ATTRIBUTES) },
      { path: "conversation.json", bytes: encode(`${JSON.stringify(header)}\n`) },
    ],
  };
}

/** Makes a signature; `seconds` since 1970. */
export function signatureAt(agent: { readonly name: string; readonly email: string }, seconds: number): Signature {
  return { name: agent.name, email: agent.email, seconds };
}

export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
