// Sessions as a format plug-in gives and takes them: one JSON line that describes the session, then the events of docs/FORMAT.md,
// one a line (docs/formats/plug-ins.md). What a plug-in prints is a stranger's: each line is checked before it is used.
import { type Event, fieldsOf, isUserRequest, wordsOfContent } from "../core/conversation/event.ts";
import { GIVEN_KINDS, isGivenKind, readGivenEvent } from "../core/conversation/given-event.ts";
import { titleOfRequest } from "../core/conversation/marks.ts";
import { formatEventLine } from "../core/conversation/turn-file.ts";
import { asSentence, userError } from "../core/errors.ts";
import type { AgentFormat, SessionDraft, SessionWriter } from "./agent-format.ts";
import {
  createOriginLine,
  type ExportOrigin,
  type ImportedSession,
  lineName,
  lineUuid,
  readExportOrigin,
  type SkippedLine,
  sessionUuid,
  toUsableId,
} from "./imported-session.ts";
import { NO_DATE, parseJsonLine, type RawLine, readTimestamp, type SessionSource, stringOf } from "./session-source.ts";

/** Version of the lines, in the first of them; a reader refuses a newer one. */
export const PLUGIN_PROTOCOL = 1;

/** What a plug-in made of a session. */
export interface PluginReading {
  readonly session: ImportedSession;
  /** Shown name of the program whose sessions these are. */
  readonly agent: string;
}

/** Checks the lines of a plug-in as they come. */
export interface PluginReader {
  /** Takes the next line. Throws `bad_plugin_output`. */
  take(line: string): void;
  /** Gives the session. Throws `bad_plugin_output` if a line is missing, or the order is wrong. */
  end(): PluginReading;
}

/** Types of the lines that are no events. */
const HEADER = "session";
const SKIPPED = "skipped";

const EVENT_ID = /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,199}$/;
const AGENT_NAME = /^[\p{L}\p{N}][\p{L}\p{N} .+()-]{0,59}$/u;
/** Longest reason of a skipped line, and longest directory, characters. */
const LONGEST_REASON = 200;
const LONGEST_PATH = 4096;
/** Characters of a wrong value that an error shows. */
const LONGEST_FOUND = 40;
/** Version of this reader: raise it when the same lines would give other events. */
const IMPORTER = 1;

interface Header {
  readonly sessionId: string;
  readonly agent: string;
  readonly title?: string;
  readonly createdAt?: string;
  readonly cwd?: string;
  readonly origin?: ExportOrigin;
}

/** Creates the reader of one session; `plugin` = the plug-in's name, which is the name of the format. */
export function createPluginReader(plugin: string): PluginReader {
  let count = 0;
  let header: Header | null = null;
  const events: Event[] = [];
  const skipped: SkippedLine[] = [];
  const ids = new Set<string>();
  const take = (text: string): void => {
    count++;
    const line = parseJsonLine(text);
    if (line === null) return;
    if (typeof line === "string") throw badLine(plugin, count, line);
    if (header === null) {
      header = readHeader(line, (problem) => badLine(plugin, count, problem));
      return;
    }
    const problem = line["type"] === SKIPPED ? addSkipped(line, skipped) : addEvent(line, { events, ids });
    if (problem !== null) throw badLine(plugin, count, problem);
  };
  return {
    take,
    end() {
      if (header === null) throw badOutput(plugin, "it printed no line: the first one describes the session");
      const early = earlyResult(events);
      if (early !== null) throw badOutput(plugin, `the result ${early} comes before its call`);
      return { session: createSession(plugin, { header, events, skipped }), agent: header.agent };
    },
  };
}

function badLine(plugin: string, line: number, problem: string): Error {
  return badOutput(plugin, `line ${line}: ${problem}`);
}

function badOutput(plugin: string, problem: string): Error {
  return userError("bad_plugin_output", asSentence(`What jpg-format-${plugin} printed cannot be read: ${problem}`), {
    hints: [
      "Nothing was written. docs/formats/plug-ins.md says what a format plug-in prints.",
      `\`jpg check --format-plugin ${plugin} FILE\` checks all of it.`,
    ],
  });
}

