// One agent as a value: how to find, recognise, read, write and resume its sessions. Pure: it says where files are and opens
// none. A capability that the agent lacks is absent.
import type { Compaction } from "../core/conversation/compaction.ts";
import type { View } from "../core/conversation/event.ts";
import { shellWord } from "../core/safe-text.ts";
import type { ToolDialect } from "./common-tools.ts";
import type { ExportOrigin, ImportedSession, SessionName, Sha1 } from "./imported-session.ts";
import type { LiveEdits, LiveSummary, RunningSession } from "./live-writer.ts";
import type { SentLog } from "./sent-requests.ts";
import type {
  BaseRule,
  CompanionRule,
  RawLine,
  ResumePlan,
  ScatterRule,
  SessionDescent,
  SessionSource,
  SessionStart,
} from "./session-source.ts";

/** An agent and the format of its sessions. */
export interface AgentFormat {
  /** As typed after `--with` and `--to`; the name of its folder here; part of the names of imported conversations. Never changes. */
  readonly name: string;
  /** Shown name; with the address, author and committer of imported turns. */
  readonly agent: { readonly name: string; readonly email: string };
  /** Version of its importer: raise it when the same bytes would give other events. */
  readonly importer: number;
  readonly files: SessionFiles;
  /** The agent's own session store, such as a database; absent = it keeps sessions as files. */
  readonly store?: AgentStore;
  /** Recognises a session of this agent by its first lines or keys. Never throws. */
  detect(source: SessionSource): boolean;
  /** Reads the session's id without reading the whole file; null when the file names none. Never throws. */
  sessionId(source: SessionSource): string | null;
  /** Reads which conversation jpg exported the session from; null for the agent's own. Never throws. */
  origin(source: SessionSource): ExportOrigin | null;
  /**
   * Reads which session this one comes from; null for one without a parent. `about` = the text of the file that describes it,
   * null = there is none; `folder` = the name of the folder that holds it. Never throws. Absent = its sessions never have
   * parents.
   */
  readonly descent?: (source: SessionSource, about: string | null, folder?: string) => SessionDescent | null;
  /**
   * Reads where a session begins; null when it has no such line. Never throws. Absent = no session is a copy of another one's
   * lines with their ids.
   */
  readonly start?: (source: SessionSource) => SessionStart | null;
  /** Reads a session; `about` as for `descent`, `companion` = the text of its second file. Throws `not_a_session`. */
  read(source: SessionSource, about?: string | null, companion?: string | null): ImportedSession;
  /**
   * Gives the tokens of system prompt and tools that the version which wrote a line sends, as measured; null when the line
   * does not say.
   */
  readonly overhead?: (line: string) => number | null;
  /** Absent = its sessions name no version. */
  readonly versions?: AgentVersions;
  /** What was really sent, where its files hold it (`check --sent`); absent = they hold none. */
  readonly sent?: SentLog;
  /** Decodes the encoded texts of a line, for the search for secrets. Absent = none are encoded. */
  readonly plainLine?: (line: string) => string;
  /** Its names for common tools, to translate other agents' calls when exporting. */
  readonly tools?: ToolDialect;
  /** Writes sessions (`export --to`). */
  readonly write?: SessionWriter;
  /** Plans how a written session is resumed (`resume --with`). */
  readonly resume?: (machine: Machine, draft: SessionDraft) => ResumePlan;
  /** Program and arguments that open a session of its own by its id, in the directory that the session began in. */
  readonly reopen?: (sessionId: string) => readonly string[];
  /** The model provider that it uses on a machine; absent = it resumes sessions of any. */
  readonly provider?: (machine: Machine) => string;
  /** Settings that make it call jpg and offer jpg's tools (`hooks install`). */
  readonly setup?: AgentSetup;
  /** Puts a view into a running session (`jpg live`); absent = the agent takes messages, or nothing. */
  readonly live?: LiveWriter;
  readonly help: AgentHelp;
}

