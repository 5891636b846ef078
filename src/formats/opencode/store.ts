// The database in which OpenCode keeps its sessions, as its own program gives them: without plug-ins, since those of a project are
// programs of whoever made the project.
import type { AgentStore, Machine, SessionDirectory, SessionFolder, StoredSession } from "../agent-format.ts";
import { parseJsonDocument } from "../json-document.ts";
import { isRecord, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";

/** A session changes with its parts, too: the agent does not always say so at the session itself. */
const QUERY =
  "select id, directory, max(time_updated, coalesce((select max(time_updated) from part where session_id = session.id), 0)) as changed from session";
/** Its name, where nothing else was said. */
const DATABASE = "opencode.db";
const ID = /^ses_[A-Za-z0-9_]{1,100}$/;

export const OPENCODE_STORE: AgentStore = {
  files: databaseFiles,
  ending: ".json",
  list: ["opencode", "--pure", "db", "--format", "json", QUERY],
  readList,
  print: (session) => ["opencode", "--pure", "export", session],
};

/** The folder for what programs keep, of jpg as of OpenCode. */
export function dataFolder({ env, home, join }: Machine): string {
  const configured = env["XDG_DATA_HOME"];
  return configured !== undefined && isAbsolute(configured) ? configured : join(home, ".local", "share");
}

/** Changes stand in a file of their own until the database takes them in, which it also does when nothing changed. */
function databaseFiles(machine: Machine): readonly string[] {
  const named = machine.env["OPENCODE_DB"];
  const folder = machine.join(dataFolder(machine), "opencode");
  const file =
    named === undefined || named === ""
      ? machine.join(folder, DATABASE)
      : isAbsolute(named)
        ? named
        : machine.join(folder, named);
  return [`${file}-wal`, file];
}

function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path);
}

/** An empty list is printed as nothing. */
function readList(printed: string): readonly StoredSession[] | null {
  const rows = parseRows(printed.trim() === "" ? "[]" : printed);
  return (
    rows?.filter(isRecord).flatMap((row): readonly StoredSession[] => {
      const [id, directory, changed] = [stringOf(row, "id"), stringOf(row, "directory"), row["changed"]];
      if (id === undefined || directory === undefined || typeof changed !== "number") return [];
      return ID.test(id) && Number.isFinite(changed) ? [{ id, directory, changed: Math.floor(changed) }] : [];
    }) ?? null
  );
}

function parseRows(text: string): readonly unknown[] | null {
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? rows : null;
  } catch {
    return null; // the program says what went wrong in words
  }
}

/** Sessions begin so; what changed in a session's files stands under the same name elsewhere. */
export function isSessionFile(fileName: string, folder: string): boolean {
  return fileName.startsWith("ses_") && !/[\\/]session_diff$/.test(folder);
}

/** Where versions before 1.2 kept sessions. Later ones take these into their database, and write none there any more. */
export function olderFolders(machine: Machine): readonly SessionFolder[] {
  const folder = machine.join(dataFolder(machine), "opencode");
  if ((machine.env["OPENCODE_DB"] ?? "") !== "" || machine.namesIn(folder).includes(DATABASE)) return [];
  return [{ path: machine.join(folder, "storage", "session"), levels: 1 }];
}

/** The directory of a session that an older version kept, as its description says. */
export function openCodeDirectory(beginning: SessionSource): SessionDirectory | null {
  const description = parseJsonDocument(beginning);
  const path = isRecord(description) ? stringOf(description, "directory") : undefined;
  return path === undefined ? null : { path };
}
