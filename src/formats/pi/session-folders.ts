// Where pi keeps the sessions of a directory: in a folder of the directory's own, or all together where the environment or its
// settings name one.
import type { Machine, SessionDirectory, SessionFolder } from "../agent-format.ts";
import { parseJsonLine, stringOf } from "../json-line.ts";
import { namedUnder } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import { isHeader, parseSessionLine } from "./line.ts";
import { piFolder } from "./setup.ts";

/** The agent's folder for the sessions of a directory, where nothing names another. */
export function sessionFolder(machine: Machine, directory: string): string {
  const slug = directory.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
  return machine.join(usualFolder(machine), `--${slug}--`);
}

function usualFolder(machine: Machine): string {
  return machine.join(piFolder(machine), "sessions");
}

/** Its settings, those that count less first: the user's, the project's. */
export function settingsFiles(machine: Machine, directory: string): readonly string[] {
  return [machine.join(piFolder(machine), "settings.json"), machine.join(directory, ".pi", "settings.json")];
}

/** The folders of a directory's sessions, then those of all others; `settings` are the texts of the settings files. */
export function sessionFolders(
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
    { path: usualFolder(machine), levels: 1, isOwn: false },
  ];
}

/** Settings may be of any making; what is none names no folder. */
function folderNamedIn(settings: string | null): string | undefined {
  const read = settings === null ? null : parseJsonLine(settings);
  return read === null || typeof read === "string" ? undefined : namedUnder(read, "sessionDir");
}

/** As pi reads a folder's name: from the home folder, or from where it is started. */
function pathOf({ home, join }: Machine, directory: string, name: string): string {
  if (name === "~") return home;
  if (name.startsWith("~/")) return join(home, name.slice(2));
  return /^(?:[/\\]|[A-Za-z]:)/.test(name) ? name : join(directory, name);
}

/** Several directories have one folder: the header of a session says which one it was begun in. */
export function piDirectory(beginning: SessionSource): SessionDirectory | null {
  const header = beginning.lineCount === 0 ? null : parseSessionLine(beginning.line(0));
  if (header === null || typeof header === "string" || !isHeader(header)) return null;
  const path = stringOf(header, "cwd") ?? "";
  return path === "" ? null : { path };
}
