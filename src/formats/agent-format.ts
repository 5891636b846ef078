// What jpg knows of an agent, as one value: how its sessions are found, recognised, read, written and resumed. All of it is
// pure: it says where files are, and opens none itself. What an agent cannot do is absent, and nobody offers it.
import type { Compaction } from "../core/conversation/compaction.ts";
import type { View } from "../core/conversation/event.ts";
import type { ToolDialect } from "./common-tools.ts";
import type { ExportOrigin, ImportedSession, SessionName, Sha1 } from "./imported-session.ts";
import type {
  BaseRule,
  CompanionRule,
  RawLine,
  ResumePlan,
  ScatterRule,
  SessionDescent,
  SessionSource,
} from "./session-source.ts";

/** An agent and the format of its sessions. */
export interface AgentFormat {
  /** As typed after `--with` and `--to`; the name of its folder here; part of the names of imported conversations: never to change. */
  readonly name: string;
  /** What it is called; stands with the address as author and committer of imported turns. */
  readonly agent: { readonly name: string; readonly email: string };
  /** Version of its importer: to be raised when the same bytes would give other events. */
  readonly importer: number;
  readonly files: SessionFiles;
  /** The store of its own in which it keeps its sessions; absent = it keeps them as files. */
  readonly store?: AgentStore;
  /** Whether a file is a session of this agent, told from its first lines or keys. Never throws. */
  detect(source: SessionSource): boolean;
  /** The session's id without reading the whole file; null when the file names none. Never throws. */
  sessionId(source: SessionSource): string | null;
  /** The conversation that jpg exported it from; null for the agent's own. Never throws. */
  origin(source: SessionSource): ExportOrigin | null;
  /**
   * The session that it comes from; null for one that began by itself. `about` = the text of the file that tells of it, null =
   * there is none; `folder` = the name of the folder that it is in. Never throws. Absent = its sessions never come from others.
   */
  readonly descent?: (source: SessionSource, about: string | null, folder?: string) => SessionDescent | null;
  /** Reads it; `about` as for `descent`, `companion` = the text of its second file. Throws `not_a_session` for a file that is none. */
  read(source: SessionSource, about?: string | null, companion?: string | null): ImportedSession;
  /** Tokens of system prompt and tools that the version which wrote a line sends, as measured; null when the line does not say. */
  readonly overhead?: (line: string) => number | null;
  /** Which of its versions jpg knows; absent = its sessions name none. */
  readonly versions?: AgentVersions;
  /** Gives a line of its files with the texts decoded that stand coded in it, for whoever looks for secrets. Absent = none do. */
  readonly plainLine?: (line: string) => string;
  /** Its tools for what most agents do: calls of one agent are written for another as that makes them. */
  readonly tools?: ToolDialect;
  /** Writes sessions (`export --to`). */
  readonly write?: SessionWriter;
  /** Says how a written session is resumed (`resume --with`). */
  readonly resume?: (machine: Machine, draft: SessionDraft) => ResumePlan;
  /** How it is told to keep its sessions with jpg, and to use jpg's tools (`hooks install`). */
  readonly setup?: AgentSetup;
  readonly help: AgentHelp;
}

/** What paths are made of. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  readonly home: string;
  /** Joins names to a path as this system writes it. */
  join(...names: string[]): string;
  /** SHA-256 of a text as 64 hex digits: some agents name folders by it. */
  sha256(text: string): string;
  /** The text of a small file, such as an agent's list of its folders; null where there is none. Never throws. */
  readText(path: string): string | null;
  /** The names in a folder, ordered; none where there is no folder. Never throws. */
  namesIn(path: string): readonly string[];
}

