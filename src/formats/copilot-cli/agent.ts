// Copilot CLI's format: recognises, reads, writes and resumes its sessions. See docs/ARCHITECTURE.md and `../agent-format.ts`.
import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { type AgentFormat, findVersion, type Machine, type SessionDirectory } from "../agent-format.ts";
import { type ExportOrigin, type ImportedSession, lineUuid, sessionUuid } from "../imported-session.ts";
import { createParsedLines, type ParsedLines, recordOf, type SessionSource, stringOf } from "../session-source.ts";
import { readCopilotCompactions } from "./compactions.ts";
import { copilotDescent } from "./descent.ts";
import { type CopilotReading, readCopilotEntry, readCopilotTurn } from "./events.ts";
import { dataOf, isCopilotLine, parseCopilotLine, partOf, sessionStartedBy } from "./lines.ts";
import { type CopilotEntry, type CopilotIndex, indexCopilotLines, nameSession } from "./session-index.ts";
import { COPILOT_SETUP, copilotFolder } from "./setup.ts";
import { copilotOrigin, exportedCopilotId, VERIFIED_VERSION, writeCopilotSession } from "./write.ts";

// Imports a session of Copilot CLI: indexes its lines and cuts them into turns that are read on demand. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events. */
const COPILOT_IMPORTER = 3;

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
    if (id !== undefined) return nameSession(id, partOf(source));
  }
  return null;
}

/** Reads a session; lists bad lines in `skippedLines`. Throws `not_a_session` when no line is Copilot CLI's. */
export function readCopilotSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseCopilotLine);
  const index = indexCopilotLines(lines, source.lineCount, partOf(source));
  if (!index.isCopilot) throw notASession(index);
  const { turns, sessionId, createdAt, cwd, ids, skipped, parts } = index;
  const reading: CopilotReading = { lines, index };
  const placed = readCopilotCompactions(reading);
  const origin = copilotOrigin(source);
  const exportedAs = exportedCopilotId(source);
  return {
    format: "copilot-cli",
    importer: COPILOT_IMPORTER,
    sessionId,
    title: firstTitle(reading) ?? UNTITLED,
    titles: readTitles(lines, index.entries),
    createdAt,
    cwd,
    turnCount: turns.length,
    readTurn: (turn) => readCopilotTurn(reading, turns[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.opener.line ?? source.lineCount)),
    hasLine: (id) => ids.has(id),
    turnTime: (turn) => turns[turn]?.opener.timestamp ?? createdAt,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: [],
    skippedLines: skipped,
    ...(parts.length > 0 && { parts }),
    ...(origin !== null && { origin }),
    ...(origin !== null && exportedAs !== undefined && { exportedAs }),
  };
}

/** The names that lines give the session, oldest first, without repetitions. */
function readTitles(lines: ParsedLines, entries: readonly CopilotEntry[]): ImportedSession["titles"] {
  const titles: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line: at, kind, timestamp, id } of entries) {
    const line = kind === "note" ? lines.at(at) : null;
    if (line === null || typeof line === "string" || line["type"] !== "session.title_changed") continue;
    const title = shownTitle(stringOf(dataOf(line), "title") ?? "");
    if (title !== "" && title !== titles.at(-1)?.title) titles.push({ timestamp, title, id });
  }
  return titles;
}

function firstTitle(reading: CopilotReading): string | undefined {
  for (const { entries } of reading.index.turns) {
    for (const entry of entries) {
      const title = titleOfRequest(readPrompt(reading, entry));
      if (title !== "") return title;
    }
  }
  return undefined;
}

function readPrompt(reading: CopilotReading, entry: CopilotEntry): string {
  if (entry.kind !== "prompt") return "";
  const request = readCopilotEntry(reading, entry).find(isUserRequest);
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
  origin: (source): ExportOrigin | null => copilotOrigin(source),
  descent: copilotDescent,
  read: readCopilotSession,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeCopilotSession },
  resume: (machine, { sessionId }) => ({
    path: machine.join(sessionFolder(machine), sessionId, FILE),
    command: reopen(sessionId),
    hints: ["COPILOT_HOME names another folder for Copilot CLI's files."],
  }),
  reopen,
  setup: COPILOT_SETUP,
  versions: {
    tried: VERIFIED_VERSION,
    versionOf: (source) => findVersion(source, parseCopilotLine, (line) => dataOf(line)["copilotVersion"]),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "view", keys: { path: "path" } },
    write: { name: "create", keys: { path: "path", content: "file_text" } },
    edit: { name: "edit", keys: { path: "path", before: "old_str", after: "new_str" } },
    search: { name: "grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "glob", keys: { pattern: "pattern", path: "path" } },
  },
  help: {
    place: "Copilot CLI keeps its sessions under ~/.copilot/session-state (or COPILOT_HOME).",
    file: "~/.copilot/session-state/10fb4666-…/events.jsonl",
    reads:
      "Sessions of 1.0 (`events.jsonl`). Its compactions become compactions, a session made with `/fork` becomes a fork of its conversation, what `/undo` took back stays on the branch, and a sub-agent's lines become a conversation linked with it. What Copilot CLI added to a request is kept as separate text of the agent, not yours.",
    lost: [
      "For a truncation Copilot CLI records counts, not what it dropped, so a truncation becomes a note and hides nothing.",
      "Its system prompt is a note.",
      "Reasoning is imported; Copilot CLI sends none of it when it resumes, so an export has none.",
      "An attached file of which Copilot CLI keeps only the path is sent as it is on the disk at that time: of it, only what the session holds is imported.",
    ],
    takes: { file: "events.jsonl", by: "a session that `copilot --resume=SESSION` takes in its folder" },
    addServer: "copilot mcp add jpg -- jpg mcp",
  },
};

function reopen(sessionId: string): readonly string[] {
  return ["copilot", `--resume=${sessionId}`];
}

/** Name of a session's file, in a folder with the session's id. */
const FILE = "events.jsonl";

function sessionFolder(machine: Machine): string {
  return machine.join(copilotFolder(machine), "session-state");
}

/** Sessions of all directories are together; the first line names the directory that it began in. */
function copilotDirectory(beginning: SessionSource): SessionDirectory | null {
  const line = beginning.lineCount === 0 ? null : parseCopilotLine(beginning.line(0));
  if (line === null || typeof line === "string") return null;
  const path = stringOf(recordOf(dataOf(line), "context") ?? {}, "cwd");
  return path === undefined ? null : { path };
}