/** What paths depend on. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  readonly home: string;
  /** The system's name in node; absent = one like Linux. */
  readonly platform?: string | undefined;
  /** Joins names to a path as this system writes it. */
  join(...names: string[]): string;
  /** SHA-256 of a text as 64 hex digits: some agents name folders by it. */
  sha256(text: string): string;
  /** Reads a small file, such as an agent's list of its folders; null if it is missing. Never throws. */
  readText(path: string): string | null;
  /** Lists the names in a folder, sorted; empty if it is missing. Never throws. */
  namesIn(path: string): readonly string[];
}

/** Where session files are, and their names. */
export interface SessionFiles {
  /** Name endings, e.g. `.jsonl`, to look for below a folder that the user names. */
  readonly endings: readonly string[];
  /** Whether the rest of a file's name, and its folder, allow a session; absent = always. */
  readonly isNamed?: (fileName: string, folder: string) => boolean;
  /**
   * The extension, `[a-z0-9]+`, of a session that is one document, rewritten on each save: it is stored whole, and compared
   * turn by turn to find what is new. Null = lines that are only appended: they are stored in pieces, and compared by bytes.
   * Absent = all are lines.
   */
  readonly document?: (source: SessionSource) => string | null;
  /** Settings files, absolute, that may say where the agent keeps a directory's sessions; absent = none do. */
  readonly settings?: (machine: Machine, directory: string) => readonly string[];
  /**
   * Folders that may hold the sessions of a directory and those below it; absent = nowhere that jpg can look. If a folder is
   * listed twice, the more specific entry counts. `settings` = the texts of the settings files in order, null for a missing
   * one.
   */
  readonly folders?: (
    machine: Machine,
    directory: string,
    settings?: readonly (string | null)[],
  ) => readonly SessionFolder[];
  /**
   * Reads the directory that a session began in from the beginning of its file; `folder` = the name of the folder that holds
   * it. Null = not stated. Never throws. Absent = sessions never say.
   */
  readonly directory?: (beginning: SessionSource, folder: string) => SessionDirectory | null;
  /** Whether the file with this name is the session of the agent that started this process, by its environment. */
  readonly isCallers?: (env: Machine["env"], fileName: string) => boolean;
  /** Path, from a session's folder, of the file that describes it; `folder` = that folder's name. Null or absent = there is none. */
  readonly about?: (fileName: string, folder?: string) => string | null;
  /** Days after the last change at which the agent deletes a session, by its settings; absent = it deletes none. Never throws. */
  readonly keptDays?: (machine: Machine) => number;
  /** Rule for a session's second file; absent = each has one file. */
  readonly companion?: CompanionRule;
  /** Sessions that are many small files; absent = none are. */
  readonly scattered?: ScatterRule;
  /** Rule for files that continue another file; absent = each is complete. */
  readonly base?: BaseRule;
  readonly sideFiles?: SideFileRules;
}

/**
 * A directory as a session names it: by its path, in any spelling, or only by the path's SHA-256, 64 hex digits. `wasMoved` =
 * the session's folder is not named after that path: somebody moved it.
 */
export type SessionDirectory = { readonly path: string; readonly wasMoved?: boolean } | { readonly sha256: string };

/** How much of a file is read to decide how to read it, bytes. */
export const SESSION_BEGINNING: number = 64 * 1024;

/** A folder in which an agent keeps sessions. */
export interface SessionFolder {
  /** Absolute; need not exist. */
  readonly path: string;
  /** Levels of subfolders that hold sessions as well; absent = none. */
  readonly levels?: number;
  /** The directory that all its sessions began in; absent = each says it (`SessionFiles.directory`). */
  readonly directory?: string;
  /**
   * True = named after the directory in question: a session that names none may be of it. False = named after another; absent
   * = it holds sessions of all directories.
   */
  readonly isOwn?: boolean;
}

