// Recognises, reads and resumes sessions of Gemini CLI.
import { type Event, isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { isWindowsPath } from "../../core/folder-path.ts";
import type { AgentFormat, Machine, SessionDirectory, SessionDraft, SessionFolder } from "../agent-format.ts";
import {
  type AbandonedBranch,
  deriveName,
  type ImportedSession,
  lineUuid,
  sessionUuid,
  toUsableId,
} from "../imported-session.ts";
import {
  parseJsonLine,
  type ResumePlan,
  recordOf,
  type SessionDescent,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { readGeminiTurn, readTurnEntry } from "./events.ts";
import {
  type AbandonedPath,
  findHeader,
  openRecords,
  type SessionRecords,
  type SessionTurn,
  sessionDocument,
  turnOfPath,
} from "./records.ts";
import { toCompactions } from "./sent-parts.ts";
import { type GeminiIndex, indexRecords } from "./session-index.ts";
import { GEMINI_SETUP, geminiFolder } from "./setup.ts";
import { exportedId, geminiOrigin, startOfView, writeGeminiSession } from "./write.ts";

/** Form of session ids, unlike a user's own folder names. */
const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The session that started a sub-agent's; null for one of the user's, and if the folder is not named after a session. */
function geminiDescent(source: SessionSource, _: string | null, folder = ""): SessionDescent | null {
  const header = findHeader(source);
  if (header?.["kind"] !== "subagent" || !SESSION_ID.test(folder) || stringOf(header, "sessionId") === folder)
    return null;
  return { kind: "agent", sessions: [folder] };
}

// Imports a session of Gemini CLI: indexes its records, cuts them into turns that are read on demand, makes compactions of rewritten
// lists and branches of rewound turns. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events or records. */
const GEMINI_CLI_IMPORTER = 3;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";

/** Whether a file is a session of Gemini CLI: it describes one. */
function isGeminiSession(source: SessionSource): boolean {
  return findHeader(source) !== null;
}

/** Gives the id of a session; null when the file describes none. */
function geminiSessionId(source: SessionSource): string | null {
  const header = findHeader(source);
  return header === null ? null : toUsableId(stringOf(header, "sessionId") ?? "");
}

/** Reads a session; lists bad lines in `skippedLines`. Throws `not_a_session` when no line describes one. */
export function readGeminiSession(source: SessionSource): ImportedSession {
  const sessionId = geminiSessionId(source);
  if (sessionId === null) throw notASession();
  const records = openRecords(source);
  const index = indexRecords(records, sessionId);
  const { turns, abandoned } = index.history.turns;
  const compactions = toCompactions(index.history.changes, { turns, records });
  const origin = geminiOrigin(source);
  const exportedAs = exportedId(source);
  return {
    format: "gemini-cli",
    importer: GEMINI_CLI_IMPORTER,
    sessionId,
    title: firstTitle(records, turns) ?? UNTITLED,
    titles: readTitles(index, sessionId),
    createdAt: index.createdAt,
    cwd: index.cwd,
    turnCount: turns.length,
    readTurn: (turn) => readGeminiTurn(records, turns[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.opener.place.line ?? source.lineCount)),
    hasLine: (id) => index.ids.has(id),
    turnTime: (turn) => turns[turn]?.opener.timestamp ?? index.createdAt,
    compactions,
    compactionTurns: new Map(compactions.map(({ id, to_turn }) => [id, to_turn])),
    abandoned: abandoned.map((one) => toBranch(records, one, turns)),
    skippedLines: index.skipped,
    ...(origin !== null && { origin }),
    ...(origin !== null && exportedAs !== undefined && { exportedAs }),
  };
}

function toBranch(
  records: SessionRecords,
  { from, turns }: AbandonedPath,
  active: readonly SessionTurn[],
): AbandonedBranch {
  const last = turns.at(-1) as SessionTurn;
  // Turns before it may have been abandoned later.
  let common = turns[0]?.previous;
  while (common !== undefined && common !== active[common.index]) common = common.previous;
  return {
    name: `left-${deriveName(`${from.base} ${from.order}`).slice(0, 8)}`,
    commonTurns: common === undefined ? 0 : common.index + 1,
    turnCount: last.index + 1,
    readTurn: (turn) => readGeminiTurn(records, turnOfPath(last, turn)),
  };
}

function firstTitle(records: SessionRecords, turns: readonly SessionTurn[]): string | undefined {
  for (const { entries } of turns) {
    for (const entry of entries) {
      const title = entry.kind === "prompt" ? titleOf(readTurnEntry(records, entry)) : "";
      if (title !== "") return title;
    }
  }
  return undefined;
}

function titleOf(events: readonly Event[]): string {
  const request = events.find(isUserRequest);
  return request === undefined ? "" : titleOfRequest(wordsOfContent(request.content));
}

/** Later titles, oldest first; repetitions are left out. */
function readTitles({ titles }: GeminiIndex, sessionId: string): ImportedSession["titles"] {
  const shown: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, timestamp, title: given } of titles) {
    const title = shownTitle(given);
    if (title !== "" && title !== shown.at(-1)?.title) shown.push({ timestamp, title, id: `${sessionId}.${line}` });
  }
  return shown;
}

