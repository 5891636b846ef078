// Recognises and reads sessions of Copilot CLI.
import { type Event, type EventMetadata, isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { type AgentFormat, findVersion, type Machine, type SessionDirectory } from "../agent-format.ts";
import { type ImportedSession, plainValues, toUsableId } from "../imported-session.ts";
import { readArguments } from "../openai-chat/content.ts";
import {
  createParsedLines,
  isRecord,
  type ParsedLines,
  type RawLine,
  recordOf,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import {
  type CopilotEntry,
  type CopilotIndex,
  type CopilotTurn,
  dataOf,
  indexCopilotLines,
  isCopilotLine,
  parseCopilotLine,
  sessionStartedBy,
} from "./lines.ts";

// Imports a session of Copilot CLI: indexes its lines and cuts them into turns that are read on demand. Its truncations become
// notes, because it records only counts, not what was dropped. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events. */
const COPILOT_IMPORTER = 2;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";
/** Lines searched to recognise a file; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

/** Whether the first lines look like a session of Copilot CLI. */
export function isCopilotSession(source: SessionSource): boolean {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = parseCopilotLine(source.line(at));
    if (line !== null && typeof line !== "string" && isCopilotLine(line)) return true;
  }
  return false;
}

/** Reads the first session id in a file; null when there is none. */
export function copilotSessionId(source: SessionSource): string | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseCopilotLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionStartedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

/** Reads a session; lists bad lines in `skippedLines`. Throws `not_a_session` when no line is Copilot CLI's. */
export function readCopilotSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseCopilotLine);
  const index = indexCopilotLines(lines, source.lineCount);
  if (!index.isCopilot) throw notASession(index);
  const { turns, sessionId, createdAt, cwd, ids, skipped } = index;
  return {
    format: "copilot-cli",
    importer: COPILOT_IMPORTER,
    sessionId,
    title: firstTitle(lines, turns) ?? UNTITLED,
    titles: [],
    createdAt,
    cwd,
    turnCount: turns.length,
    readTurn: (turn) => readCopilotTurn(lines, turns[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.opener.line ?? source.lineCount)),
    hasLine: (id) => ids.has(id),
    turnTime: (turn) => turns[turn]?.opener.timestamp ?? createdAt,
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: skipped,
  };
}

function firstTitle(lines: ParsedLines, turns: readonly CopilotTurn[]): string | undefined {
  for (const { entries } of turns) {
    for (const entry of entries) {
      const words = readPrompt(lines, entry);
      const title = titleOfRequest(words);
      if (title !== "") return title;
    }
  }
  return undefined;
}

function readPrompt(lines: ParsedLines, entry: CopilotTurn["opener"]): string {
  if (entry.kind !== "prompt") return "";
  const request = readCopilotLine(lines, entry).find(isUserRequest);
  return request === undefined ? "" : wordsOfContent(request.content);
}

function notASession({ skipped }: CopilotIndex): Error {
  const first = skipped[0];
  const found = first === undefined ? "no line of one was found" : `line ${first.line} is ${first.reason}`;
  return userError(
    "not_a_session",
    `The file is not a session of Copilot CLI: expected JSON lines with \`type\`, \`data\` and \`parentId\`, ${found}.`,
    { hints: ["Copilot CLI keeps sessions in ~/.copilot/session-state/<session>/events.jsonl."] },
  );
}

// Second pass: converts a line to its events. The same line always gives the same events.

/** Provider of the reasoning, which only this service can read, whichever company's model wrote it. */
const PROVIDER = "github-copilot";

/** An event without id and time. */
type EventBody = Readonly<Record<string, unknown>> & { readonly type: string };

/** Reads a turn, turn_start first. */
function readCopilotTurn(lines: ParsedLines, turn: CopilotTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { id, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readCopilotLine(lines, entry))];
}

/** Reads the events of a line; the first has the line's id. */
function readCopilotLine(lines: ParsedLines, entry: CopilotEntry): readonly Event[] {
  const line = lines.at(entry.line);
  if (line === null || typeof line === "string") return [];
  const { id, timestamp } = entry;
  return bodiesOf(line, entry).map((body, n) => {
    const { type, ...rest } = body;
    return { type, id: n === 0 ? id : `${id}.${n}`, timestamp, ...rest } as Event;
  });
}

function bodiesOf(line: RawLine, entry: CopilotEntry): readonly EventBody[] {
  const data = dataOf(line);
  switch (entry.kind) {
    case "prompt":
      return requestBodies(data, entry);
    case "harness":
      return [harness(stringOf(data, "content") ?? "")];
    case "answer":
      return answerBodies(data, entry);
    case "output":
      return [outputBody(data)];
    default:
      return [noteBody(line, data)];
  }
}

/** What the user typed, and what Copilot CLI added before and after it. */
function requestBodies(data: RawLine, { isQueued }: CopilotEntry): readonly EventBody[] {
  const typed = stringOf(data, "content") ?? "";
  const sent = stringOf(data, "transformedContent") ?? typed;
  const at = sent.indexOf(typed);
  const request: EventBody = {
    type: "chat_request",
    content: at < 0 ? sent : typed,
    ...(isQueued === true && { metadata: { origin: "queued" } }),
  };
  if (at < 0) return [request];
  const around = [sent.slice(0, at), sent.slice(at + typed.length)].map((text) =>
    text.trim() === "" ? [] : [harness(text.trim())],
  );
  return [...(around[0] ?? []), request, ...(around[1] ?? [])];
}

