// The journal of an open turn: its file, its lines, and whose the journals are that lie in a store's git dir.
import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod/mini";
import type { ChatResponse, Event } from "../../core/conversation/event.ts";
import { parseEventLine } from "../../core/conversation/turn-file.ts";
import { codeOf, type JpgError, reasonOf, repositoryError, userError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { makeFolders, readOwnText, syncFolders } from "../../store/files.ts";
import { isProcessGone, type ProcessMark, processMark } from "../../store/running-process.ts";
import { objectId, sha256 } from "./runtime.ts";
import { type ConversationHeader, conversationHeader } from "./tree.ts";

/** A journal that was found. */
export interface FoundJournal {
  readonly path: string;
  /** Its writer is gone, or has given it up. */
  readonly isAbandoned: boolean;
}

const ENDING = ".jsonl";
/** In the names of journals that their writers gave up; stores hold such names. */
export const ABANDONED = ".left";
/** Longest encoded branch name; file systems allow 255 bytes, and more is added to it. */
const MAX_NAME = 180;
/** More than the first line of a journal has. */
const HEAD_BYTES = 64 * 1024;
/** A journal without a whole head counts as abandoned after so long: until then its writer may be just beginning, milliseconds. */
const NO_HEAD_MS = 10_000;

/** The journal of the open turn of a branch, in the folder that the store has for them. */
export function journalPath(folder: string, branch: string): string {
  const name = encodeURIComponent(branch);
  return join(folder, `${name.length > MAX_NAME ? sha256(branch) : name}${ENDING}`);
}

/** Whether a store's folder of journals has one, of a turn that is being talked or of one that was broken off. */
export async function hasJournals(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0;
}

/** Lists the journals in the folder of a store, of a branch the abandoned ones first; a store without any costs one look. */
export async function listJournals(folder: string, now: Date): Promise<readonly FoundJournal[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => name.includes(ENDING))
      .sort()
      .reverse()
      .map(async (name) => {
        const path = join(folder, name);
        return { path, isAbandoned: name.includes(ABANDONED) || (await isDead(path, now)) };
      }),
  );
}

/** Whether a turn of a branch is being talked now. */
export async function isTurnOpen(folder: string, branch: string, now: Date): Promise<boolean> {
  const path = journalPath(folder, branch);
  return (await listJournals(folder, now)).some((found) => found.path === path && !found.isAbandoned);
}

/** Replays a journal; null when it is gone, or was never begun properly. */
export async function readJournal(path: string): Promise<Replay | null> {
  return replayJournal(textOf(path) ?? "");
}

/** Reads who writes a journal, and what; null when it is gone or has no whole head. */
export async function readJournalHead(path: string): Promise<JournalHead | null> {
  const text = textOf(path);
  return text === null ? null : parseJournalHead(text.slice(0, HEAD_BYTES));
}

function textOf(path: string): string | null {
  try {
    return readOwnText(path);
  } catch {
    return null;
  }
}

/** Takes a journal away if it still is that of the turn that begins with `start`; null = one without a head. */
export async function removeJournal(path: string, start: string | null): Promise<void> {
  const aside = `${path}${ABANDONED}-${start ?? "headless"}`;
  if (!(await moveAside(path, aside))) return;
  if (((await readJournalHead(aside))?.start ?? null) === start) await rm(aside, { force: true });
  // Somebody else removed that journal and has begun another turn since: this one is theirs.
  else await rename(aside, path);
}

/** Marks a journal as abandoned by its writer; gives its new path. */
export async function abandonJournal(path: string, start: string): Promise<string> {
  const aside = `${path}${ABANDONED}-${start}`;
  // On a disk where not even that is possible it counts as abandoned when this process has ended.
  return (await moveAside(path, aside)) ? aside : path;
}

function moveAside(path: string, aside: string): Promise<boolean> {
  return rename(path, aside).then(
    () => true,
    () => false,
  );
}

async function isDead(path: string, now: Date): Promise<boolean> {
  const head = await readJournalHead(path);
  if (head === null) return (await ageOf(path, now)) > NO_HEAD_MS;
  return isProcessGone(head.writer, () => ageOf(path, now));
}

/** Milliseconds since a file was written to; -1 when it is gone. */
async function ageOf(path: string, now: Date): Promise<number> {
  const found = await lstat(path).catch(() => null);
  return found === null ? -1 : now.getTime() - found.mtimeMs;
}

// The lines of a turn's journal and what they come to. Each line stands by itself, an event's later lines replace or extend
// its earlier ones, so any prefix of a journal replays to a prefix of its events, and replaying twice changes nothing.

