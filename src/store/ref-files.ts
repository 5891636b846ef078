// Reads refs from git's files: loose files first, then packed-refs.
import type * as nodeFs from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, type JpgError, repositoryError, userError } from "../core/errors.ts";
import { isTrue, readSetting } from "./config-file.ts";
import { appendToOwnFile, isMissing, readFileIfExists } from "./files.ts";
import { type Identity, type Signature, ZERO_ID } from "./store.ts";

/** A ref and its commit; null when the file holds no object id. */
export interface FoundRef {
  readonly ref: string;
  readonly commit: string | null;
}

type Files = Pick<RefPlace, "fs" | "gitDir" | "isOnDisk">;

/** Symbolic refs that are followed, as many as git does. */
const DEEPEST = 5;

/** The object a ref names, following symbolic refs; null when it names none. */
export async function readRefFile(repository: Files, ref: string, depth: number = DEEPEST): Promise<string | null> {
  const value = parseHead(await readText(repository, join(repository.gitDir, ref)));
  if (value === null) return findPackedRef((await readPackedRefs(repository)) ?? "", ref);
  if ("commit" in value) return value.commit;
  return depth > 0 ? await readRefFile(repository, value.ref, depth - 1) : null;
}

/** The ref that a change of this one changes: the target of a symbolic ref, else itself. */
export async function targetOf(repository: Files, ref: string, depth: number = DEEPEST): Promise<string> {
  const value = parseHead(await readText(repository, join(repository.gitDir, ref)));
  return value !== null && "ref" in value && depth > 0 ? await targetOf(repository, value.ref, depth - 1) : ref;
}

/** HEAD of a worktree; of the store's own when no git dir is given. */
export async function readHeadFile(repository: Files, gitDir: string = repository.gitDir): Promise<Head | null> {
  return parseHead(await readText(repository, join(gitDir, "HEAD")));
}