/**
 * An agent's own session store. Its program runs in the user's home folder, where no project decides what runs; each session
 * that it prints is kept as a file and read like any other.
 */
export interface AgentStore {
  /** Files, absolute: the first that exists changes whenever the store does; if none exists, the agent was never used. */
  files(machine: Machine): readonly string[];
  /** Name ending of the kept files. */
  readonly ending: string;
  /** Program and arguments that list all sessions. */
  readonly list: readonly string[];
  /** Parses the list; null = it is no list. Never throws. */
  readList(printed: string): readonly StoredSession[] | null;
  /** Program and arguments that print a session. */
  print(session: string): readonly string[];
}

/** A session in an agent's own store. */
export interface StoredSession {
  /** `[A-Za-z0-9_]+`: used in a file name and as an argument of the agent's program. */
  readonly id: string;
  /** Its project's directory, absolute. */
  readonly directory: string;
  /** Last change, milliseconds since 1970. */
  readonly changed: number;
}

/** What an agent writes into a folder of the session's own. Nothing else there is read. */
export interface SideFileRules {
  /** Name of the folder, next to the session's file; null for a file without one. */
  folder(fileName: string): string | null;
  /** Whether the agent writes files into a folder of this path, `/` between names, relative to the session's folder. */
  holdsFolder(path: string): boolean;
  /** Whether the agent writes a file of this path, likewise relative. */
  holdsFile(path: string): boolean;
  /** Whether such a file may be a sub-agent's session; absent = none is. */
  readonly isSession?: (path: string) => boolean;
}

/** Writes views as sessions. Ids derive from what is written: the same export is the same bytes. */
export interface SessionWriter {
  sessionId(name: SessionName, sha1: Sha1): string;
  /** Derives the id of a line, message or part from its name (`imported-session.ts`): `ImportedSession.hasLine` looks for it. */
  lineId(sessionId: string, name: string, sha1: Sha1): string;
  /** Renders the session's file, with `origin` where the agent tolerates it. */
  write(draft: SessionDraft): string;
  /** Whether the agent hides without deleting, as jpg does: then drafts have a `history`. */
  readonly takesHistory?: true;
}

export interface DraftHistory {
  /** Every turn in full; payloads are included. */
  readonly view: View;
  /** The compactions that turn it into the draft's view, in any order. */
  readonly compactions: readonly Compaction[];
}

export interface SessionDraft {
  /** What the agent is to send to its model; payloads are included. */
  readonly view: View;
  /** Absent if the writer takes none, or if the full history is exported. */
  readonly history?: DraftHistory;
  readonly sessionId: string;
  readonly origin: ExportOrigin;
  /** The project's directory, absolute. */
  readonly cwd: string;
  readonly title: string;
  /** Model that will read it: reasoning of another family is omitted. */
  readonly model?: string;
  /** The model provider that the agent uses on this machine; absent = not known, or the agent takes any. */
  readonly provider?: string;
  readonly sha1: Sha1;
  /** SHA-256 of a text as 64 hex digits. */
  readonly sha256: (text: string) => string;
}

/** Settings that make an agent call jpg. What it has no setting for is absent. */
export interface AgentSetup {
  /**
   * Has it run a shell line when a session ends, and before it compacts one, with JSON on standard input in which
   * `transcript_path` names the session's file, `cwd` the directory.
   */
  readonly hooks?: (place: SetupPlace, line: string) => SettingsPart;
  /** Whether it runs that line in git's POSIX shell on Windows; absent = there cmd.exe or PowerShell gets one of plain words. */
  readonly hasShellOnWindows?: boolean;
  /** Adds the MCP server that a command starts: a program and its arguments. */
  readonly server?: (place: SetupPlace, command: readonly string[]) => SettingsPart;
  /** Makes jpg work inside the running agent. */
  readonly live?: LiveSetup;
  /** jpg's plug-in as the agent itself installs it: read, never written. */
  readonly ownPlugin?: OwnPlugin;
  /** Its program, and the folder of its files: a machine that has one of them has the agent. */
  readonly program: string;
  readonly folder: (machine: Machine) => string;
  /** Other place where the user may have named servers for a project: read, never written. */
  readonly ownServers?: (machine: Machine, project: string) => JsonPlace;
  /** Lists of servers from the project's own settings that the user refused: read, never written. */
  readonly refusedServers?: (machine: Machine, project: string) => readonly JsonPlace[];
  /** Whether it rewrites session files in place: a hard link would be rewritten with them. */
  readonly rewrites?: boolean;
  /** What the user must do before the agent runs its hooks, a sentence; absent = nothing. */
  readonly approve?: string;
}