function readHeader(line: RawLine, bad: (problem: string) => Error): Header {
  const problem = problemOfHeader(line);
  if (problem !== null) throw bad(problem);
  const origin = readExportOrigin(line["origin"]);
  return {
    sessionId: toUsableId(stringOf(line, "id") ?? ""),
    agent: stringOf(line, "agent") ?? "",
    title: stringOf(line, "title"),
    createdAt: readTimestamp(line["created_at"]),
    cwd: stringOf(line, "cwd"),
    ...(origin !== null && { origin }),
  };
}

/** What a field of the first line must be, and the words for it. */
const HEADER_FIELDS: readonly (readonly [name: string, expected: string, accepts: (value: unknown) => boolean])[] = [
  ["type", `"${HEADER}" in the first line`, (value) => value === HEADER],
  ["protocol", String(PLUGIN_PROTOCOL), (value) => value === PLUGIN_PROTOCOL],
  ["id", "the id of the session", (value) => typeof value === "string" && value !== ""],
  [
    "agent",
    "a name of up to 60 letters, digits, blanks and . + - ( )",
    (value) => value === undefined || (typeof value === "string" && AGENT_NAME.test(value)),
  ],
  ["title", "a text", (value) => value === undefined || typeof value === "string"],
  ["created_at", "an RFC 3339 time", (value) => value === undefined || readTimestamp(value) !== undefined],
  ["cwd", "a path", (value) => value === undefined || (typeof value === "string" && value.length <= LONGEST_PATH)],
  ["origin", "what jpg gave, or nothing", (value) => value === undefined || readExportOrigin(value) !== null],
];

function problemOfHeader(line: RawLine): string | null {
  const wrong = HEADER_FIELDS.find(([name, , accepts]) => !accepts(line[name]));
  if (wrong === undefined) return null;
  const [name, expected] = wrong;
  const found = JSON.stringify(line[name])?.slice(0, LONGEST_FOUND) ?? "nothing";
  return `"${name}": expected ${expected}, found ${found}`;
}

/** Adds a line that the plug-in could not read; returns what is wrong with it, or null. */
function addSkipped({ line, reason }: RawLine, skipped: SkippedLine[]): string | null {
  if (!Number.isSafeInteger(line) || Number(line) < 1) return `"line" is no line number`;
  if (typeof reason !== "string" || reason.trim() === "") return `"reason" is missing`;
  skipped.push({ line: Number(line), reason: reason.slice(0, LONGEST_REASON) });
  return null;
}

/** Adds an event, as its stored line is read again; returns what is wrong with it, or null. */
function addEvent(
  given: RawLine,
  { events, ids }: { readonly events: Event[]; readonly ids: Set<string> },
): string | null {
  const { type, id, timestamp } = given;
  if (typeof type !== "string" || !isGivenKind(type)) return `"type" is none of ${GIVEN_KINDS.join(", ")}`;
  if (typeof id !== "string" || !EVENT_ID.test(id)) return `"id" is no id: expected up to 200 of A-Z a-z 0-9 . _ : -`;
  if (ids.has(id)) return `the id ${id} was there before`;
  const time = timestamp === undefined ? (events.at(-1)?.timestamp ?? NO_DATE) : readTimestamp(timestamp);
  if (time === undefined) return `"timestamp" is no RFC 3339 time`;
  const event = readGivenEvent({ ...given, timestamp: time });
  if (typeof event === "string") return event;
  ids.add(id);
  events.push(event);
  return null;
}

/** The id of a result that comes before its call; a result of a call that is nowhere is kept. */
function earlyResult(events: readonly Event[]): string | null {
  const waiting = new Map<string, string>();
  const called = new Set<string>();
  for (const event of events) {
    if (event.type === "tool_call_request") {
      const early = waiting.get(event.call_id);
      if (early !== undefined) return early;
      called.add(event.call_id);
    } else if (event.type === "tool_call_response" && !called.has(event.call_id)) {
      waiting.set(event.call_id, event.id);
    }
  }
  return null;
}

interface Parts {
  readonly header: Header;
  readonly events: readonly Event[];
  readonly skipped: readonly SkippedLine[];
}

