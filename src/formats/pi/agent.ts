// Finds, reads and resumes sessions of pi.
import {
  type AgentFormat,
  findVersion,
  type Machine,
  type SessionDirectory,
  type SessionDraft,
  type SessionFolder,
} from "../agent-format.ts";
import { lineUuid, sessionUuid, toUsableId } from "../imported-session.ts";
import {
  nonBlankStringOf,
  parseJsonLine,
  type RawLine,
  type SessionDescent,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { isHeader, parseSessionLine, readPiOrigin } from "./entries.ts";
import { PI_LIVE } from "./live.ts";
import { isPiSession, PI_IMPORTER, piSessionId, readPiSession } from "./read.ts";
import { PI_SETUP, piFolder } from "./setup.ts";
import { sessionTime, writePiSession } from "./write.ts";

/** `<time>_<session>.jsonl`, below folders of any system. */
const FILE = /(?:^|[/\\])[^/\\_]*_([^/\\]+)\.jsonl$/;

/** Reads the parent session from the header, which names the parent's file; null for a session without a parent. Never throws. */
function piDescent(source: SessionSource): SessionDescent | null {
  const header = source.lineCount === 0 ? null : parseSessionLine(source.line(0));
  if (header === null || typeof header === "string" || !isHeader(header)) return null;
  const session = FILE.exec(nonBlankStringOf(header, "parentSession") ?? "")?.[1];
  return session === undefined ? null : { kind: "fork", sessions: [toUsableId(session)] };
}

/** The agent's folder for a directory's sessions, unless a setting names another. */
function sessionFolder(machine: Machine, directory: string): string {
  const slug = directory.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
  return machine.join(defaultFolder(machine), `--${slug}--`);
}

function defaultFolder(machine: Machine): string {
  return machine.join(piFolder(machine), "sessions");
}

/** Its settings files, lowest priority first: the user's, then the project's. */
function settingsFiles(machine: Machine, directory: string): readonly string[] {
  return [machine.join(piFolder(machine), "settings.json"), machine.join(directory, ".pi", "settings.json")];
}

/** The folders of a directory's sessions, then those of all others; `settings` = the texts of the settings files. */
function sessionFolders(
  machine: Machine,
  directory: string,
  settings: readonly (string | null)[] = [],
): readonly SessionFolder[] {
  const { PI_CODING_AGENT_SESSION_DIR: fromEnvironment = "" } = machine.env;
  const named =
    fromEnvironment === "" ? settings.map(folderNamedIn).findLast((folder) => folder !== undefined) : fromEnvironment;
  return [
    { path: sessionFolder(machine, directory), isOwn: true },
    ...(named === undefined ? [] : [{ path: pathOf(machine, directory, named) }]),
    { path: defaultFolder(machine), levels: 1, isOwn: false },
  ];
}

/** Settings that cannot be read name no folder. */
function folderNamedIn(settings: string | null): string | undefined {
  const read = settings === null ? null : parseJsonLine(settings);
  return read === null || typeof read === "string" ? undefined : nonBlankStringOf(read, "sessionDir");
}

/** Resolves a folder's name as pi does: `~` is the home folder, a relative name starts from the directory. */
function pathOf({ home, join }: Machine, directory: string, name: string): string {
  if (name === "~") return home;
  if (name.startsWith("~/")) return join(home, name.slice(2));
  return /^(?:[/\\]|[A-Za-z]:)/.test(name) ? name : join(directory, name);
}

/** Several directories share a folder; the header names the directory that a session began in. */
function piDirectory(beginning: SessionSource): SessionDirectory | null {
  const header = beginning.lineCount === 0 ? null : parseSessionLine(beginning.line(0));
  if (header === null || typeof header === "string" || !isHeader(header)) return null;
  const path = stringOf(header, "cwd") ?? "";
  return path === "" ? null : { path };
}

const ENDING = ".jsonl";

export const PI: AgentFormat = {
  name: "pi",
  agent: { name: "pi", email: "pi@jpg.invalid" },
  importer: PI_IMPORTER,
  files: {
    endings: [ENDING],
    settings: settingsFiles,
    folders: sessionFolders,
    directory: piDirectory,
  },
  detect: isPiSession,
  sessionId: piSessionId,
  origin: readPiOrigin,
  descent: piDescent,
  read: readPiSession,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writePiSession },
  resume: (machine, draft) => {
    const path = machine.join(sessionFolder(machine, draft.cwd), fileName(draft));
    return {
      path,
      command: ["pi", "--session", path],
      hints: [
        "PI_CODING_AGENT_DIR names another folder for pi's files.",
        "`jpg export --to pi -o FILE` writes anywhere; `pi --session FILE` takes it.",
      ],
    };
  },
  reopen: (sessionId) => ["pi", "--session", sessionId],
  setup: PI_SETUP,
  live: PI_LIVE,
  // pi only names the version of the format.
  versions: {
    tried: "3",
    versionOf: (source) => findVersion(source, parseSessionLine, (line) => (isHeader(line) ? versionOf(line) : "")),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "read", keys: { path: "path" } },
    write: { name: "write", keys: { path: "path", content: "content" } },
    search: { name: "grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "find", keys: { pattern: "pattern", path: "path" } },
  },
  help: {
    place:
      "pi keeps its sessions under ~/.pi/agent/sessions (or PI_CODING_AGENT_DIR, or where its setting `sessionDir` says).",
    file: "~/.pi/agent/sessions/--home-me-app--/2026-01-02T10-00-00-000Z_4f2e….jsonl",
    reads:
      "Sessions of versions 1 to 3 of the format, as pi 0.73 and 1.6 write them. Its compactions and edits become compactions, other branches of the tree become forks (`--all-branches`), and a session forked from another becomes a fork of its conversation.",
    lost: [
      "Answers that were broken off become notes: pi does not send them either.",
      "Of other agents' reasoning, only what Anthropic signed is exported.",
    ],
    takes: { file: "4f2e.jsonl", by: "a session that `pi --session FILE` takes" },
  },
};

function versionOf({ version }: RawLine): unknown {
  return typeof version === "number" ? String(version) : version;
}

/** pi lists sessions by the time at the start of their names. */
function fileName(draft: SessionDraft): string {
  return `${sessionTime(draft).replace(/[:.]/g, "-")}_${draft.sessionId}${ENDING}`;
}
