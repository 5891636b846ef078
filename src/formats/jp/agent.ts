// Recognises and reads conversations of jp (Jean-Pierre).
import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import type { AgentFormat } from "../agent-format.ts";
import {
  deriveName,
  type ExportOrigin,
  type ImportedSession,
  readExportOrigin,
  type SettingsChange,
  sessionUuid,
  toUsableId,
} from "../imported-session.ts";
import { isRecord, parseJsonLine, recordOf, type SessionSource, stringOf } from "../session-source.ts";
import { readOverlays, settingsOfDelta } from "./compactions.ts";
import { cutStream, readStreamTurn, type StreamTurn, timeOfTurn } from "./events.ts";
import {
  beginsAsList,
  decodeRepaired,
  decodeStoredLine,
  decodeStoredText,
  idOfName,
  isKnownType,
  isTalk,
  parseStream,
  readStoredTime,
  type Stream,
} from "./stream.ts";
import { writeJpSession } from "./write.ts";

// Imports a conversation of jp: its stream, `events.json`. A pure function of the file's text. The file does not name the
// conversation (its folder does), so the id derives from its beginning; this also recognises jp's forks.

/** Version of this importer: raise it when the same bytes would give other events or records. */
const JP_IMPORTER = 2;

/** Title of a conversation without a request. */
const UNTITLED = "untitled conversation";
/** Entries searched: all entries of a stream have a type and a time. */
const LOOKED_AT = 20;
/** How a truncated stream begins: with an entry of jp's. */
const BEGINNING = /^\s*\[\s*\{\s*"(?:type|timestamp)"\s*:\s*"/;
const KNOWN_ENTRY = /"type"\s*:\s*"(?:turn_start|chat_request|config_delta|jpg-origin)"/;
/** Length searched for it, characters. */
const BEGINNING_LENGTH = 4096;

/** Recognises a stream of jp, even a damaged one. Never throws. */
function isJpStream(source: SessionSource): boolean {
  if (!beginsAsList(source)) return false;
  const stream = parseStream(source);
  if (typeof stream === "string") {
    const beginning = source.text().slice(0, BEGINNING_LENGTH);
    return BEGINNING.test(beginning.replace(/^\uFEFF/, "")) && KNOWN_ENTRY.test(beginning);
  }
  if (stream.origin !== null) return true;
  const first = stream.entries.slice(0, LOOKED_AT);
  const areEntries = first.every(({ raw }) => typeof raw["type"] === "string" && isDated(raw["timestamp"]));
  return areEntries && first.some(({ raw }) => isKnownType(raw["type"]) || isJpTime(raw["timestamp"]));
}

function jpSessionId(source: SessionSource): string | null {
  const stream = parseStream(source);
  return typeof stream === "string" ? null : idOfStream(stream);
}

/** Reads which conversation jpg exported it from; null for jp's own. */
function readJpOrigin(source: SessionSource): ExportOrigin | null {
  const stream = parseStream(source);
  return typeof stream === "string" ? null : readExportOrigin(stream.origin);
}

/**
 * Reads a conversation; `about` = the text of the file next to it, in which jp keeps its title. Lists damaged entries in
 * `skippedLines`. Throws `not_a_session`.
 */
export function readJpSession(source: SessionSource, about: string | null = null): ImportedSession {
  const stream = parseStream(source);
  if (typeof stream === "string") throw notASession(stream);
  const turns = cutStream(stream.entries);
  const overlays = readOverlays({ origin: stream.origin, turns });
  const origin = readExportOrigin(stream.origin);
  const decode = stream.origin === null ? decodeRepaired : decodeStoredText;
  const ids = new Set(stream.entries.map(({ id }) => id));
  return {
    format: "jp",
    importer: JP_IMPORTER,
    sessionId: idOfStream(stream),
    title: firstTitle(turns),
    titles: readTitles(about, createdAt(stream, turns)),
    settings: listSettings(turns),
    createdAt: createdAt(stream, turns),
    turnCount: turns.length,
    readTurn: (index) => (turns[index] === undefined ? [] : readStreamTurn(turns[index], decode)),
    turnLine: () => 0,
    turnTime: (index) => (turns[index] === undefined ? createdAt(stream, turns) : timeOfTurn(turns[index])),
    hasLine: (id) => ids.has(id),
    compactions: overlays.compactions,
    exportedCompactions: overlays.exported,
    compactionTurns: overlays.turns,
    abandoned: [],
    skippedLines: [...stream.skipped, ...overlays.ineffective].sort((a, b) => a.line - b.line),
    ...(origin !== null && { origin }),
  };
}

function notASession(reason: string): Error {
  return userError(
    "not_a_session",
    `The file is not a conversation of jp: expected a JSON list of entries with a type; ${reason}.`,
    { hints: ["jp keeps conversations in .jp/conversations/<id>/events.json."] },
  );
}

/** The id that jpg gave it, else one derived from its first entry that is said and its first request. */
function idOfStream({ entries, origin }: Stream): string {
  const given = origin === null ? undefined : stringOf(origin, "sessionId");
  if (given !== undefined) return toUsableId(given);
  const first = entries.find(({ kind }) => isTalk(kind)) ?? entries[0];
  const request = entries.find(({ kind }) => kind === "chat_request");
  return deriveName(JSON.stringify([first?.timestamp, request?.timestamp, request?.raw["content"]]));
}

function createdAt({ entries }: Stream, turns: readonly StreamTurn[]): string {
  const [first] = turns;
  return (first === undefined ? entries[0]?.timestamp : timeOfTurn(first)) ?? "";
}

/** The title has no time: it is dated at the beginning, so that it never replaces a later one. */
function readTitles(about: string | null, timestamp: string): ImportedSession["titles"] {
  const metadata = about === null ? null : parseJsonLine(about);
  const title = isRecord(metadata) ? shownTitle(stringOf(metadata, "title") ?? "") : "";
  return title === "" ? [] : [{ timestamp, title, id: `title-${deriveName(title)}` }];
}

function firstTitle(turns: readonly StreamTurn[]): string {
  for (const turn of turns) {
    for (const event of readStreamTurn(turn, (text) => text)) {
      const title = isUserRequest(event) ? titleOfRequest(wordsOfContent(event.content)) : "";
      if (title !== "") return title;
    }
  }
  return UNTITLED;
}

/** Settings changes, each from its own turn on. */
function listSettings(turns: readonly StreamTurn[]): readonly SettingsChange[] {
  return turns.flatMap(({ entries }, turn) =>
    entries.flatMap(({ kind, raw, timestamp, id }): SettingsChange[] => {
      const delta = kind === "config_delta" ? settingsOfDelta(recordOf(raw, "delta") ?? {}) : null;
      return delta === null ? [] : [{ turn, timestamp, id, delta }];
    }),
  );
}

function isDated(value: unknown): boolean {
  return readStoredTime(value) !== undefined;
}

/** Only jp writes a blank between date and time. */
function isJpTime(value: unknown): boolean {
  return typeof value === "string" && value[10] === " " && isDated(value);
}

/** A conversation's file; its folder has the conversation's name. */
const STREAM = "events.json";

export const JP: AgentFormat = {
  name: "jp",
  agent: { name: "jp", email: "jp@jpg.invalid" },
  importer: JP_IMPORTER,
  files: {
    endings: [STREAM],
    document: () => "json",
    about: (fileName) => (fileName === STREAM ? "metadata.json" : null),
    folders: ({ join }, directory) => [{ path: join(directory, ".jp", "conversations"), levels: 1, directory }],
  },
  detect: isJpStream,
  sessionId: jpSessionId,
  origin: readJpOrigin,
  read: readJpSession,
  plainLine: decodeStoredLine,
  write: {
    sessionId: sessionUuid,
    lineId: (_, name) => idOfName(name),
    write: writeJpSession,
    takesHistory: true,
  },
  help: {
    place: "jp keeps its conversations under .jp/conversations in the project.",
    file: ".jp/conversations/17671120783/events.json",
    reads:
      "The stream of a conversation (`events.json`), with texts in either alphabet of base64 and times in either form. Its compactions become compactions, its settings for them (profiles, hints for tools) become settings of the conversation, and a fork that jp made becomes a fork.",
    lost: [
      "From the file next to the stream only the title is imported, as it is at the first import: pin and labels stay there, and the settings that the conversation began with stay in their own file.",
      "An export keeps turns as they were said, under compactions of jp; where jp cannot express what a compaction does, its turns are written as the view shows them. Images and documents are only named.",
      "You have to name conversations that jp keeps for you alone, outside the project. jpg does not write into jp's folders, so it cannot resume there.",
    ],
    takes: { file: "events.json", by: "the events of a conversation of jp" },
  },
};
