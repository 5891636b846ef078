// The side files of a session, in a folder of its own. Reads only what the agent itself writes there: by known names, regular
// files, never through a link, up to a total size.
import { type BigIntStats, type Dirent, lstatSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { type JpgError, messageOf, userError } from "../../core/errors.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { SessionFiles, SideFileRules } from "../../formats/agent-format.ts";
import type { CompanionRule } from "../../formats/session-source.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { SessionFile } from "./session-files.ts";
import {
  agents,
  companionName,
  companionOf,
  MAX_SESSION_BYTES,
  readRegularFile,
  scatteredFiles,
} from "./session-registry.ts";

/** What an import stored of the side files. */
export interface SideFilesReport {
  /** Number of side files that the conversation has now, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Names of what the agent did not write, folders with `/` at their end: neither read nor stored. */
  readonly left: readonly string[];
}

/** A side file of a session. `path` is relative, `/` between names. */
export interface SideFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** A side file that was not stored, and why. */
interface LeftOut {
  readonly path: string;
  readonly error: JpgError;
}

/** The entries in the folder of a session: paths relative to it, `/` between names, ordered. */
interface SideListing {
  /** Absolute. */
  readonly folder: string;
  readonly files: readonly string[];
  /** What the agent did not write, folders with `/` at their end; these were not read. */
  readonly others: readonly string[];
  /** Folders of the agent that cannot be read. */
  readonly leftOut: readonly LeftOut[];
}

export interface SideFiles {
  readonly files: readonly SideFile[];
  readonly leftOut: readonly LeftOut[];
  readonly others: readonly string[];
}

/** Lists the side files of a session file by its agent's rules; none where the agent has no rules. */
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

/** What any agent may have written for a session file: only reading it shows which agent did. Relative and full paths. */
export async function allSideFiles(file: SessionFile): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { files: kept } of agents()) {
    const { folder, files } = await listSideFiles(file, kept.sideFiles);
    for (const path of files) found.set(path, join(folder, path));
    const companion = companionOf(file.path, kept.companion);
    if (companion !== null) found.set(basename(companion), companion);
  }
  return found;
}

/** A link is neither: agents make no links. */
function kindOf(entry: Dirent, path: string, rules: SideFileRules): "folder" | "file" | "other" {
  if (entry.isDirectory() && rules.holdsFolder(path)) return "folder";
  return entry.isFile() && rules.holdsFile(path) ? "file" : "other";
}

/** Reads the side files that can be stored under `sources/<session>/files`, then the session's second file. */
export async function readSideFiles(
  file: SessionFile,
  { session, rules }: { readonly session: string; readonly rules: SessionFiles },
): Promise<SideFiles> {
  const { folder, files: paths, others, leftOut: unread } = await listSideFiles(file, rules.sideFiles);
  const companion = companionOf(file.path, rules.companion);
  const all = paths.map((path) => ({ path, full: join(folder, path) }));
  if (companion !== null) all.push({ path: basename(companion), full: companion });
  const files: SideFile[] = [];
  const leftOut = [...unread];
  let room = MAX_SESSION_BYTES;
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

/** The text of a session's second file, from those that were read; null where there is none. */
export function companionText(
  path: string,
  { files }: Pick<SideFiles, "files">,
  rule: CompanionRule | undefined,
): string | null {
  const name = companionName(basename(path), rule);
  const found = name === null ? undefined : files.find((file) => file.path === name);
  return found === undefined ? null : found.bytes.toString("utf8");
}

/** Bytes: larger than any file about a session, or a list of a few thousand. */
const LARGEST_ABOUT = 1024 * 1024;

/** Reads the file about a session; null if there is none that can be read. */
export async function readAbout(file: SessionFile, { about }: SessionFiles): Promise<string | null> {
  const folder = basename(dirname(file.path));
  const name = file.path === "-" ? null : (about?.(basename(file.path), folder) ?? null);
  if (name === null) return null;
  try {
    return (await readRegularFile(join(dirname(file.path), name), LARGEST_ABOUT)).toString("utf8");
  } catch {
    return null; // older versions wrote none; the session itself names its parent
  }
}

/** The field that reports side files; empty when there are none. */
export function reportSideFiles({ files, others }: Pick<SideFiles, "files" | "others">): {
  readonly side_files?: SideFilesReport;
} {
  if (files.length === 0 && others.length === 0) return {};
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return { side_files: { files: files.length, bytes, left: others } };
}

/** Whether it is a folder, and no link: the agent makes the folder itself. */
function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // nothing can be read there
  }
}