/** The refs whose names begin with a folder (`refs/heads/`), in byte order. */
export async function listRefs(repository: Files, folder: string): Promise<readonly FoundRef[]> {
  const found = new Map<string, string | null>();
  for (const line of ((await readPackedRefs(repository)) ?? "").split("\n")) {
    const [, oid, ref] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
    if (oid !== undefined && ref?.startsWith(folder) === true) found.set(ref, oid);
  }
  for (const ref of await listLoose(repository, folder.replace(/\/$/, ""))) {
    const text = await readText(repository, join(repository.gitDir, ref));
    // Deleted since it was listed, or packed: then packed-refs was read too early.
    if (text === null) found.set(ref, await readRefFile(repository, ref));
    else found.set(ref, parseHead(text) === null ? null : await readRefFile(repository, ref));
  }
  return [...found]
    .map(([ref, commit]) => ({ ref, commit }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
}

/** The text of packed-refs; null when there is none. */
export function readPackedRefs(repository: Files): Promise<string | null> {
  return readText(repository, join(repository.gitDir, "packed-refs"));
}

async function listLoose(repository: Files, folder: string): Promise<string[]> {
  const names: string[] = [];
  const entries = await repository.fs.promises
    .readdir(join(repository.gitDir, folder), { withFileTypes: true })
    .catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
  for (const entry of entries) {
    const name = `${folder}/${String(entry.name)}`;
    if (entry.isDirectory()) for (const inner of await listLoose(repository, name)) names.push(inner);
    else if (!name.endsWith(".lock")) names.push(name);
  }
  return names;
}

/**
 * The calls of `node:fs` that refs and the embedded engine use; memfs has them too. Synchronous, because refs are small files
 * and the thread pool costs many times what the call does.
 */
export interface FileSystem
  extends Pick<
    typeof nodeFs,
    | "appendFileSync"
    | "closeSync"
    | "fsync"
    | "mkdirSync"
    | "openSync"
    | "readdirSync"
    | "renameSync"
    | "rmdirSync"
    | "rmSync"
    | "statSync"
    | "writeFileSync"
  > {
  readonly promises: Pick<
    typeof nodeFs.promises,
    | "appendFile"
    | "lstat"
    | "mkdir"
    | "open"
    | "readdir"
    | "readFile"
    | "readlink"
    | "rename"
    | "rm"
    | "rmdir"
    | "stat"
    | "symlink"
    | "unlink"
    | "writeFile"
  >;
}

/** The repository whose refs are read and moved. */
export interface RefPlace {
  readonly fs: FileSystem;
  /** The store's own worktree, absolute. */
  readonly root: string;
  /** The git dir that all worktrees share, absolute. */
  readonly gitDir: string;
  /** Whether git and other processes may work here too; false in memory. */
  readonly isOnDisk: boolean;
  /** The author and committer of commits, and of moved refs. */
  readonly identity: (role: "author" | "committer") => Promise<Identity>;
  readonly now: () => Date;
}

/** Reads a small file as text; null when it is not there. */
export async function readText(
  { fs, isOnDisk }: Pick<RefPlace, "fs" | "isOnDisk">,
  path: string,
): Promise<string | null> {
  if (isOnDisk) return await readFileIfExists(path);
  try {
    return (await fs.promises.readFile(path)).toString("utf8");
  } catch (error) {
    if (isMissing(error) || codeOf(error) === "EISDIR") return null;
    throw error;
  }
}

/** HEAD of a worktree. */
export type Head = { readonly ref: string } | { readonly commit: string };

/** Parses the text of a ref; null when it is none. */
export function parseHead(text: string | null): Head | null {
  if (text === null) return null;
  const symbolic = /^ref:\s*(\S.*?)\s*$/.exec(text);
  if (symbolic?.[1] !== undefined) return { ref: symbolic[1] };
  const commit = /^[0-9a-f]{40,64}/.exec(text);
  return commit === null ? null : { commit: commit[0] };
}

/** Finds a ref in the text of packed-refs (`<oid> <ref>` per line). */
export function findPackedRef(text: string, ref: string): string | null {
  const end = text.indexOf(` ${ref}\n`);
  if (end < 0) return null;
  const oid = text.slice(text.lastIndexOf("\n", end) + 1, end);
  return /^[0-9a-f]{40,64}$/.test(oid) ? oid : null;
}

// Branch names that git accepts (git-check-ref-format(1)), checked before a name reaches a command or a file path.

const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$/;

/** Whether git accepts `refs/heads/<name>`. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "HEAD" || name.startsWith("-") || FORBIDDEN.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** The full name of a branch's ref. Throws `bad_branch_name`. */
export function refOfBranch(name: string): string {
  if (!isBranchName(name)) {
    throw userError("bad_branch_name", `${JSON.stringify(name)} is not a branch name that git accepts.`, {
      hints: ["Use letters, digits, `-` and one `/`, as in fix-parser-k3f9/main."],
    });
  }
  return `refs/heads/${name}`;
}

/** The branch of a full ref name, or null when it is not a branch. */
export function branchOfRef(ref: string): string | null {
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
}

/** The error for a ref whose name is another ref's file or folder: git keeps refs in files. */
export function refInTheWay(root: string, ref: string, other: string): JpgError {
  return repositoryError("ref_in_the_way", `${ref} cannot be made in ${root}: ${other} exists.`, {
    hints: ["Choose another name: none can be both a conversation and a folder of conversations."],
    data: { ref, other },
  });
}

// Reflogs: earlier values of a ref, one line a change, in git's form (git-reflog(1)). Appended while the ref is locked.

/** A change of a ref; null = it did not exist, or no longer does. */
interface RefStep {
  readonly from: string | null;
  readonly to: string | null;
  readonly message: string;
}

/** As git makes them, under the umask of the store. */
const FILE_MODE = 0o666;
/** Refs that git logs when `core.logAllRefUpdates` is true. */
const LOGGED = /^(HEAD$|refs\/(heads|remotes|notes)\/)/;

interface Reflogs {
  /** Appends to a ref's log, if it has one or should have. `gitDir` = whose HEAD is meant, e.g. a linked worktree's. */
  append(ref: string, step: RefStep, gitDir?: string): void;
}

/** Opens the reflogs for a writer that moves refs now. */
export async function openReflogs(repository: RefPlace): Promise<Reflogs> {
  const { fs, gitDir: commonDir, isOnDisk } = repository;
  const isLogged = logRule((await readText(repository, join(commonDir, "config"))) ?? "");
  const when = repository.now();
  const who = formatSignature({
    ...(await repository.identity("committer")),
    seconds: Math.floor(when.getTime() / 1000),
    offsetMinutes: -when.getTimezoneOffset(),
  });
  return {
    append(ref, { from, to, message }, gitDir = commonDir) {
      const path = join(gitDir, "logs", ref);
      if (!isLogged(ref) && fs.statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
      fs.mkdirSync(dirname(path), { recursive: true });
      const line = `${from ?? ZERO_ID} ${to ?? ZERO_ID} ${who}\t${message.replace(/\s+/g, " ")}\n`;
      if (isOnDisk) appendToOwnFile(path, line, FILE_MODE);
      else fs.appendFileSync(path, line);
    },
  };
}

/** Which refs without a log get one, by the text of the configuration. */
function logRule(config: string): (ref: string) => boolean {
  const setting = readSetting(config, "core.logallrefupdates");
  if (setting?.toLowerCase() === "always") return () => true;
  const isOn = setting === undefined ? !isTrue(readSetting(config, "core.bare")) : isTrue(setting);
  return (ref) => isOn && LOGGED.test(ref);
}

/** Formats a signature as `Name <email> seconds +zone`; removes characters that git cannot hold there. */
export function formatSignature({ name, email, seconds, offsetMinutes = 0 }: Signature): string {
  const plain = (text: string): string => text.replace(/[<>\u0000-\u001f\u007f]/g, "").trim();
  const sign = offsetMinutes < 0 ? "-" : "+";
  const minutes = Math.abs(Math.trunc(offsetMinutes));
  const zone = `${sign}${String(Math.floor(minutes / 60)).padStart(2, "0")}${String(minutes % 60).padStart(2, "0")}`;
  return `${plain(name)} <${plain(email)}> ${Math.max(0, Math.floor(seconds))} ${zone}`;
}
