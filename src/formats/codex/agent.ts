// Codex as an agent: recognises, reads and resumes its rollouts.
import { wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import {
  type AgentFormat,
  findVersion,
  type Machine,
  type SessionDirectory,
  type SessionDraft,
  type SessionFolder,
} from "../agent-format.ts";
import {
  type AbandonedBranch,
  deriveName,
  type ExportOrigin,
  type ImportedSession,
  lineUuid,
  parseExportOrigin,
  sessionUuid,
} from "../imported-session.ts";
import {
  createParsedLines,
  type ParsedLines,
  parseJsonLine,
  type ResumePlan,
  readTimestamp,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { readCodexCompactions } from "./compactions.ts";
import { documentLines } from "./document.ts";
import { CODEX_BASE } from "./history-base.ts";
import { indexRollout, type RolloutIndex, readThreadNames } from "./rollout.ts";
import { codexDescent, codexSessionId, isCodexSession, parseRolloutLine, payloadOf } from "./rollout-line.ts";
import { CODEX_SETUP, codexHome, codexProvider } from "./setup.ts";
import { type AbandonedTurns, cutRollout, type RolloutTurn, readLineEvent, readRolloutTurn, turnAt } from "./turns.ts";
import { timeOfView, writeCodexSession } from "./write.ts";

// Imports a rollout: indexes its lines, cuts them into turns that are read on demand, reads its compactions, and turns what was
// rolled back into abandoned branches. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes give other events or records. */
const CODEX_IMPORTER_VERSION = 4;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";
/** Position of jpg's side line (`imported-session.ts`): Codex wants the session's description first. */
const ORIGIN_LINE = 1;

/** Reads a rollout; lists unreadable lines in `skippedLines`. Throws `not_a_session` when no line is Codex's. */
export function readCodexSession(source: SessionSource, about: string | null = null): ImportedSession {
  const document = documentLines(source);
  const lines = document ?? createParsedLines(source, parseRolloutLine);
  const index = indexRollout(lines, document?.count ?? source.lineCount);
  if (!index.isCodex) throw notASession(index);
  const { active, abandoned } = cutRollout(index.entries);
  const compactions = readCodexCompactions(lines, active);
  const origin = codexOrigin(source);
  return {
    format: "codex",
    importer: CODEX_IMPORTER_VERSION,
    sessionId: index.sessionId,
    title: firstTitle(lines, active) ?? UNTITLED,
    titles: [...readThreadNames(index), ...readListedName(about, index.sessionId)],
    createdAt: index.createdAt,
    cwd: index.cwd,
    turnCount: active.length,
    readTurn: (turn) => readRolloutTurn(lines, active[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (active[turn]?.opener.line ?? source.lineCount)),
    hasLine: (id) => index.marks.has(id),
    turnTime: (turn) => active[turn]?.opener.timestamp ?? index.createdAt,
    compactions,
    compactionTurns: new Map(compactions.map(({ id, to_turn }) => [id, to_turn])),
    abandoned: abandoned.map((turns) => toBranch(lines, turns, active)),
    skippedLines: index.skipped,
    ...(origin !== null && { origin }),
  };
}

/** Reads the side line of a session that jpg exported; null for a session of Codex's own. */
function codexOrigin(source: SessionSource): ExportOrigin | null {
  return source.lineCount > ORIGIN_LINE ? parseExportOrigin(source.line(ORIGIN_LINE)) : null;
}

function toBranch(
  lines: ParsedLines,
  { from, turns }: AbandonedTurns,
  active: readonly RolloutTurn[],
): AbandonedBranch {
  const last = turns.at(-1) as RolloutTurn;
  // The turns before it may have been abandoned later.
  let common = turns[0]?.previous;
  while (common !== undefined && common !== active[common.index]) common = common.previous;
  return {
    name: `left-${deriveName(from.id).slice(0, 8)}`,
    commonTurns: common === undefined ? 0 : common.index + 1,
    turnCount: last.index + 1,
    readTurn: (turn) => readRolloutTurn(lines, turnAt(last, turn)),
  };
}

/** The first words of the first request. */
function firstTitle(lines: ParsedLines, turns: readonly RolloutTurn[]): string | undefined {
  for (const { entries } of turns) {
    for (const entry of entries) {
      if (entry.kind !== "prompt") continue;
      const [event] = readLineEvent(lines, entry);
      const title = event?.type === "chat_request" ? titleOfRequest(askedIn(wordsOfContent(event.content))) : "";
      if (title !== "") return title;
    }
  }
  return undefined;
}

/** Removes what editors put before the user's words, and the tags that Codex puts around images. */
function askedIn(text: string): string {
  const mark = "## My request for Codex:";
  const at = text.indexOf(mark);
  const words = at < 0 ? text : text.slice(at + mark.length);
  return words.replace(/<image(?: name=\[Image #\d+\][^<>]*)?>|<\/image>/g, " ");
}

/** Codex keeps the names of sessions in a list of its own. */
const SESSION_INDEX = "session_index.jsonl";

function sessionIndexOf(_: string, folder = ""): string | null {
  if (folder === "archived_sessions") return `../${SESSION_INDEX}`;
  return /^\d\d$/.test(folder) ? `../../../../${SESSION_INDEX}` : null;
}

/** The newest name that Codex's list has for a session; none for other sessions. */
function readListedName(about: string | null, sessionId: string): ImportedSession["titles"] {
  const lines = about === null ? [] : about.split("\n").filter((line) => line.includes(sessionId));
  for (const line of lines.reverse()) {
    const named = parseJsonLine(line);
    if (named === null || typeof named === "string" || stringOf(named, "id") !== sessionId) continue;
    const title = shownTitle(stringOf(named, "thread_name") ?? "");
    const timestamp = readTimestamp(named["updated_at"]);
    return title === "" || timestamp === undefined ? [] : [{ timestamp, title, id: `${sessionId}.${timestamp}` }];
  }
  return [];
}

function notASession({ skipped }: RolloutIndex): Error {
  const first = skipped[0];
  const found = first === undefined ? "no line of one was found" : `line ${first.line} is ${first.reason}`;
  return userError(
    "not_a_session",
    `The file is not a Codex session: expected JSON lines with \`type\` and \`payload\`, ${found}.`,
    { hints: ["Codex keeps sessions in ~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl."] },
  );
}

/** The first directory in a text of JSON; in nested texts the quotes are escaped. */
const DIRECTORY = /"cwd"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** Reads the first directory in the first line. */
function codexDirectory(beginning: SessionSource): SessionDirectory | null {
  const quoted = beginning.lineCount === 0 ? undefined : DIRECTORY.exec(beginning.line(0))?.[1];
  const named = quoted === undefined ? null : parseJsonLine(`{"cwd":${quoted}}`);
  const path = named === null || typeof named === "string" ? undefined : stringOf(named, "cwd");
  return path === undefined || path === "" ? null : { path };
}

/** Folders of a session's year, month and day. */
const DATE_LEVELS = 3;

export const CODEX: AgentFormat = {
  name: "codex",
  agent: { name: "Codex", email: "codex@jpg.invalid" },
  importer: CODEX_IMPORTER_VERSION,
  files: {
    endings: [".jsonl", ".jsonl.zst", ".json"],
    isNamed: (fileName) => !fileName.endsWith(".json") || fileName.startsWith("rollout-"),
    document: (source) => (documentLines(source) === null ? null : "json"),
    folders: sessionFolders,
    directory: codexDirectory,
    about: sessionIndexOf,
    base: CODEX_BASE,
    // After a rollback the file's own id follows the session's in the name.
    isCallers: ({ CODEX_THREAD_ID: session }, fileName) =>
      session !== undefined && session !== "" && [".", "_"].some((next) => fileName.includes(`-${session}${next}`)),
  },
  detect: (source) => isCodexSession(source) || documentLines(source) !== null,
  sessionId: codexSessionId,
  origin: codexOrigin,
  descent: codexDescent,
  read: readCodexSession,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeCodexSession },
  resume: planResume,
  reopen,
  provider: codexProvider,
  setup: CODEX_SETUP,
  versions: {
    tried: "0.171.0",
    versionOf: (source) => findVersion(source, parseRolloutLine, (line) => payloadOf(line)["cli_version"]),
  },
  tools: { shell: { name: "exec_command", keys: { command: "cmd" } } },
  help: {
    place: "Codex keeps its sessions under ~/.codex/sessions (or CODEX_HOME).",
    file: "~/.codex/sessions/2026/11/21/rollout-2026-11-21T20-30-00-019b….jsonl",
    reads:
      "Rollouts as lines (`.jsonl`) of every version, compressed ones too, and the first ones, documents (`.json`). Its own compactions become compactions, encrypted ones unchanged; what you rolled back becomes a fork (`--all-branches`), a session forked from another becomes a fork of its conversation, and a sub-agent's session becomes a conversation linked with it.",
    lost: [
      "Rollouts of April and May 2025 do not say in which directory they were made: name their files.",
      "What Codex records for its display, settings and state is not imported as events.",
      "An export holds only plain items, without settings: Codex uses its own. Long outputs are whole: Codex cuts them when it sends them.",
    ],
    addServer: "codex mcp add jpg -- jpg mcp",
  },
};

function reopen(sessionId: string): readonly string[] {
  return ["codex", "resume", sessionId];
}

/** Plans a file in the folder of the newest event's day; Codex finds a session by its id in any day's folder. */
function planResume(machine: Machine, { sessionId, view }: SessionDraft): ResumePlan {
  const [date = "", time = ""] = timeOfView(view).split("T");
  const name = `rollout-${date}T${time.slice(0, 8).replaceAll(":", "-")}-${sessionId}.jsonl`;
  const path = machine.join(codexHome(machine), "sessions", ...date.split("-"), name);
  return {
    path,
    elsewhere: [`${path}.zst`, machine.join(codexHome(machine), "archived_sessions", name)],
    command: reopen(sessionId),
    note: "Codex lists it in `codex resume` once it was opened this way.",
    hints: ["CODEX_HOME names another folder for Codex's files."],
  };
}

/** Returns the folders of Codex's sessions; those of all projects are together. */
function sessionFolders(machine: Machine): readonly SessionFolder[] {
  return [
    { path: machine.join(codexHome(machine), "sessions"), levels: DATE_LEVELS },
    { path: machine.join(codexHome(machine), "archived_sessions") },
  ];
}