function harness(content: string): EventBody {
  return { type: "chat_request", content, metadata: { origin: "harness" } };
}

function answerBodies(data: RawLine, { id, model: inForce }: CopilotEntry): readonly EventBody[] {
  const model = stringOf(data, "model") ?? inForce;
  const made: EventMetadata = { provider: PROVIDER, model, message_id: id };
  const bodies = [...reasoningBodies(data, made), ...messageBodies(data, made), ...callBodies(data, made)];
  const { outputTokens } = data;
  const [first, ...rest] = bodies;
  if (first === undefined || typeof outputTokens !== "number") return bodies;
  const metadata = { ...(first["metadata"] as EventMetadata), usage: { outputTokens } };
  return [{ ...first, metadata }, ...rest];
}

function reasoningBodies(data: RawLine, made: EventMetadata): readonly EventBody[] {
  const reasoning = stringOf(data, "reasoningText") ?? "";
  const encrypted = stringOf(data, "encryptedContent");
  const signature = stringOf(data, "reasoningOpaque");
  if (reasoning === "" && encrypted === undefined && signature === undefined) return [];
  const metadata = {
    ...made,
    signature,
    encrypted,
  };
  return [{ type: "chat_response", reasoning, metadata }];
}

function messageBodies(data: RawLine, metadata: EventMetadata): readonly EventBody[] {
  const message = stringOf(data, "content") ?? "";
  return message === "" ? [] : [{ type: "chat_response", message, metadata }];
}

function callBodies(data: RawLine, metadata: EventMetadata): readonly EventBody[] {
  const calls = data["toolRequests"];
  if (!Array.isArray(calls)) return [];
  return calls.filter(isRecord).map((call) => ({
    type: "tool_call_request",
    call_id: stringOf(call, "toolCallId") ?? "",
    name: stringOf(call, "name") ?? "",
    arguments: readArguments(call["arguments"]),
    metadata,
  }));
}

function outputBody(data: RawLine): EventBody {
  const result = recordOf(data, "result") ?? {};
  const problem = recordOf(data, "error");
  return {
    type: "tool_call_response",
    call_id: stringOf(data, "toolCallId") ?? "",
    content: stringOf(result, "content") ?? stringOf(problem ?? {}, "message") ?? "",
    is_error: data["success"] === false || problem !== undefined,
  };
}

/** A note keeps the small plain values; the whole line stays in the sources. */
function noteBody(line: RawLine, data: RawLine): EventBody {
  const values = { ...plainValues(data), ...plainValues(recordOf(data, "context") ?? {}) };
  const { cwd: _, content: __, ...kept } = values;
  return { type: "note", kind: String(line["type"]), ...(Object.keys(kept).length > 0 && { data: kept }) };
}

// Copilot CLI's format: see docs/ARCHITECTURE.md and `../agent-format.ts`. Import only: its sessions are bound to its service.

export const COPILOT_CLI: AgentFormat = {
  name: "copilot-cli",
  agent: { name: "Copilot CLI", email: "copilot-cli@jpg.invalid" },
  importer: COPILOT_IMPORTER,
  files: {
    endings: [".jsonl"],
    folders: (machine) => [{ path: sessionFolder(machine), levels: 1 }],
    directory: copilotDirectory,
  },
  detect: isCopilotSession,
  sessionId: copilotSessionId,
  origin: () => null,
  read: readCopilotSession,
  versions: {
    tried: "1.0.77",
    versionOf: (source) => findVersion(source, parseCopilotLine, (line) => dataOf(line)["copilotVersion"]),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "view", keys: { path: "path" } },
    edit: { name: "edit", keys: { path: "path", before: "old_str", after: "new_str" } },
  },
  help: {
    place: "Copilot CLI keeps its sessions under ~/.copilot/session-state.",
    file: "~/.copilot/session-state/10fb4666-…/events.jsonl",
    reads:
      "Sessions of 1.0 (`events.jsonl`). What Copilot CLI added to a request is kept as separate text of the agent, not yours.",
    lost: [
      "For a truncation Copilot CLI records counts, not what it dropped, so a truncation becomes a note and hides nothing.",
      "What sub-agents said and did becomes notes: their caller sees only what they answered.",
      "Its system prompt is a note.",
    ],
  },
};

function sessionFolder({ home, join }: Machine): string {
  return join(home, ".copilot", "session-state");
}

/** Sessions of all directories are together; the first line names the directory that it began in. */
function copilotDirectory(beginning: SessionSource): SessionDirectory | null {
  const line = beginning.lineCount === 0 ? null : parseCopilotLine(beginning.line(0));
  if (line === null || typeof line === "string") return null;
  const path = stringOf(recordOf(dataOf(line), "context") ?? {}, "cwd");
  return path === undefined ? null : { path };
}