function notStored(full: string, cause: unknown): LeftOut {
  const path = forTerminalLine(full);
  const error = userError(
    "side_file_left_out",
    `${path} was left out: ${messageOf(cause)}. The session was imported.`,
    {
      hints: [
        "Files that an agent wrote for a session are stored with it. To have this one stored, rename or move it.",
      ],
      cause,
      data: { path },
    },
  );
  return { path, error };
}

/** Bytes: the longest path that every system can check out (macOS). */
const LONGEST_PATH = 1024;
/** Names with a meaning to git anywhere in a tree. */
const GIT_NAMES: ReadonlySet<string> = new Set([".git", ".gitattributes", ".gitmodules"]);
/** Characters that macOS ignores when it compares names. */
const IGNORED_IN_NAMES = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Why a file cannot be stored, and its path up to the name that prevents it. */
interface PathRefusal {
  readonly path: string;
  readonly reason: string;
}

/** Finds why a path, `/` between names, cannot be stored below `folder` in a tree; null if it can. */
export function refusalOf(path: string, folder: string): PathRefusal | null {
  const names = path.split("/");
  for (const [index, name] of names.entries()) {
    const reason = reasonAgainst(name);
    if (reason !== null) return { path: names.slice(0, index + 1).join("/"), reason };
  }
  const bytes = Buffer.byteLength(`${folder}/${path}`);
  return bytes > LONGEST_PATH
    ? { path, reason: `its path in the store would have ${bytes} bytes, more than ${LONGEST_PATH}` }
    : null;
}

function reasonAgainst(name: string): string | null {
  if (/[\u0000-\u001f\u007f]/.test(name)) return "its name has control characters";
  if (name.includes("\\")) return "its name has a backslash, which some systems read as a folder";
  if (name.includes("\ufffd")) return "its name is not UTF-8";
  return isGitName(name) ? "git gives that name a meaning of its own" : null;
}

/** Compares like git: ignores case, for macOS ignorable characters, for Windows dots and spaces at the end. */
function isGitName(name: string): boolean {
  const plain = name.replaceAll(IGNORED_IN_NAMES, "").toLowerCase();
  const windows = plain.replace(/:.*$/s, "").replace(/[ .]+$/, "");
  return GIT_NAMES.has(plain) || GIT_NAMES.has(windows) || /^(git|gitatt|gitmod)~[0-9]+$/.test(windows);
}

// The state of a session file and its side files in the file system, as in git's index: while it does not change, the bytes have
// not changed.

export interface Fingerprint {
  /** Digest of path, size, times, inode and device of all the files, 64 hex digits. */
  readonly digest: string;
  /** Size of the session file, bytes. */
  readonly byteLength: number;
}

/** Times to the nanosecond. */
const STATE = { bigint: true } as const;
const SECOND = 1_000_000_000n;
/** Age from which a next change is certain to get another time, for file systems whose times are whole seconds. */
const COARSE_CLOCK = 2n * SECOND;
/** For other file systems. */
const FINE_CLOCK = SECOND / 10n;

/**
 * Takes the fingerprint of a session before its files are read. Null if it could not show a change: for standard input, unreadable
 * files, and files so new that another change may get the same time (git calls that racy).
 */
export async function takeFingerprint(file: SessionFile, now: () => Date): Promise<Fingerprint | null> {
  if (file.path === "-") return null;
  const clock = BigInt(now().getTime()) * 1_000_000n;
  try {
    // Synchronous: for thousands of files, the thread pool would cost far more than the calls.
    const own = statSync(file.path, STATE);
    const lines = [describe("", own)];
    let isSettled = hasSettled(own, clock);
    const parts = scatteredFiles(file.path).map((path) => [path, path] as const);
    for (const [path, full] of [...(await allSideFiles(file)), ...parts]) {
      const state = lstatSync(full, STATE);
      lines.push(describe(path, state));
      isSettled &&= hasSettled(state, clock);
    }
    return isSettled ? { digest: sha256(lines.join("\n")), byteLength: Number(own.size) } : null;
  } catch {
    return null; // reading it reports the error
  }
}

function describe(path: string, { size, mtimeNs, ctimeNs, ino, dev }: BigIntStats): string {
  return JSON.stringify([path, ...[size, mtimeNs, ctimeNs, ino, dev].map(String)]);
}

/** Whether a change from now on would get another time than the file has. */
function hasSettled({ mtimeNs, ctimeNs }: BigIntStats, clock: bigint): boolean {
  const newest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  return newest < clock - (newest % SECOND === 0n ? COARSE_CLOCK : FINE_CLOCK);
}