/** How jpg gets into the running agent. */
export interface LiveSetup {
  /** `line` = the shell line that tells the model, where a hook asks for it, what a compaction took away. */
  readonly part: (place: SetupPlace, line: string) => SettingsPart | PluginPart;
  /** Whether the hooks that keep sessions are needed, too; false = it keeps them itself, from the place of the hooks' file. */
  readonly needsHooks: boolean;
  /** Whether it gives the model jpg's tools, so that the server must not. */
  readonly hasTools: boolean;
  /** What the user does next, a sentence. */
  readonly next: string;
}

/** jpg's plug-in from an agent's marketplace, extensions or list of packages, as its own files say. */
export interface OwnPlugin {
  /** What it does, so that jpg need not install it. */
  readonly does: readonly ("hooks" | "server" | "live")[];
  /** Finds it in one place. Undefined = that place says nothing of it, null = it is off there. Never throws. */
  readonly find: (place: SetupPlace, read: ReadSettings) => FoundPlugin | null | undefined;
}

/** Reads the value of a key in an agent's JSON or TOML file; undefined if it is missing, or the file damaged. Never throws. */
export type ReadSettings = (path: string, key: string) => unknown;

export interface FoundPlugin {
  /** The file that names it. */
  readonly path: string;
  /** How the user removes it: ends with what to type, or is a sentence. */
  readonly removal: string;
}

/** Says what the user types to remove a plug-in. */
export function removalBy(...words: readonly string[]): string {
  return `To remove the plug-in: ${words.map(shellWord).join(" ")}`;
}