/** Where the files of sessions are, and what they are called. */
export interface SessionFiles {
  /** How their names end, e.g. `.jsonl`: what is looked for below a folder that the user names. */
  readonly endings: readonly string[];
  /** Whether a file that ends so may be a session by the rest of its name, and by the folder's; absent = each may. */
  readonly isNamed?: (fileName: string, folder: string) => boolean;
  /**
   * The extension, `[a-z0-9]+`, of a session that is one document, rewritten on each save: it is stored whole, and what is new
   * in it is told by its turns. Null = lines that are only added: they are stored in pieces, and told by their bytes. Absent =
   * all are lines.
   */
  readonly document?: (source: SessionSource) => string | null;
  /** The agent's settings files that may say where it keeps the sessions of a directory, absolute; absent = none do. */
  readonly settings?: (machine: Machine, directory: string) => readonly string[];
  /**
   * Where the agent may keep the sessions of a directory, and of those below it; absent = nowhere that jpg can look. Of one folder
   * named twice what tells most counts. `settings` = the texts of its settings files in their order, null for one that is not there.
   */
  readonly folders?: (
    machine: Machine,
    directory: string,
    settings?: readonly (string | null)[],
  ) => readonly SessionFolder[];
  /**
   * The directory that a session was begun in, told from the beginning of its file; `folder` = the name of the folder that it is
   * in. Null = it does not say. Never throws. Absent = sessions never say.
   */
  readonly directory?: (beginning: SessionSource, folder: string) => SessionDirectory | null;
  /** Whether the file of this name is the session of the agent that started this process, as its environment says. */
  readonly isCallers?: (env: Machine["env"], fileName: string) => boolean;
  /** The file beside a session's that tells of it, by the session file's name; null or absent = there is none. */
  readonly about?: (fileName: string) => string | null;
  /** The second file of a session; absent = each has one. */
  readonly companion?: CompanionRule;
  /** Sessions that are many small files; absent = none are. */
  readonly scattered?: ScatterRule;
  /** Files that go on from what another file holds; absent = each is whole by itself. */
  readonly base?: BaseRule;
  readonly sideFiles?: SideFileRules;
}

/**
 * A directory as a session names it: by its path, in whatever spelling, or only by the SHA-256 of that, 64 hex digits. `wasMoved` =
 * the folder that the session is in does not have its name from that path: somebody put it there.
 */
export type SessionDirectory = { readonly path: string; readonly wasMoved?: boolean } | { readonly sha256: string };

/** As much of a file as is read to tell how it has to be read, bytes. */
export const SESSION_BEGINNING: number = 64 * 1024;

/** A folder in which an agent keeps sessions. */
export interface SessionFolder {
  /** Absolute; need not exist. */
  readonly path: string;
  /** How many levels of folders in it hold sessions as well; absent = none. */
  readonly levels?: number;
  /** The directory that all sessions there were begun in; absent = each says it (`SessionFiles.directory`). */
  readonly directory?: string;
  /**
   * Whether the folder has its name from the directory that was asked for: a session that names none may be of that one. False =
   * it has the name of another; absent = sessions of all directories are there together.
   */
  readonly isOwn?: boolean;
}

/**
 * An agent's own store of sessions. Its program is asked in the user's home folder, where no project has a say in what runs, and
 * what it prints is kept as a file for each session, which is read like any other.
 */
export interface AgentStore {
  /** Files, absolute: the first one that is there changes whenever the store does; where none is the agent was never used. */
  files(machine: Machine): readonly string[];
  /** How the names of the files end that are kept. */
  readonly ending: string;
  /** Program and arguments that list all sessions. */
  readonly list: readonly string[];
  /** Reads what was listed; null = it is no list. Never throws. */
  readList(printed: string): readonly StoredSession[] | null;
  /** Program and arguments that print a session. */
  print(session: string): readonly string[];
}

/** A session in an agent's own store. */
export interface StoredSession {
  /** `[A-Za-z0-9_]+`: it stands in the name of a file, and is an argument of the agent's program. */
  readonly id: string;
  /** The directory that it is of, absolute. */
  readonly directory: string;
  /** When it changed last, milliseconds since 1970. */
  readonly changed: number;
}