function createSession(format: string, { header, events, skipped }: Parts): ImportedSession {
  const turns = splitTurns(events);
  const lines = new Set(events.map(({ id }) => id.replace(/\..*$/, "")));
  const asked = events.find(isUserRequest);
  const timeOf = (turn: number): string => turns[turn]?.[0]?.timestamp ?? NO_DATE;
  const title = titleOfRequest(header.title ?? (asked === undefined ? "" : wordsOfContent(asked.content)));
  return {
    format,
    importer: IMPORTER,
    sessionId: header.sessionId,
    title: title === "" ? "untitled session" : title,
    titles: [],
    createdAt: header.createdAt ?? timeOf(0),
    ...(header.cwd !== undefined && { cwd: header.cwd }),
    turnCount: turns.length,
    readTurn: (turn) => withStart(turns[turn] ?? []),
    turnLine: () => 0,
    turnTime: timeOf,
    hasLine: (id) => lines.has(id),
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: skipped,
    ...(header.origin !== undefined && { origin: header.origin }),
  };
}

/** Each request of a person opens a turn, unless it was typed while the agent worked; what comes before the first is in its turn. */
function splitTurns(events: readonly Event[]): readonly (readonly Event[])[] {
  const turns: Event[][] = [];
  let hasBegun = false;
  for (const event of events) {
    const isRequest = isUserRequest(event) && event.metadata?.origin !== "queued";
    const open = turns.at(-1);
    if (open === undefined || (isRequest && hasBegun)) turns.push([event]);
    else open.push(event);
    hasBegun ||= isRequest || (event.type !== "note" && event.type !== "chat_request");
  }
  return turns;
}

function withStart(events: readonly Event[]): readonly Event[] {
  const [first] = events;
  return first === undefined
    ? []
    : [{ type: "turn_start", id: `${first.id}.turn`, timestamp: first.timestamp }, ...events];
}

/** The format of sessions that a plug-in reads and writes; what it writes are the lines that the plug-in is given. */
export function pluginWriter(plugin: string): AgentFormat & { readonly write: SessionWriter } {
  return {
    name: plugin,
    agent: { name: plugin, email: `${plugin}@jpg.invalid` },
    importer: IMPORTER,
    files: { endings: [], document: () => DOCUMENT },
    detect: () => false,
    sessionId: () => null,
    origin: () => null,
    read: () => NOTHING_READ,
    write: { sessionId: sessionUuid, lineId: lineUuid, write: renderPluginLines },
    help: { place: "", file: "", reads: "", lost: [] },
  };
}

/** The ending of a stored session: the same whatever its file is called. */
const DOCUMENT = "session";

/** What is said of a text that no plug-in has read: nothing. */
const NOTHING_READ: ImportedSession = createSession("", {
  header: { sessionId: "none", agent: "" },
  events: [],
  skipped: [],
});

/**
 * The format of one session that a plug-in has read. Of other texts, such as an earlier state of it, it knows nothing: the plug-in
 * is not asked again.
 */
export function pluginFormat({ session, agent }: PluginReading, read: SessionSource): AgentFormat {
  const writer = pluginWriter(session.format);
  return {
    ...writer,
    agent: { ...writer.agent, name: agent === "" ? writer.agent.name : agent },
    sessionId: () => session.sessionId,
    origin: () => session.origin ?? null,
    read: (source) => (source === read ? session : NOTHING_READ),
  };
}

/**
 * Renders the lines that a plug-in writes a session from. Each event has the id by which jpg knows it again when the session comes
 * back.
 */
export function renderPluginLines({ view, sessionId, origin, title, cwd, model, sha1 }: SessionDraft): string {
  const header = { type: HEADER, protocol: PLUGIN_PROTOCOL, id: sessionId, title, cwd, model };
  const lines = [JSON.stringify({ ...header, origin: createOriginLine(origin, sessionId) })];
  const counts = new Map<string, number>();
  for (const turn of view.turns) {
    for (const event of turn.events) {
      if (event.type === "turn_start" || !isGivenKind(event.type)) continue;
      const source = turn.origin.kind === "summary" ? turn.origin.compaction : event.id;
      const count = counts.get(source) ?? 0;
      counts.set(source, count + 1);
      const id = lineUuid(sessionId, lineName(source, count), sha1);
      lines.push(formatEventLine({ ...fieldsOf(event), id } as unknown as Event));
    }
  }
  return lines.map((line) => `${line}\n`).join("");
}
