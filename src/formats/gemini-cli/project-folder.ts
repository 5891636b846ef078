// The folder in which Gemini CLI keeps what belongs to a directory. Its name is made of the directory's own, and with a number
// where another has that; a list and a file in the folder say whose it is. Before 2026 the name was a digest of the path.
import type { Machine, SessionDirectory, SessionFolder } from "../agent-format.ts";
import { parseJsonLine, recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { geminiFolder } from "./setup.ts";

/** In the folder: the directory that it belongs to. */
const OWNER_FILE = ".project_root";

/** The folders that may hold sessions of a directory: its own, that of old times, then those of all others. */
export function projectFolders(machine: Machine, directory: string): readonly SessionFolder[] {
  const tmp = temporaryFolder(machine);
  const known = knownName(machine, directory);
  const own = known === null ? { isOwn: true } : { of: directory };
  const owners = new Map(Object.entries(listedNames(machine)).map(([owner, name]) => [name, owner]));
  const others = machine.namesIn(tmp).map((name): SessionFolder => {
    const of = ownerOf(machine, name) ?? owners.get(name);
    return { path: machine.join(tmp, name), ...(of === undefined ? { isOwn: false } : { of }) };
  });
  return [
    { path: machine.join(tmp, known ?? freeName(machine, directory)), ...own },
    { path: machine.join(tmp, machine.sha256(directory)), of: directory },
    ...others,
  ];
}

/** The directory that a session was begun in: its file has the digest of the path, and nothing else of it. */
export function geminiDirectory(beginning: SessionSource): SessionDirectory | null {
  for (let line = 0; line < Math.min(beginning.lineCount, LINES_LOOKED_AT); line++) {
    const sha256 = PROJECT_HASH.exec(beginning.line(line))?.[1];
    if (sha256 !== undefined) return { sha256 };
  }
  return null;
}

const PROJECT_HASH = /"projectHash"\s*:\s*"([^"\\]+)"/;

/** What describes a session stands first in its file. */
const LINES_LOOKED_AT = 10;

/** Where a session is put for the agent to find it, and where the agent takes it to from there. */
export interface SessionPlace {
  readonly folder: string;
  /** Absent = it stays. */
  readonly later?: string;
}

/**
 * The folder that the agent looks into. One that has no name yet gets the one that the agent will give; where there is still one
 * of old times, the agent takes all that is in it to a new one.
 */
export function sessionPlace(machine: Machine, directory: string): SessionPlace {
  const tmp = temporaryFolder(machine);
  const known = knownName(machine, directory);
  if (known !== null) return { folder: machine.join(tmp, known) };
  const named = machine.join(tmp, freeName(machine, directory));
  const old = machine.join(tmp, machine.sha256(directory));
  return machine.namesIn(old).length > 0 ? { folder: old, later: named } : { folder: named };
}

/** Where the agent keeps what belongs to directories. */
function temporaryFolder(machine: Machine): string {
  return machine.join(geminiFolder(machine), "tmp");
}

/** The name in the agent's list, unless the folder is another's; else that of a folder that says it is the directory's. */
function knownName(machine: Machine, directory: string): string | null {
  const listed = listedNames(machine)[directory];
  if (listed !== undefined && [null, directory].includes(ownerOf(machine, listed))) return listed;
  const names = machine.namesIn(temporaryFolder(machine));
  return names.find((name) => ownerOf(machine, name) === directory) ?? null;
}

/** The name that the agent gives a directory that has none. */
function freeName(machine: Machine, directory: string): string {
  const taken = new Set(Object.values(listedNames(machine)));
  const slug = slugOf(directory);
  for (let count = 0; ; count++) {
    const name = count === 0 ? slug : `${slug}-${count}`;
    if (!taken.has(name) && [null, directory].includes(ownerOf(machine, name))) return name;
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
  return machine.readText(machine.join(temporaryFolder(machine), name, OWNER_FILE))?.trim() ?? null;
}

/** Names by directory; none where the agent would not take the list either. */
function listedNames(machine: Machine): Readonly<Record<string, string>> {
  const text = machine.readText(machine.join(temporaryFolder(machine), "..", "projects.json"));
  const list = text === null ? null : parseJsonLine(text);
  if (list === null || typeof list === "string") return {};
  const projects = recordOf(list, "projects") ?? {};
  const names = Object.keys(projects).map((directory) => [directory, stringOf(projects, directory) ?? ""] as const);
  return names.every(([, name]) => /^[a-z0-9-]+$/.test(name)) ? Object.fromEntries(names) : {};
}