/** What an agent writes beside a session file, in a folder of the session's own. Nothing else there is taken. */
export interface SideFileRules {
  /** The folder's name, beside the session's file; null for a file that has none. */
  folder(fileName: string): string | null;
  /** Whether the agent writes files into a folder of this path, `/` between names, relative to that folder. */
  holdsFolder(path: string): boolean;
  /** Whether the agent writes a file of this path, likewise relative. */
  holdsFile(path: string): boolean;
  /** Whether such a file may be a session of its own, which an agent of this one wrote; absent = none is. */
  readonly isSession?: (path: string) => boolean;
}

/** Writes views as sessions. Ids derive from what is written: the same export is the same bytes. */
export interface SessionWriter {
  /** Gives the id of a session. */
  sessionId(name: SessionName, sha1: Sha1): string;
  /** Gives the id of a line, message or part by its name (`imported-session.ts`): what `ImportedSession.hasLine` is asked for. */
  lineId(sessionId: string, name: string, sha1: Sha1): string;
  /** Gives the text of the session's file; `origin` stands in it where the agent tolerates that. */
  write(draft: SessionDraft): string;
  /** Whether the agent hides without deleting, as jpg does: then drafts have a `history`. */
  readonly takesHistory?: true;
}

/** What a view is made of. */
export interface DraftHistory {
  /** Every turn as it was said; payloads are in place. */
  readonly view: View;
  /** The compactions under which it reads as the view of the draft, in any order. */
  readonly compactions: readonly Compaction[];
}

/** What is written as a session. */
export interface SessionDraft {
  /** What the agent is to send to its model; payloads are in place. */
  readonly view: View;
  /** Absent where the writer takes none, or the full history is what is written. */
  readonly history?: DraftHistory;
  readonly sessionId: string;
  readonly origin: ExportOrigin;
  /** The project's directory, absolute. */
  readonly cwd: string;
  readonly title: string;
  /** Model that will read it: reasoning of another family is left out. */
  readonly model?: string;
  readonly sha1: Sha1;
  /** SHA-256 of a text as 64 hex digits. */
  readonly sha256: (text: string) => string;
}

/** How an agent is told to call jpg. What it cannot be told is absent. */
export interface AgentSetup {
  /**
   * Has it run a shell line when a session ends, and before it compacts one, with JSON on standard input in which
   * `transcript_path` names the session's file, `cwd` the directory.
   */
  readonly hooks?: (place: SetupPlace, line: string) => SettingsPart;
  /** Gives it the tools of the MCP server that a command starts: a program and its arguments. */
  readonly server?: (place: SetupPlace, command: readonly string[]) => SettingsPart;
  /** Where else its user may have named servers for a project: looked at, never written. */
  readonly ownServers?: (machine: Machine, project: string) => JsonPlace;
  /** Where the names of servers stand, as lists, that its user refused of those which a project's own settings name: looked at, never written. */
  readonly refusedServers?: (machine: Machine, project: string) => readonly JsonPlace[];
  /** Whether it rewrites session files in place: what was linked only would be rewritten with them. */
  readonly rewrites?: boolean;
  /** What the user has to do before the agent calls its hooks, a sentence; absent = nothing. */
  readonly approve?: string;
}

/** A value in a JSON file. */
export interface JsonPlace {
  readonly path: string;
  /** From the top down. */
  readonly keys: readonly string[];
}

/** Whose settings: the user's, for all projects, or those of one project. */
export interface SetupPlace {
  readonly machine: Machine;
  /** Its directory, absolute; null = the user's settings. */
  readonly project: string | null;
}

/** What help texts and messages say of an agent. */
interface AgentHelp {
  /** Where its sessions are kept, a sentence. */
  readonly place: string;
  /** A session file, as a user would type it. */
  readonly file: string;
  /** Which files jpg reads and what it makes of them, sentences. */
  readonly reads: string;
  /** What does not come in with a session, or does not go out, a sentence each; the bytes of the file are kept all the same. */
  readonly lost: readonly string[];
  /** A file that `jpg export -o` writes for it, and what takes that file; absent when it takes none, or jpg writes none. */
  readonly takes?: { readonly file: string; readonly by: string };
  /** The command that gives it the tools of `jpg mcp`. */
  readonly addServer?: string;
}

// What is to stand in an agent's settings so that it calls jpg, as values: which file, and what in it. Pure; `src/app/hooks`
// writes it and takes it out again.

