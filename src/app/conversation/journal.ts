// Finds, reads, replays and writes the journals of open turns in a store's git dir.
import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod/mini";
import type { ChatResponse, Event } from "../../core/conversation/event.ts";
import { parseEventLine } from "../../core/conversation/turn-file.ts";
import { codeOf, type JpgError, reasonOf, repositoryError, userError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { makeFolders, readOwnText, renameFile, syncFolders } from "../../store/files.ts";
import { isProcessGone, type ProcessMark, processMark } from "../../store/running-process.ts";
import { objectId, sha256 } from "./runtime.ts";
import { type ConversationHeader, conversationHeader } from "./tree.ts";

export interface FoundJournal {
  readonly path: string;
  /** Its writer has ended or abandoned it. */
  readonly isAbandoned: boolean;
}

const ENDING = ".jsonl";
/** In the names of abandoned journals. Existing stores hold such names, so it must not change. */
export const ABANDONED = ".left";
/** Longest encoded branch name, characters. File systems allow 255 bytes, and suffixes are added. */
const MAX_NAME = 180;
/** Bytes; more than the first line of a journal has. */
const HEAD_BYTES = 64 * 1024;
/** A journal without a whole head counts as abandoned after this time, milliseconds: until then its writer may be just starting. */
const NO_HEAD_MS = 10_000;

/** Returns the path of a branch's journal in the store's folder of journals. */
export function journalPath(folder: string, branch: string): string {
  const name = encodeURIComponent(branch);
  return join(folder, `${name.length > MAX_NAME ? sha256(branch) : name}${ENDING}`);
}

/** Returns whether a store has any journal, of an open turn or an interrupted one. */
export async function hasJournals(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0;
}

/** Lists a store's journals, the abandoned ones of a branch first. Costs one `readdir` where there are none. */
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

/** Returns whether a turn of a branch is in progress. */
export async function isTurnOpen(folder: string, branch: string, now: Date): Promise<boolean> {
  const path = journalPath(folder, branch);
  return (await listJournals(folder, now)).some((found) => found.path === path && !found.isAbandoned);
}

/** Replays a journal; null when it is gone or has no whole head. */
export async function readJournal(path: string): Promise<Replay | null> {
  return replayJournal(textOf(path) ?? "");
}

/** Reads the head of a journal; null when it is gone or has no whole head. */
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

/** Removes a journal if it still belongs to the turn that begins with `start`; null = a journal without a head. */
export async function removeJournal(path: string, start: string | null): Promise<void> {
  const aside = `${path}${ABANDONED}-${start ?? "headless"}`;
  if (!moveAside(path, aside)) return;
  if (((await readJournalHead(aside))?.start ?? null) === start) await rm(aside, { force: true });
  // Another process removed that journal and has begun another turn since: put its journal back.
  else renameFile(aside, path);
}

/** Marks a journal as abandoned by its writer; returns its new path. */
export async function abandonJournal(path: string, start: string): Promise<string> {
  const aside = `${path}${ABANDONED}-${start}`;
  // If even the rename fails, it counts as abandoned once this process has ended.
  return moveAside(path, aside) ? aside : path;
}

function moveAside(path: string, aside: string): boolean {
  try {
    renameFile(path, aside);
    return true;
  } catch {
    return false;
  }
}

async function isDead(path: string, now: Date): Promise<boolean> {
  const head = await readJournalHead(path);
  if (head === null) return (await ageOf(path, now)) > NO_HEAD_MS;
  return isProcessGone(head.writer, () => ageOf(path, now));
}

/** Returns the milliseconds since a file was written; -1 when it is gone. */
async function ageOf(path: string, now: Date): Promise<number> {
  const found = await lstat(path).catch(() => null);
  return found === null ? -1 : now.getTime() - found.mtimeMs;
}

// Lines of a journal and their replay. Each line is complete by itself, and an event's later lines replace or extend its earlier
// ones. So any prefix of a journal replays to a prefix of its events, and replaying twice changes nothing.

/** Written first, and again when it changes: all that is needed to commit the turn without its writer. The last one counts. */
export interface JournalHead {
  readonly journal: 1;
  readonly branch: string;
  /** 0-based. */
  readonly turn: number;
  /** Id of the turn's first event, by which a branch that already holds the turn is recognised. */
  readonly start: string;
  /** The commit on which it was begun; null = it begins a conversation. */
  readonly parent: string | null;
  /** Object id of the previous turn; null = none. */
  readonly prev: string | null;
  /** Header of a new conversation, for its root commit. */
  readonly root?: ConversationHeader;
  /** The process that writes it. */
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

/** Which text of its event streams. */
export type TextKind = "message" | "reasoning";

export type JournalLine =
  /** An event whose text streams, with its text so far. */
  | { readonly open: ChatResponse }
  /** More text of the event with that id. */
  | { readonly delta: string; readonly id: string }
  /** A whole event; replaces what was opened with its id, or its earlier form. */
  | { readonly event: Event }
  /** The turn is complete; without this line it was interrupted. */
  | { readonly complete: true };

/** The content of a journal. */
export interface Replay {
  readonly head: JournalHead;
  /** In the order begun. An unfinished text is marked `metadata.interrupted`; an empty one is left out. */
  readonly events: readonly Event[];
  readonly isComplete: boolean;
}

/** Formats a line of a journal, its line end included. */
export function formatJournalLine(line: JournalHead | JournalLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Replays a journal up to the first torn or invalid line. Null when not even its head is whole. */
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

/** Parses the first line of a journal; null when it is torn or no head. */
export function parseJournalHead(text: string): JournalHead | null {
  const end = text.indexOf("\n");
  return end < 0 ? null : parseHead(text.slice(0, end));
}

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

/** Returns an event with the text received so far, marked as interrupted. */
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

/** Returns the complete lines; the last one may be torn. */
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
    return null; // from another version, or damaged: the lines before it count
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

// Writes the journal of an open turn, one file in the store's git dir. What a model says is written to it before anyone is shown
// it. The file is also the lock of its branch: it is created exclusively and names the process that writes it.

/**
 * An open journal. Once a write fails with `disk_full` or `journal_not_written`, all later ones throw the same; what was written
 * stays.
 */
export interface TurnJournal {
  readonly path: string;
  /** Begins an event whose text streams. */
  open(event: ChatResponse): void;
  /** Appends to the text of an opened event. */
  delta(id: string, text: string): void;
  /** Writes a whole event, replacing what was opened with its id, and starts to sync it to disk. */
  event(event: Event): void;
  /** Writes a new head. */
  head(head: JournalHead): void;
  /** Marks the turn as complete, and waits until everything is on disk. */
  complete(): Promise<void>;
  /** Removes the journal: the turn is committed, or will not be kept. */
  remove(): Promise<void>;
  /** Leaves the journal for the next command that opens the store; resolves to its path. */
  abandon(): Promise<string>;
}

const sync = promisify(fdatasync);

/** Opens the journal of a branch's turn. Throws `turn_open` if another process has it open, `disk_full`, `journal_not_written`. */
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
  /** Starts to sync what was written. */
  flush(): void;
  /** Resolves when it is on disk. Throws the first error of any line. */
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

/** Loops, because a write may take only some of the bytes when the disk is nearly full. */
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
