// OpenCode's database, read through its own program, without plug-ins: a project's plug-ins are programs of whoever made the
// project.
import type { AgentStore, Machine, SessionDirectory, SessionFolder, StoredSession } from "../agent-format.ts";
import { type SkippedLine, toUsableId } from "../imported-session.ts";
import {
  type FolderReader,
  isRecord,
  parseJsonDocument,
  parseJsonLine,
  type RawLine,
  recordOf,
  type ScatteredFile,
  type SessionSource,
  stringOf,
} from "../session-source.ts";

/** A part may be newer than its session: the agent does not always update the session's own time. */
const QUERY =
  "select id, directory, max(time_updated, coalesce((select max(time_updated) from part where session_id = session.id), 0)) as changed from session";
/** Default file name. */
const DATABASE = "opencode.db";
const ID = /^ses_[A-Za-z0-9_]{1,100}$/;

export const OPENCODE_STORE: AgentStore = {
  files: databaseFiles,
  ending: ".json",
  list: ["opencode", "--pure", "db", "--format", "json", QUERY],
  readList,
  print: (session) => ["opencode", "--pure", "export", session],
};

/** The data folder of all programs, jpg's and OpenCode's too. */
export function dataFolder({ env, home, join }: Machine): string {
  const configured = env["XDG_DATA_HOME"];
  return configured !== undefined && isAbsolute(configured) ? configured : join(home, ".local", "share");
}

/** Changes stay in the write-ahead log until SQLite checkpoints it, which also happens without a change. */
function databaseFiles(machine: Machine): readonly string[] {
  const named = machine.env["OPENCODE_DB"];
  const folder = machine.join(dataFolder(machine), "opencode");
  const file =
    named === undefined || named === ""
      ? machine.join(folder, DATABASE)
      : isAbsolute(named)
        ? named
        : machine.join(folder, named);
  return [`${file}-wal`, file];
}

function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path);
}

function readList(printed: string): readonly StoredSession[] | null {
  const rows = parseRows(printed.trim() === "" ? "[]" : printed);
  return (
    rows?.filter(isRecord).flatMap((row): readonly StoredSession[] => {
      const [id, directory, changed] = [stringOf(row, "id"), stringOf(row, "directory"), row["changed"]];
      if (id === undefined || directory === undefined || typeof changed !== "number") return [];
      return ID.test(id) && Number.isFinite(changed) ? [{ id, directory, changed: Math.floor(changed) }] : [];
    }) ?? null
  );
}

function parseRows(text: string): readonly unknown[] | null {
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? rows : null;
  } catch {
    return null; // the program says what went wrong in words
  }
}

/** Prefix of session files; files of a session's changes have the same name elsewhere. */
export function isSessionFile(fileName: string, folder: string): boolean {
  return fileName.startsWith("ses_") && !/[\\/]session_diff$/.test(folder);
}

/** Where versions before 1.2 kept sessions. Later ones import these into their database and write no more files. */
export function olderFolders(machine: Machine): readonly SessionFolder[] {
  const folder = machine.join(dataFolder(machine), "opencode");
  if ((machine.env["OPENCODE_DB"] ?? "") !== "" || machine.namesIn(folder).includes(DATABASE)) return [];
  return [{ path: machine.join(folder, "storage", "session"), levels: 1 }];
}

/** The directory of a session of an older version, from its description. */
export function openCodeDirectory(beginning: SessionSource): SessionDirectory | null {
  const description = parseJsonDocument(beginning);
  const path = isRecord(description) ? stringOf(description, "directory") : undefined;
  return path === undefined ? null : { path };
}

// A session as `opencode export` prints it and `opencode import` takes it: one JSON document with the session's description and its
// messages, each with its parts. Values are read by type only.

/** A message of the document. */
export interface RawMessage {
  /** Position in the document, 1-based. */
  readonly position: number;
  readonly role: "user" | "assistant";
  readonly info: RawLine;
  /** In the order in which the agent sends them. */
  readonly parts: readonly RawLine[];
}

export interface SessionDocument {
  readonly sessionId: string;
  readonly info: RawLine;
  /** In the order in which the agent sends them. */
  readonly messages: readonly RawMessage[];
  /** Damaged messages and parts, by the message's position. */
  readonly skipped: readonly SkippedLine[];
}

const parsed = new WeakMap<SessionSource, SessionDocument | null>();

/** Parses a file once; null when it is no such document. Never throws. */
export function parseDocument(source: SessionSource): SessionDocument | null {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const value = parseJsonDocument(source);
  const document = isRecord(value) ? readDocument(value) : null;
  parsed.set(source, document);
  return document;
}

function readDocument({ info, messages, unread }: RawLine): SessionDocument | null {
  if (!isRecord(info) || !Array.isArray(messages)) return null;
  const id = stringOf(info, "id");
  if (id === undefined || id === "") return null;
  const skipped: SkippedLine[] = [];
  const found = messages.flatMap((message: unknown, at) => {
    const read = readMessage(message, at + 1, skipped);
    if (typeof read !== "string") return [read];
    skipped.push({ line: at + 1, reason: read });
    return [];
  });
  for (const file of Array.isArray(unread) ? unread.filter(isRecord) : [])
    skipped.push({ line: 1, reason: `${stringOf(file, "path") ?? "a file of it"} is not a JSON object` });
  return { sessionId: toUsableId(id), info, messages: inOrder(found), skipped };
}