/** What stands in one file of settings. */
export type SettingsPart = { readonly path: string } & (JsonPart | TomlPart | FilePart);

/** Entries of a JSON file, in which comments may stand. */
interface JsonPart {
  readonly type: "json";
  /** Never empty. */
  readonly entries: readonly JsonEntry[];
}

export interface JsonEntry {
  /** Keys from the top of the file down, never empty. */
  readonly keys: readonly string[];
  readonly value: JsonValue;
  /** Whether it is one of the list there; else it is what stands there. */
  readonly isItem: boolean;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A table of a TOML file. */
export interface TomlPart {
  readonly type: "toml";
  /** As between its brackets, e.g. `mcp_servers.jpg`. */
  readonly table: string;
  /** Values by key. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
}

/** A file of jpg's own, such as a plug-in. */
interface FilePart {
  readonly type: "file";
  /** Its first line tells that jpg wrote it. */
  readonly text: string;
}

/** What a format knows of its agent's versions. */
interface AgentVersions {
  /** The newest that jpg has been tried with, e.g. `2.1.330`. */
  readonly tried: string;
  /** The version that wrote a session, as far as its first or last lines tell. Never throws. */
  versionOf(source: SessionSource): string | undefined;
}

/** How many lines are looked at, at each end. */
const LINES_LOOKED_AT = 50;

/** Finds a version in the last lines of a session, where agents that were updated meanwhile name theirs, else in the first. */
export function findVersion(
  source: SessionSource,
  parse: (text: string) => RawLine | string | null,
  versionOf: (line: RawLine) => unknown,
): string | undefined {
  const count = source.lineCount;
  const ends = Array.from({ length: Math.min(count, LINES_LOOKED_AT) }, (_, at) => [count - 1 - at, at]);
  for (const at of [...ends.map(([last]) => last), ...ends.map(([, first]) => first)]) {
    const line = parse(source.line(at ?? 0));
    const version = line === null || typeof line === "string" ? undefined : versionOf(line);
    if (typeof version === "string" && VERSION.test(version)) return version;
  }
  return undefined;
}

/** Longer texts are none. */
const VERSION = /^\d{1,6}(?:\.\d{1,6}){0,3}[\w.+-]{0,20}$/;

/** Whether a version is newer than another one, by the first two numbers: formats do not change with the third. */
export function isNewerVersion(version: string, tried: string): boolean {
  const [one, other] = [version, tried].map((each) => each.split(".").map((part) => Number.parseInt(part, 10) || 0));
  const [major = 0, minor = 0] = one ?? [];
  const [triedMajor = 0, triedMinor = 0] = other ?? [];
  return major > triedMajor || (major === triedMajor && minor > triedMinor);
}

/** Has a shell line run at each of some events. `timeout` = how long the agent waits at most, in what it counts in. */
export function commandHooks(
  events: readonly string[],
  line: string,
  { timeout }: { readonly timeout: number },
): JsonPart {
  const entries = events.map((event): JsonEntry => {
    const value = { hooks: [{ type: "command", command: line, timeout }] };
    return { keys: ["hooks", event], value, isItem: true };
  });
  return { type: "json", entries };
}

/** Names an MCP server that is started by a command, as most agents have it: by its name under one key. */
export function namedServer(key: string, [program = "", ...args]: readonly string[]): JsonPart {
  return { type: "json", entries: [{ keys: [key, "jpg"], value: { command: program, args }, isItem: false }] };
}

/** Statements of a plug-in, in JavaScript: `keep(event)` runs the line with the event on standard input; it never throws. */
export function keepFunction(line: string): string {
  return `import { spawnSync } from "node:child_process";

const LINE = ${JSON.stringify(line)};

function keep(event) {
  try {
    const stdio = ["pipe", "ignore", "ignore"];
    spawnSync("/bin/sh", ["-c", LINE], { input: JSON.stringify(event), stdio, timeout: 10000 });
  } catch {
    // A session that is not kept is no reason to stop the agent.
  }
}
`;
}
