// What stands beside a session, in a folder of its own. Only what the agent itself writes there is read: of names that it
// gives, regular files, never through a link, and no more than fits.
import { type Dirent, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { type JpgError, messageOf, userError } from "../../core/errors.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { SessionFiles, SideFileRules } from "../../formats/agent-format.ts";
import type { CompanionRule } from "../../formats/session-source.ts";
import { companionName, companionOf } from "./companion.ts";
import { MOST_OF_A_SESSION, readRegularFile } from "./regular-file.ts";
import type { SessionFile } from "./session-files.ts";
import { agents } from "./session-registry.ts";
import { refusalOf } from "./side-path.ts";

/** What an import took from the folder beside a session. */
export interface SideFilesReport {
  /** How many files of the agent the conversation holds now, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Names of what the agent did not write, folders with `/` at their end: not looked into, not taken. */
  readonly left: readonly string[];
}

/** A file beside a session. `path` is relative, `/` between names. */
export interface SideFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** What was left out of the agent's files beside a session, and why. */
export interface LeftOut {
  readonly path: string;
  readonly error: JpgError;
}

/** What stands in the folder of a session: paths relative to it, `/` between names, ordered. */
export interface SideListing {
  /** Absolute. */
  readonly folder: string;
  readonly files: readonly string[];
  /** What the agent does not write, folders with `/` at their end; they were not looked into. */
  readonly others: readonly string[];
  /** Folders of the agent that cannot be read. */
  readonly leftOut: readonly LeftOut[];
}

export interface SideFiles {
  readonly files: readonly SideFile[];
  readonly leftOut: readonly LeftOut[];
  readonly others: readonly string[];
}

/** Lists what stands beside a session file by the rules of its agent; nothing where the agent has none. */
export async function listSideFiles(file: SessionFile, rules: SideFileRules | undefined): Promise<SideListing> {
  const name = file.path === "-" ? null : (rules?.folder(basename(file.path)) ?? null);
  if (rules === undefined || name === null) return { folder: "", files: [], others: [], leftOut: [] };
  const folder = join(dirname(file.path), name);
  const files: string[] = [];
  const others: string[] = [];
  const leftOut: LeftOut[] = [];
  const list = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((error: unknown) => {
      leftOut.push(notStored(join(folder, below), error));
      return [];
    });
    for (const entry of entries) {
      const path = posix.join(below, entry.name);
      const kind = kindOf(entry, path, rules);
      if (kind === "folder") await list(path);
      else if (kind === "file") files.push(path);
      else others.push(entry.isDirectory() ? `${path}/` : path);
    }
  };
  if (isFolder(folder)) await list("");
  return { folder, files: files.sort(), others: others.sort(), leftOut };
}

/** What any agent may have written beside the file: which one did is known only once the file is read. Relative and full paths. */
export async function allSideFiles(file: SessionFile): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { files: kept } of agents()) {
    const { folder, files } = await listSideFiles(file, kept.beside);
    for (const path of files) found.set(path, join(folder, path));
    const companion = companionOf(file.path, kept.companion);
    if (companion !== null) found.set(basename(companion), companion);
  }
  return found;
}

/** A link is neither: the agent makes none. */
function kindOf(entry: Dirent, path: string, rules: SideFileRules): "folder" | "file" | "other" {
  if (entry.isDirectory() && rules.holdsFolder(path)) return "folder";
  return entry.isFile() && rules.holdsFile(path) ? "file" : "other";
}

/** Reads the files beside a session that can be stored under `sources/<session>/files`, its second file last. */
export async function readSideFiles(
  file: SessionFile,
  { session, rules }: { readonly session: string; readonly rules: SessionFiles },
): Promise<SideFiles> {
  const { folder, files: paths, others, leftOut: unread } = await listSideFiles(file, rules.beside);
  const companion = companionOf(file.path, rules.companion);
  const all = paths.map((path) => ({ path, full: join(folder, path) }));
  if (companion !== null) all.push({ path: basename(companion), full: companion });
  const files: SideFile[] = [];
  const leftOut = [...unread];
  let room = MOST_OF_A_SESSION;
  for (const { path, full } of all) {
    const refusal = refusalOf(path, `sources/${session}/files`);
    try {
      if (refusal !== null) throw new Error(refusal.reason);
      const bytes = await readRegularFile(full, room);
      files.push({ path, bytes });
      room -= bytes.length;
    } catch (error) {
      leftOut.push(notStored(full, error));
    }
  }
  return { files, leftOut, others };
}

/** The text of a session's second file among those that were read; null where there is none. */
export function companionText(
  path: string,
  { files }: Pick<SideFiles, "files">,
  rule: CompanionRule | undefined,
): string | null {
  const name = companionName(basename(path), rule);
  const found = name === null ? undefined : files.find((file) => file.path === name);
  return found === undefined ? null : found.bytes.toString("utf8");
}

/** What tells of a session, larger than it ever is, bytes. */
const LARGEST_ABOUT = 64 * 1024;

/** Reads the file that tells of a session; null where there is none that can be read. */
export async function readAbout(file: SessionFile, { about }: SessionFiles): Promise<string | null> {
  const name = file.path === "-" ? null : (about?.(basename(file.path)) ?? null);
  if (name === null) return null;
  try {
    return (await readRegularFile(join(dirname(file.path), name), LARGEST_ABOUT)).toString("utf8");
  } catch {
    return null; // older versions wrote none; the session itself says whose it is
  }
}

/** What an import says of the files beside a session; nothing when there are none. */
export function reportSideFiles({ files, others }: Pick<SideFiles, "files" | "others">): {
  readonly side_files?: SideFilesReport;
} {
  if (files.length === 0 && others.length === 0) return {};
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return { side_files: { files: files.length, bytes, left: others } };
}

/** A link to a folder is none: the agent makes the folder itself. */
function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // nothing can be looked at there
  }
}

function notStored(full: string, cause: unknown): LeftOut {
  const path = forTerminalLine(full);
  const error = userError(
    "side_file_left_out",
    `${path} was left out: ${messageOf(cause)}. The session was imported.`,
    {
      hints: [
        "Files that the agent wrote beside a session are stored with it. To have this one stored, rename or move it.",
      ],
      cause,
      data: { path },
    },
  );
  return { path, error };
}
