// How a program is found and started on each system. On Windows node starts only .exe and .com files by themselves, looks in the
// current folder first, where a stranger's project may have put one, and leaves the quoting for batch files to its caller.
import { statSync } from "node:fs";
import { delimiter, join, posix, win32 } from "node:path";
import { formatBatchLine } from "../core/batch-line.ts";
import type { Environment } from "./environment.ts";

/** Where a program is looked for. */
interface ProgramPlace {
  readonly env: Environment;
  /** For a name with a folder in it; absent = the current folder. */
  readonly cwd?: string;
  readonly platform?: NodeJS.Platform;
  /** Whether a path is a file that can be started; default: asks the disk. */
  readonly isProgram?: (path: string) => boolean;
}

/** What node's `spawn` is called with. */
interface ProgramCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly windowsVerbatimArguments?: boolean };
}

/** The default of PATH. */
const USUAL_PATH = "/usr/bin:/bin";
/** The default of PATHEXT, without what only a shell or a script host opens. */
const ENDINGS: readonly string[] = [".com", ".exe", ".bat", ".cmd"];
const BATCH = /\.(?:bat|cmd)$/i;
/** A folder that does not exist: node searches the current folder for a name without one. */
const NOWHERE = "\\\\?\\nowhere";

/** Whether one of the folders of a PATH holds a program; looks at the disk a few times. */
export function hasProgram(name: string, path: string | undefined): boolean {
  return findProgram(name, { env: { PATH: path } }) !== null;
}

/** Returns the path of a program as a shell would find it, but on Windows never in the current folder; null when there is none. */
export function findProgram(name: string, place: ProgramPlace): string | null {
  const { platform = process.platform, isProgram = (path) => isStartable(path, platform) } = place;
  return candidates(name, { ...place, platform }).find(isProgram) ?? null;
}

function candidates(
  name: string,
  { env, cwd, platform }: ProgramPlace & { readonly platform: string },
): readonly string[] {
  if (platform !== "win32") {
    if (name.includes("/")) return [posix.resolve(cwd ?? ".", name)];
    return (env["PATH"] ?? USUAL_PATH).split(delimiter).map((folder) => join(folder === "" ? "." : folder, name));
  }
  const endings = endingsOf(variable(env, "PATHEXT"));
  const hasEnding = endings.some((ending) => name.toLowerCase().endsWith(ending));
  const names = hasEnding ? [name] : endings.map((ending) => name + ending);
  if (/[\\/:]/.test(name)) return names.map((each) => win32.resolve(cwd ?? ".", each));
  const folders = (variable(env, "PATH") ?? "").split(win32.delimiter).map((folder) => folder.replaceAll('"', ""));
  return folders.filter(isWholePath).flatMap((folder) => names.map((each) => win32.join(folder, each)));
}

/** `C:` and `\tools` depend on the current folder or its drive. */
function isWholePath(folder: string): boolean {
  return /^(?:[a-z]:[\\/]|[\\/]{2})/i.test(folder);
}

/** The endings of programs that node can start, in the order of PATHEXT. */
function endingsOf(pathExt: string | undefined): readonly string[] {
  const named = (pathExt ?? "")
    .toLowerCase()
    .split(";")
    .filter((ending) => ENDINGS.includes(ending));
  return named.length === 0 ? ENDINGS : named;
}

/** A variable of Windows, where `Path` and `PATH` are one. */
function variable(env: Environment, name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name && env[each] !== undefined);
  return key === undefined ? undefined : env[key];
}

/** Returns how node starts a program. Throws `argument_unfit` for a batch file that cannot get the arguments. */
export function programCall(command: readonly string[], place: ProgramPlace): ProgramCall {
  const [name = "", ...args] = command;
  if ((place.platform ?? process.platform) !== "win32") return { file: name, args, options: {} };
  const file = findProgram(name, place) ?? win32.join(NOWHERE, win32.basename(name));
  if (!BATCH.test(file)) return { file, args, options: {} };
  return {
    file: systemProgram("cmd.exe", place.env),
    args: ["/e:ON", "/v:OFF", "/d", "/s", "/c", formatBatchLine(file, args)],
    options: { windowsVerbatimArguments: true },
  };
}

/** Returns the path of a program of Windows itself. */
export function systemProgram(name: string, env: Environment): string {
  return win32.join(variable(env, "SYSTEMROOT") ?? "C:\\Windows", "System32", name);
}

function isStartable(path: string, platform: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (platform === "win32" || (found.mode & 0o111) !== 0);
  } catch {
    return false; // a folder that may not be entered
  }
}

/** Returns a POSIX shell: on Windows the one in PATH or else the one that came with git; null when there is none. */
export function findPosixShell(place: ProgramPlace): string | null {
  const found = findProgram("sh", place);
  if (found !== null || (place.platform ?? process.platform) !== "win32") return found;
  const git = findProgram("git", place);
  if (git === null) return null;
  // git.exe is in `cmd`, `bin` or `mingw64\bin` of its folder.
  const folders = [win32.dirname(win32.dirname(git)), win32.dirname(win32.dirname(win32.dirname(git)))];
  const shells = folders.map((folder) => win32.join(folder, "bin", "sh.exe"));
  return shells.find((path) => findProgram(path, place) !== null) ?? null;
}