function notASession(): Error {
  return userError(
    "not_a_session",
    "The file is not a session of Gemini CLI: expected `sessionId` and `projectHash` in its first line.",
    { hints: ["Gemini CLI keeps sessions in ~/.gemini/tmp/<project>/chats/session-….jsonl."] },
  );
}

// The folder in which Gemini CLI keeps a directory's files. Its name comes from the directory's, with a number if that is taken; a
// list and a file in the folder say whose it is. Before 2026 the name was a digest of the path.

/** In the folder: the directory that it belongs to. */
const OWNER_FILE = ".project_root";

/** Folders that may hold sessions of a directory: its own, the old one, then all others. */
function projectFolders(machine: Machine, directory: string): readonly SessionFolder[] {
  const tmp = temporaryFolder(machine);
  const known = knownName(machine, directory);
  const own = known === null ? { isOwn: true } : { directory };
  const owners = new Map(Object.entries(listedNames(machine)).map(([owner, name]) => [name, owner]));
  const others = machine.namesIn(tmp).map((name): SessionFolder => {
    const owner = ownerOf(machine, name) ?? owners.get(name);
    return { path: machine.join(tmp, name), ...(owner === undefined ? { isOwn: false } : { directory: owner }) };
  });
  return [
    { path: machine.join(tmp, known ?? freeName(machine, directory)), ...own },
    { path: machine.join(tmp, machine.sha256(directory)), directory },
    ...others,
  ];
}

/** The directory that a session began in: its file has only the digest of the path. */
function geminiDirectory(beginning: SessionSource): SessionDirectory | null {
  for (let line = 0; line < Math.min(beginning.lineCount, LINES_LOOKED_AT); line++) {
    const sha256 = PROJECT_HASH.exec(beginning.line(line))?.[1];
    if (sha256 !== undefined) return { sha256 };
  }
  return null;
}

const PROJECT_HASH = /"projectHash"\s*:\s*"([^"\\]+)"/;

/** A session's description is at the start of its file. */
const LINES_LOOKED_AT = 10;

/** Where to put a session, and where the agent moves it. */
interface SessionPlace {
  readonly folder: string;
  /** Absent = it stays. */
  readonly movesTo?: string;
}

/**
 * The folder that the agent searches. If it has no name yet, the one that the agent will choose; an old folder is used if it
 * exists: the agent moves its contents to a new one.
 */
function sessionPlace(machine: Machine, directory: string): SessionPlace {
  const tmp = temporaryFolder(machine);
  const known = knownName(machine, directory);
  if (known !== null) return { folder: machine.join(tmp, known) };
  const named = machine.join(tmp, freeName(machine, directory));
  const old = machine.join(tmp, machine.sha256(directory));
  return machine.namesIn(old).length > 0 ? { folder: old, movesTo: named } : { folder: named };
}

/** Where the agent keeps what belongs to directories. */
function temporaryFolder(machine: Machine): string {
  return machine.join(geminiFolder(machine), "tmp");
}

/**
 * The name in the agent's list, unless another directory owns that folder; else that of a folder whose owner file names this
 * directory.
 */
function knownName(machine: Machine, directory: string): string | null {
  const key = ownKey(directory);
  const listed = listedNames(machine)[key];
  if (listed !== undefined && [null, key].includes(ownerOf(machine, listed))) return listed;
  const names = machine.namesIn(temporaryFolder(machine));
  return names.find((name) => ownerOf(machine, name) === key) ?? null;
}

/** The name that the agent will give a new directory. */
function freeName(machine: Machine, directory: string): string {
  const taken = new Set(Object.values(listedNames(machine)));
  const slug = slugOf(directory);
  for (let count = 0; ; count++) {
    const name = count === 0 ? slug : `${slug}-${count}`;
    if (!taken.has(name) && [null, ownKey(directory)].includes(ownerOf(machine, name))) return name;
  }
}

function slugOf(directory: string): string {
  const name = directory.split(/[/\\]/).findLast((part) => part !== "") ?? "";
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return slug === "" ? "project" : slug;
}

function ownerOf(machine: Machine, name: string): string | null {
  const owner = machine.readText(machine.join(temporaryFolder(machine), name, OWNER_FILE))?.trim();
  return owner === undefined ? null : ownKey(owner);
}

