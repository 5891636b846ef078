// Where Claude Code keeps the sessions of a directory: in a folder named after the path. Several paths give one name, so the lines
// of a session decide which of them it began in.
import { spellingsOf } from "../../core/folder-path.ts";
import type { Machine, SessionDirectory, SessionFolder } from "../agent-format.ts";
import { toUsableId } from "../imported-session.ts";
import {
  isRecord,
  nonBlankStringOf,
  type ParsedLines,
  parseJsonLine,
  type RawLine,
  recordOf,
  type SessionDescent,
  type SessionPart,
  type SessionSource,
  type SessionStart,
  stringOf,
} from "../session-source.ts";
import {
  agentNamedBy,
  forkContextOf,
  forkedFromSession,
  kindOfLine,
  type LineEntry,
  messageBlocks,
  originalOfLine,
  parseLine,
  type SessionIndex,
} from "./session-index.ts";
import { configFolder } from "./setup.ts";

/** A longer name is cut here and gets a hash of the path, characters. Measured with 2.1.330. */
const LONGEST_NAME = 200;

/** The folder for the sessions of a directory. */
export function projectFolder(machine: Machine, directory: string): string {
  return machine.join(configFolder(machine), "projects", folderName(directory));
}

/** Claude Code deletes sessions that did not change for so many days, when it starts. */
const KEPT_DAYS = 30;

/** Reads from the user's settings how long sessions are kept, days. */
export function claudeKeptDays(machine: Machine): number {
  const settings = parseJsonLine(machine.readText(machine.join(configFolder(machine), "settings.json")) ?? "");
  const days = isRecord(settings) ? settings["cleanupPeriodDays"] : undefined;
  return typeof days === "number" && days >= 0 ? days : KEPT_DAYS;
}

/** The directory's own folder, then all others: some hold sessions of directories below it. */
export function claudeFolders(machine: Machine, directory: string): readonly SessionFolder[] {
  return [
    ...spellingsOf(directory).map((spelling) => ({ path: projectFolder(machine, spelling), isOwn: true })),
    { path: machine.join(configFolder(machine), "projects"), levels: 1, isOwn: false },
  ];
}

/**
 * The directory that a session began in: the first path that gives the folder its name, else the first path. Later lines name
 * another path after a `cd`, and earlier ones if the session was copied or moved. The agent looks only at the folder, so users who
 * rename a project rename its folder too, while the lines still name the old path.
 */
export function claudeDirectory(beginning: SessionSource, folder: string): SessionDirectory | null {
  let first: string | undefined;
  for (let line = 0; line < beginning.lineCount; line++) {
    const path = directoryIn(beginning.line(line));
    if (path === undefined) continue;
    if (isFolderOf(path, folder)) return { path };
    first ??= path;
  }
  return first === undefined ? null : { path: first, wasMoved: true };
}

/**
 * Whether a folder is named after a path. Editors pass Windows' drives in small letters, shells in capitals; macOS lists an accented
 * letter in two parts, which give two characters of the name.
 */
function isFolderOf(path: string, folder: string): boolean {
  return spellingsOf(path).some((spelling) => folderName(spelling) === folder);
}