/** The first line, and again when it changes: what is needed to commit the turn without its writer. The last one holds. */
export interface JournalHead {
  /** Version of the journal's lines. */
  readonly journal: 1;
  readonly branch: string;
  /** Position of the turn, 0-based. */
  readonly turn: number;
  /** Id of the turn's first event: tells whether a branch holds the turn already. */
  readonly start: string;
  /** The commit it was begun on; null = it begins a conversation. */
  readonly parent: string | null;
  /** Object id of the turn before it; null = there is none. */
  readonly prev: string | null;
  /** Written by the root commit of a new conversation. */
  readonly root?: ConversationHeader;
  /** Whose turn it is. */
  readonly writer: ProcessMark;
}

const journalHead: z.ZodMiniType<JournalHead> = z.looseObject({
  journal: z.literal(1),
  branch: z.string(),
  turn: z.int().check(z.minimum(0)),
  start: z.string(),
  parent: z.nullable(objectId),
  prev: z.nullable(objectId),
  root: z.exactOptional(conversationHeader),
  writer: processMark,
});

/** A text that streams, as its event will hold it. */
export type TextKind = "message" | "reasoning";

/** One line after the first. */
export type JournalLine =
  /** An event whose text streams; its text so far. */
  | { readonly open: ChatResponse }
  /** More text of the event with that id. */
  | { readonly delta: string; readonly id: string }
  /** A whole event, in place of what was opened with its id, or of its earlier form. */
  | { readonly event: Event }
  /** The turn is as it should be; without it, it was interrupted. */
  | { readonly complete: true };

/** What a journal comes to. */
export interface Replay {
  readonly head: JournalHead;
  /** In the order begun. What streamed and did not end is marked `metadata.interrupted`; nothing of it = left out. */
  readonly events: readonly Event[];
  readonly isComplete: boolean;
}