/** Resolves the name of a folder in a settings file, which may be relative to the file's own folder. */
export function folderNamed({ home, join }: Machine, base: string, name: string): string {
  const path = name.replace(/^file:\/\//, "");
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path) ? join(path) : join(base, path);
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

/** How a view gets into a running session. A form that the agent does not take is absent. */
export interface LiveWriter {
  /**
   * Lists the edits that lead from what the session sends now, edits in force included, to the view. The view after an undo
   * gives those that restore. Linear in the session; never throws on data.
   */
  readonly edits?: (session: RunningSession, view: View) => LiveEdits;
  /** Splits a view into a text and the entries after it; null if its end is not the session's own, or nothing precedes it. */
  readonly summary?: (session: RunningSession, view: View) => LiveSummary | null;
  /**
   * File of the edits in force, absolute, for an agent that stores none in its session: `edits` then lists all of them each
   * time. Null for an id that is no file name. Absent = the agent stores edits itself.
   */
  readonly file?: (machine: Machine, sessionId: string) => string | null;
}

/** Texts about an agent for help and messages. */
interface AgentHelp {
  /** Where its sessions are kept, a sentence. */
  readonly place: string;
  /** A session file, as typed. */
  readonly file: string;
  /** Which files jpg reads and what becomes of them, sentences. */
  readonly reads: string;
  /** What is not imported or exported, a sentence each; the file's bytes are kept in any case. */
  readonly lost: readonly string[];
  /** A file that `jpg export -o` writes, and what takes it; absent when the agent takes none. */
  readonly takes?: { readonly file: string; readonly by: string };
  /** The command that adds the tools of `jpg mcp`. */
  readonly addServer?: string;
}

// Changes to an agent's settings, as values: which file, and what goes into it. Pure; `src/app/import` applies and removes them.

/** A change to one settings file. */
export type SettingsPart = { readonly path: string } & (JsonPart | TomlPart | FilePart);

/** Entries of a JSON file, which may contain comments. */
interface JsonPart {
  readonly type: "json";
  /** Never empty. */
  readonly entries: readonly JsonEntry[];
}

export interface JsonEntry {
  /** Keys from the top of the file down, never empty. */
  readonly keys: readonly string[];
  readonly value: JsonValue;
  /** True = an item of the list there; false = the value itself. */
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
  /** Its first line says that jpg wrote it. */
  readonly text: string;
}

/** Files of jpg's package that are copied into an agent's folder: a plug-in. */
export interface PluginPart {
  readonly type: "plugin";
  /** Its only file, or a folder that is the plug-in's own. */
  readonly path: string;
  /** Folder that gets the files, absolute. */
  readonly folder: string;
  /** Folder below `plugins/` in jpg's package. */
  readonly source: string;
  /** Names below both folders, `/` between names; written in this order: the last makes the agent load the others. Never empty. */
  readonly files: readonly string[];
  /** What the agent itself writes among them, removed with them; absent = nothing. */
  readonly byAgent?: readonly AgentFile[];
}

/** A file or folder that an agent writes, known by words in a file. Names as in `PluginPart`. */
export interface AgentFile {
  readonly name: string;
  readonly saidIn: string;
  readonly words: string;
}

interface AgentVersions {
  /** The newest that jpg was tested with, e.g. `2.1.330`. */
  readonly tried: string;
  /** Reads the version that wrote a session from its first or last lines. Never throws. */
  versionOf(source: SessionSource): string | undefined;
}

/** Lines searched at each end. */
const LINES_LOOKED_AT = 50;

/** Finds a version in a session's last lines, which name the newest one after an update, else in its first lines. */
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

const VERSION = /^\d{1,6}(?:\.\d{1,6}){0,3}[\w.+-]{0,20}$/;

/** Compares the first two numbers only: formats do not change with the third. */
export function isNewerVersion(version: string, tried: string): boolean {
  const [one, other] = [version, tried].map((each) => each.split(".").map((part) => Number.parseInt(part, 10) || 0));
  const [major = 0, minor = 0] = one ?? [];
  const [triedMajor = 0, triedMinor = 0] = other ?? [];
  return major > triedMajor || (major === triedMajor && minor > triedMinor);
}

/** Adds a shell line to each event. `timeout` = longest wait, in the agent's own unit. */
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

/** Adds an MCP server in the form that most agents use: by name under one key. */
export function namedServer(key: string, [program = "", ...args]: readonly string[]): JsonPart {
  return { type: "json", entries: [{ keys: [key, "jpg"], value: { command: program, args }, isItem: false }] };
}

/**
 * Renders plug-in code, in JavaScript: `keep(event)` runs the line with the event on standard input and never throws. The line is one
 * for the system that the plug-in is on.
 */
export function keepFunction(line: string): string {
  return `import { spawnSync } from "node:child_process";

const LINE = ${JSON.stringify(line)};

function keep(event) {
  try {
    const stdio = ["pipe", "ignore", "ignore"];
    const { platform, env } = process;
    const cmd = env.ComSpec || "C:\\\\Windows\\\\System32\\\\cmd.exe";
    const [shell, ...words] = platform === "win32" ? [cmd, "/d", "/c"] : ["/bin/sh", "-c"];
    spawnSync(shell, [...words, LINE], { input: JSON.stringify(event), stdio, timeout: 10000, windowsHide: true });
  } catch {
    // A session that is not kept is no reason to stop the agent.
  }
}
`;
}