function folderName(directory: string): string {
  const name = directory.replace(/[^A-Za-z0-9]/g, "-");
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}-${hashOf(directory)}`;
}

/** Java's string hash, without its sign, in base 36. */
function hashOf(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}

/** A session moves to another directory with its file, and its lines name the old one. */
const MOVED_TO = "relocatedCwd";

/** The fields of a line before its message, which may be longer than what is read of the file. */
const CUT_LINE = /^\{(?:"\w+":(?:"(?:[^"\\]|\\.)*"|[\w.-]+),)*"cwd":("(?:[^"\\]|\\.)*")/;

function directoryIn(text: string): string | undefined {
  if (!text.includes('"cwd"') && !text.includes(MOVED_TO)) return undefined;
  const line = parseJsonLine(text);
  if (line !== null && typeof line !== "string") return cwdOf(line);
  const quoted = CUT_LINE.exec(text)?.[1];
  const cut = quoted === undefined ? null : parseJsonLine(`{"cwd":${quoted}}`);
  return cut === null || typeof cut === "string" ? undefined : cwdOf(cut);
}

function cwdOf(line: RawLine): string | undefined {
  const cwd = (line["type"] === "relocated" ? stringOf(line, MOVED_TO) : stringOf(line, "cwd")) ?? "";
  return cwd === "" ? undefined : cwd;
}

/** Names of the tool that starts a sub-agent. */
const AGENT_TOOLS: ReadonlySet<unknown> = new Set(["Task", "Agent"]);

/**
 * Reads whose sub-agent wrote a file, or which session `/branch` copied; null for a session without a parent. `about` is the text
 * of the file next to it.
 */
export function claudeDescent(source: SessionSource, about: string | null): SessionDescent | null {
  const line = firstNamed(source);
  const fork = line === null ? undefined : forkContextOf(line);
  const session = fork?.session ?? (line === null ? undefined : stringOf(line, "sessionId"));
  const agent = fork?.agent ?? (line === null ? undefined : agentNamedBy(line));
  if (session === undefined) return null;
  if (agent === undefined) return branchDescent(source, session);
  const description = about === null ? null : parseJsonLine(about);
  const call = isRecord(description) ? nonBlankStringOf(description, "toolUseId") : undefined;
  return { kind: "agent", sessions: [toUsableId(session)], name: agent, call, at: fork?.last };
}

/** Each copied line names the session that it was copied from. */
function branchDescent(source: SessionSource, own: string): SessionDescent | null {
  const first = firstNode(source);
  const original = first === null ? undefined : forkedFromSession(first);
  return original === undefined || original === own ? null : { kind: "fork", sessions: [toUsableId(original)] };
}

/**
 * Reads where a session begins. `--fork-session` and background sessions copy lines with their ids and say nothing of it: a copy
 * begins with the first line of its original, or with a compaction.
 */
export function claudeStart(source: SessionSource): SessionStart | null {
  const first = firstNode(source);
  if (first === null || first["isSidechain"] === true) return null;
  const line = originalOfLine(first) ?? stringOf(first, "uuid") ?? "";
  return { line, hasOriginal: kindOfLine(first) === "boundary" || forkedFromSession(first) !== undefined };
}

/** The first message or boundary; null if there is none. */
function firstNode(source: SessionSource): RawLine | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseLine(source.line(at));
    if (line === null || typeof line === "string" || (stringOf(line, "uuid") ?? "") === "") continue;
    if (line["type"] === "user" || line["type"] === "assistant" || kindOfLine(line) === "boundary") return line;
  }
  return null;
}

/** The first line that names the session. */
function firstNamed(source: SessionSource): RawLine | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseLine(source.line(at));
    if (line === null || typeof line === "string") continue;
    if (stringOf(line, "sessionId") !== undefined || forkContextOf(line) !== undefined) return line;
  }
  return null;
}

/**
 * The sub-agents' transcripts among a session's own lines, in the order in which they begin; none in a file that is one itself.
 * Skips those without an answer.
 */
export function listParts(lines: ParsedLines, index: SessionIndex): readonly SessionPart[] {
  const sidechain = index.entries.filter(({ isSidechain, uuid }) => isSidechain && uuid !== undefined);
  if (sidechain.length === 0 || (index.firstLine !== undefined && isOfAgent(index.firstLine))) return [];
  const transcripts = new Map<LineEntry, LineEntry[]>();
  const roots = new Map<LineEntry, LineEntry>();
  for (const entry of sidechain) {
    const above = index.nodes.get(entry.parent ?? "");
    const root = (above?.isSidechain === true ? roots.get(above) : undefined) ?? entry;
    roots.set(entry, root);
    const transcript = transcripts.get(root);
    if (transcript === undefined) transcripts.set(root, [entry]);
    else transcript.push(entry);
  }
  const answered = [...transcripts].filter(([, entries]) => entries.some(({ kind }) => kind === "assistant"));
  const calls = callsByPrompt(lines, index);
  return answered.map(([root, entries]) => {
    const call = calls.get(textOf(lines.at(root.line)) ?? "")?.shift();
    return { lines: entries.map(({ line }) => line).sort((a, b) => a - b), call };
  });
}

function isOfAgent(line: RawLine): boolean {
  return agentNamedBy(line) !== undefined || forkContextOf(line) !== undefined;
}

/** Ids of the calls that started sub-agents, by their prompt, oldest first. */
function callsByPrompt(lines: ParsedLines, { entries }: SessionIndex): Map<string, string[]> {
  const calls = new Map<string, string[]>();
  const own = entries.filter(({ kind, isSidechain, calls: made }) => kind === "assistant" && !isSidechain && made);
  for (const { line } of own) {
    const raw = lines.at(line);
    for (const block of raw === null || typeof raw === "string" ? [] : (messageBlocks(raw) ?? [])) {
      const [id, prompt] = [stringOf(block, "id"), stringOf(recordOf(block, "input") ?? {}, "prompt")];
      if (id === undefined || prompt === undefined || !AGENT_TOOLS.has(block["name"])) continue;
      calls.set(prompt, [...(calls.get(prompt) ?? []), id]);
    }
  }
  return calls;
}

function textOf(line: RawLine | string | null): string | undefined {
  if (line === null || typeof line === "string") return undefined;
  const [first] = messageBlocks(line) ?? [];
  return first === undefined ? undefined : stringOf(first, "text");
}

/** The id of an indexed session; a file without one is named after its first line. */
export function sessionIdOf({ sessionId, firstLine }: SessionIndex): string {
  return toUsableId(sessionId ?? `first line: ${JSON.stringify(firstLine ?? null)}`);
}

// What Claude Code writes into the folder with a session's name: transcripts of sub-agents and workflows, long tool results. Other
// files there are somebody else's and are not imported.

const FOLDER = /^(?:subagents(?:\/workflows(?:\/[^/]+)?)?|workflows(?:\/scripts)?|tool-results(?:\/[^/]+)?)$/;
const TRANSCRIPT = /^subagents\/(?:workflows\/[^/]+\/)?(?:agent-[^/]+\.(?:jsonl|meta\.json)|journal\.jsonl)$/;
const AGENT = /^subagents\/(?:workflows\/[^/]+\/)?agent-[^/]+\.jsonl$/;
const WORKFLOW = /^workflows\/(?:[^/]+\.json|scripts\/[^/]+\.js)$/;
const TOOL_RESULT = /^tool-results\/(?:[^/]+\/)?[^/]+\.(?:txt|json|pdf|png|jpe?g|gif|webp)$/;
const HIDDEN_NAME = /(?:^|\/)\./;

/** Whether the agent writes files into a folder of this path, `/` between names, relative to the folder of the session's name. */
export function isSideFolder(path: string): boolean {
  return FOLDER.test(path) && !HIDDEN_NAME.test(path);
}

/** Whether a file of this path, likewise relative, may be a sub-agent's transcript. */
export function isTranscript(path: string): boolean {
  return AGENT.test(path) && !HIDDEN_NAME.test(path);
}

/** The file that describes a transcript, by the transcript's name; null for other sessions. */
export function aboutTranscript(fileName: string): string | null {
  const name = /^(agent-.+)\.jsonl$/.exec(fileName)?.[1];
  return name === undefined ? null : `${name}.meta.json`;
}

/** Whether the agent writes a file of this path, likewise relative. */
export function isSideFile(path: string): boolean {
  return [TRANSCRIPT, WORKFLOW, TOOL_RESULT].some((form) => form.test(path)) && !HIDDEN_NAME.test(path);
}