/** Reads a message; a string says why it is none. */
function readMessage(message: unknown, position: number, skipped: SkippedLine[]): RawMessage | string {
  if (!isRecord(message)) return "not an object";
  const info = recordOf(message, "info");
  if (info === undefined) return "no `info`";
  const role = stringOf(info, "role");
  if (role !== "user" && role !== "assistant") return `a message of role ${JSON.stringify(role ?? null)}`;
  const listed = message["parts"];
  if (!Array.isArray(listed)) return "no `parts`";
  const parts = listed.filter((part): part is RawLine => isRecord(part) && typeof part["type"] === "string");
  if (parts.length < listed.length) skipped.push({ line: position, reason: "a part without `type`" });
  return { position, role, info, parts: orderedBy(parts, "prt", (part) => part) };
}

/** When a message was made, milliseconds since 1970; absent if unknown. */
export function createdAt({ info }: RawMessage): number | undefined {
  return timeOf(recordOf(info, "time")?.["created"]);
}

/** Last millisecond of the year 9999. */
const LATEST = 253_402_300_799_999;

/** Reads milliseconds since 1970; absent for any other value. */
export function timeOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= LATEST ? Math.floor(value) : undefined;
}

/** Sorts by time, then by id, as the agent sends them; a message without a time stays after the previous one. */
function inOrder(messages: readonly RawMessage[]): readonly RawMessage[] {
  let last = 0;
  const timed = messages.map((message) => {
    last = createdAt(message) ?? last;
    return { message, time: last };
  });
  return timed
    .sort((a, b) => a.time - b.time || compareIds(a.message.info, b.message.info, "msg"))
    .map(({ message }) => message);
}

/** Sorts parts by id if all have the agent's own ids, which rise; else keeps their order. */
function orderedBy<Item>(items: readonly Item[], prefix: string, fieldsOf: (item: Item) => RawLine): readonly Item[] {
  if (!items.every((item) => stringOf(fieldsOf(item), "id")?.startsWith(prefix) === true)) return items;
  return [...items].sort((a, b) => compareIds(fieldsOf(a), fieldsOf(b), prefix));
}

function compareIds(a: RawLine, b: RawLine, prefix: string): number {
  const [x = "", y = ""] = [stringOf(a, "id"), stringOf(b, "id")];
  if (x === y || !x.startsWith(prefix) || !y.startsWith(prefix)) return 0;
  return x < y ? -1 : 1;
}

// A session as OpenCode before 1.2 kept it: a small file for its description, one for each message, one for each part. They are
// joined to the document that `opencode export` prints, each file's text unchanged, so that no other code needs to know of them.

interface Places {
  readonly messages: string;
  readonly parts: (message: string) => string;
}

const DESCRIPTION = /^(.*[\\/]storage)[\\/]session[\\/]([^\\/]+)[\\/](ses_[^\\/]+)\.json$/;
const JSON_NAME = /^(.+)\.json$/;

/** Lists the files of a session: its description, then each message followed by its parts. Null for any other path. */
export function listScattered({ join, namesIn }: FolderReader, path: string): string[] | null {
  const places = placesOf(join, path);
  if (places === null) return null;
  const messages = jsonNames(namesIn, places.messages);
  return [
    path,
    ...messages.flatMap((message) => {
      const folder = places.parts(message);
      return [
        join(places.messages, `${message}.json`),
        ...jsonNames(namesIn, folder).map((part) => join(folder, `${part}.json`)),
      ];
    }),
  ];
}

/** Older versions had a folder per project, with the messages' and parts' folders in it. */
function placesOf(join: FolderReader["join"], path: string): Places | null {
  const [, storage = "", project = "", session = ""] = DESCRIPTION.exec(path) ?? [];
  if (session === "") return null;
  if (project !== "info")
    return { messages: join(storage, "message", session), parts: (message) => join(storage, "part", message) };
  const folder = join(storage, "session");
  return {
    messages: join(folder, "message", session),
    parts: (message) => join(folder, "part", session, message),
  };
}

function jsonNames(namesIn: FolderReader["namesIn"], folder: string): readonly string[] {
  return namesIn(folder).flatMap((name) => JSON_NAME.exec(name)?.[1] ?? []);
}

/** Joins them in listed order. Files that are no JSON go to the end, as text; missing ones are dropped. */
export function joinScattered([description, ...others]: readonly ScatteredFile[]): string {
  const whole = withoutByteOrderMark(description?.text ?? "");
  const value = parseJsonLine(whole);
  // An exported document in such a place is no description.
  if (!isRecord(value) || Array.isArray(value["messages"])) return whole;
  const unread: ScatteredFile[] = [];
  const messages: { info: string; readonly parts: string[] }[] = [];
  for (const file of others) {
    const isMessage = MESSAGE.test(file.path);
    if (isMessage) messages.push({ info: "null", parts: [] });
    const message = messages.at(-1);
    if (file.text === null || message === undefined) continue;
    if (!isRecord(parseJsonLine(file.text))) unread.push(file);
    else if (isMessage) message.info = withoutByteOrderMark(file.text);
    else message.parts.push(withoutByteOrderMark(file.text));
  }
  const written = messages.map(({ info, parts }) => `{"info":${info},"parts":[${parts.join(",")}]}`);
  const rest = unread.length === 0 ? "" : `,"unread":${JSON.stringify(unread)}`;
  return `{"info":${whole},"messages":[${written.join(",\n")}]${rest}}\n`;
}

/** A file in a session's folder below `message`. */
const MESSAGE = /(?:^|\/)message\/[^/]+\/[^/]+$/;

/** A byte order mark is only allowed before a text. */
function withoutByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}