/** Formats a line of a journal, its line end included. */
export function formatJournalLine(line: JournalHead | JournalLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Replays a journal; reads up to the first line that is torn or makes no sense. Null when not even its head is whole. */
export function replayJournal(text: string): Replay | null {
  const [first = "", ...rest] = wholeLines(text);
  let head = parseHead(first);
  if (head === null) return null;
  const events = new Map<string, Event | Streaming>();
  let isComplete = false;
  for (const line of rest) {
    const parsed = parseLine(line);
    if (parsed === null) break;
    if ("journal" in parsed) head = parsed;
    else if ("complete" in parsed) isComplete = true;
    else apply(events, parsed);
  }
  return {
    head,
    events: [...events.values()].flatMap((entry) => ("partial" in entry ? ended(entry) : entry)),
    isComplete,
  };
}

/** Parses the first line of a journal that may go on after it; null when it is torn or no head. */
export function parseJournalHead(text: string): JournalHead | null {
  const end = text.indexOf("\n");
  return end < 0 ? null : parseHead(text.slice(0, end));
}

/** An event that streams. */
interface Streaming {
  readonly partial: ChatResponse;
  text: string;
}

function apply(events: Map<string, Event | Streaming>, line: Exclude<JournalLine, { readonly complete: true }>): void {
  if ("event" in line) events.set(line.event.id, line.event);
  else if ("open" in line) {
    if (!events.has(line.open.id)) events.set(line.open.id, { partial: line.open, text: textOfJournal(line.open) });
  } else {
    const entry = events.get(line.id);
    if (entry !== undefined && "partial" in entry) entry.text += line.delta;
  }
}

function ended({ partial, text }: Streaming): Event | [] {
  return text === "" ? [] : interruptedAt(partial, text);
}

/** An event with the text that came of it, marked as interrupted. */
export function interruptedAt(event: ChatResponse, text: string): ChatResponse {
  const { metadata, ...rest } = event;
  return {
    ...rest,
    ...(event.reasoning === undefined ? { message: text } : { reasoning: text }),
    metadata: { ...metadata, interrupted: true },
  };
}

function textOfJournal({ message, reasoning }: ChatResponse): string {
  const text = message ?? reasoning;
  return typeof text === "string" ? text : "";
}

/** The lines that have their end: the last one may be torn. */
function wholeLines(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

function parseHead(line: string): JournalHead | null {
  return parseJson(line, journalHead);
}

function parseLine(line: string): JournalHead | JournalLine | null {
  const value = parseObject(line);
  if (value === null) return null;
  if (value["journal"] !== undefined) return parseHead(line);
  if (value["complete"] === true) return { complete: true };
  if (typeof value["delta"] === "string" && typeof value["id"] === "string")
    return { delta: value["delta"], id: value["id"] };
  const event = parseEvent(value["event"] ?? value["open"]);
  if (event === null) return null;
  if (value["event"] !== undefined) return { event };
  return event.type === "chat_response" ? { open: event } : null;
}

function parseEvent(value: unknown): Event | null {
  try {
    return parseEventLine(JSON.stringify(value) ?? "", { file: "journal", line: 1 });
  } catch {
    return null; // written by another version, or damaged: what stands before it counts
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // torn
  }
}

// The journal of the turn that is being talked, one file in the store's git dir: what a model says is in it before anyone is
// shown it. The file is also the lock of its branch: it is created exclusively, and names the process that writes it.

/** An open journal. What writes throws `disk_full` or `journal_not_written`, from then on each time; what was written stays. */
export interface TurnJournal {
  readonly path: string;
  /** Begins an event whose text streams. */
  open(event: ChatResponse): void;
  /** Adds to the text of an event that was begun. */
  delta(id: string, text: string): void;
  /** Writes a whole event, in place of what was begun with its id; it is on its way to the disk then. */
  event(event: Event): void;
  /** Says of whom and where the turn is, anew. */
  head(head: JournalHead): void;
  /** Says that the turn is as it should be, and waits until everything is on the disk. */
  complete(): Promise<void>;
  /** Takes the journal away: the turn is committed, or is not to be kept. */
  remove(): Promise<void>;
  /** Leaves the journal to whoever opens the store next; resolves to where it is. */
  abandon(): Promise<string>;
}

const sync = promisify(fdatasync);

/** Opens the journal of a branch's turn. Throws `turn_open` when another process has one open, `disk_full`, `journal_not_written`. */
export async function openJournal(folder: string, head: JournalHead): Promise<TurnJournal> {
  const path = journalPath(folder, head.branch);
  try {
    makeFolders(folder);
  } catch (error) {
    throw notWritten(path, error);
  }
  const file = openExclusively(path);
  if (file === null) throw turnOpen(head.branch, path, (await readJournalHead(path))?.writer.pid);
  const lines = createLineWriter(path, file);
  try {
    lines.write(head);
    await syncFolders([folder]);
  } catch (error) {
    await lines.close();
    await removeJournal(path, null);
    throw error;
  }
  return {
    path,
    open: (event) => lines.write({ open: event }),
    delta: (id, text) => lines.write({ delta: text, id }),
    event: (event) => {
      lines.write({ event });
      lines.flush();
    },
    head: (anew) => lines.write(anew),
    complete: async () => {
      lines.write({ complete: true });
      lines.flush();
      await lines.settled();
    },
    remove: async () => {
      await lines.close();
      await removeJournal(path, head.start);
    },
    abandon: async () => {
      await lines.close();
      return abandonJournal(path, head.start);
    },
  };
}

interface LineWriter {
  write(line: JournalHead | JournalLine): void;
  /** Begins to bring what was written to the disk. */
  flush(): void;
  /** Resolves when it is there. Throws what went wrong with any line. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

function createLineWriter(path: string, file: number): LineWriter {
  let flushed: Promise<void> = Promise.resolve();
  let failure: JpgError | null = null;
  const check = (): void => {
    if (failure !== null) throw failure;
  };
  return {
    write: (line) => {
      check();
      try {
        writeAll(file, formatJournalLine(line));
      } catch (error) {
        failure = notWritten(path, error);
        throw failure;
      }
    },
    flush: () => {
      flushed = flushed
        .then(() => sync(file))
        .catch((error: unknown) => {
          failure ??= notWritten(path, error);
        });
    },
    settled: async () => {
      await flushed;
      check();
    },
    close: async () => {
      await flushed;
      closeSync(file);
    },
  };
}

function openExclusively(path: string): number | null {
  try {
    return openSync(path, "ax");
  } catch (error) {
    if (codeOf(error) === "EEXIST") return null;
    throw notWritten(path, error);
  }
}

/** A write may take only a part of the bytes when the disk is nearly full. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function notWritten(path: string, cause: unknown): JpgError {
  if (["ENOSPC", "EDQUOT"].includes(codeOf(cause))) {
    return repositoryError("disk_full", `The disk is full: the turn cannot be saved to ${path}.`, {
      hints: ["Free space; nothing that was shown is lost."],
      cause,
    });
  }
  const reason = reasonOf(cause);
  return repositoryError("journal_not_written", `The turn cannot be saved to ${path}: ${reason}.`, {
    hints: ["Make the store's folder writable and run the command again."],
    cause,
  });
}

function turnOpen(branch: string, path: string, pid: number | undefined): JpgError {
  const whose = pid === undefined ? "another jpg" : `another jpg (process ${pid})`;
  return userError("turn_open", `A turn of ${branch} is open: ${whose} is talking to a model there.`, {
    hints: [
      "Meanwhile, `jpg query --fork …` asks on a fork of it.",
      `If that process is not jpg: mv '${path}' '${path}${ABANDONED}'; the next jpg command then commits what has arrived of the turn.`,
    ],
    data: { branch, pid },
  });
}