/** What the agent calls a directory in its list: on Windows it lowers the letters (its `ProjectRegistry`). */
function ownKey(directory: string): string {
  return isWindowsPath(directory) ? directory.toLowerCase() : directory;
}

/** Names by directory; empty if the agent would reject the list too. */
function listedNames(machine: Machine): Readonly<Record<string, string>> {
  const text = machine.readText(machine.join(temporaryFolder(machine), "..", "projects.json"));
  const list = text === null ? null : parseJsonLine(text);
  if (list === null || typeof list === "string") return {};
  const projects = recordOf(list, "projects") ?? {};
  const names = Object.keys(projects).map((directory) => [directory, stringOf(projects, directory) ?? ""] as const);
  return names.every(([, name]) => /^[a-z0-9-]+$/.test(name)) ? Object.fromEntries(names) : {};
}

/** Below a directory's folder. */
const SESSIONS = "chats";
/** Prefix of documents' names; many other files have their ending. */
const SESSION_PREFIX = "session-";

export const GEMINI_CLI: AgentFormat = {
  name: "gemini-cli",
  agent: { name: "Gemini CLI", email: "gemini-cli@jpg.invalid" },
  importer: GEMINI_CLI_IMPORTER,
  files: {
    endings: [".jsonl", ".json"],
    isNamed: (fileName) => fileName.endsWith(".jsonl") || fileName.startsWith(SESSION_PREFIX),
    document: (source) => (sessionDocument(source) === null ? null : "json"),
    folders: sessionFolders,
    directory: geminiDirectory,
  },
  detect: isGeminiSession,
  sessionId: geminiSessionId,
  origin: geminiOrigin,
  descent: geminiDescent,
  read: readGeminiSession,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeGeminiSession },
  resume: planResume,
  reopen,
  setup: GEMINI_SETUP,
  tools: {
    shell: { name: "run_shell_command", keys: { command: "command" } },
    read: { name: "read_file", keys: { path: "file_path" } },
    write: { name: "write_file", keys: { path: "file_path", content: "content" } },
    edit: { name: "replace", keys: { path: "file_path", before: "old_string", after: "new_string" } },
    search: { name: "grep_search", keys: { pattern: "pattern", path: "dir_path" } },
    find: { name: "glob", keys: { pattern: "pattern", path: "dir_path" } },
  },
  help: {
    place: "Gemini CLI keeps its sessions under ~/.gemini/tmp (or .gemini/tmp in GEMINI_CLI_HOME).",
    file: "~/.gemini/tmp/my-app/chats/session-2026-11-21T20-30-4f2e91ab.jsonl",
    reads:
      "Sessions as lines and, before 2026, as one document. A list of messages that Gemini CLI rewrote becomes a compaction if it says something else; what you rewound or broke off becomes a fork (`--all-branches`), and a sub-agent's session becomes a conversation linked with the one that started it.",
    lost: [
      "What Gemini CLI sends its model about its surroundings on each start is not imported as an event; what it only displays becomes a note.",
      "Only the folder of a sub-agent's session says which session started it: in another folder it is imported on its own.",
      "Its sessions hold no signatures of thoughts, and thoughts are never sent again.",
    ],
    takes: { file: "4f2e91ab.jsonl", by: "a session that `gemini --session-file FILE` takes" },
    addServer: "gemini mcp add jpg jpg mcp",
  },
};

/** Sub-agents write their sessions into a folder of the parent session. */
function sessionFolders(machine: Machine, directory: string): readonly SessionFolder[] {
  return projectFolders(machine, directory).map(({ path, ...whose }) => ({
    path: machine.join(path, SESSIONS),
    levels: 1,
    ...whose,
  }));
}

function reopen(sessionId: string): readonly string[] {
  return ["gemini", "--resume", sessionId];
}

/** The agent finds a session by the first 8 digits of its id in the file's name, and by the id in the file. */
function planResume(machine: Machine, { sessionId, view, cwd }: SessionDraft): ResumePlan {
  const minute = startOfView(view).slice(0, "2026-01-02T03:04".length).replace(":", "-");
  const name = `${SESSION_PREFIX}${minute}-${sessionId.slice(0, 8)}.jsonl`;
  const { folder, movesTo } = sessionPlace(machine, cwd);
  return {
    path: machine.join(folder, SESSIONS, name),
    elsewhere: movesTo === undefined ? undefined : [machine.join(movesTo, SESSIONS, name)],
    command: reopen(sessionId),
    hints: [
      "GEMINI_CLI_HOME names another folder for Gemini CLI's files.",
      "`jpg export --to gemini-cli -o FILE` writes anywhere; `gemini --session-file FILE` takes it.",
    ],
  };
}
