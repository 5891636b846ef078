// What stands in a git dir before something is written there. Git follows links in its own folders, appends to reflogs through
// them and waits on pipes; whoever handed a store over may have put one to a file of the user's.
import { type Dirent, readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JpgError } from "../../core/errors.ts";
import { isMissing, notAFile, unsafeAt } from "./read-file.ts";

/** Entries at the top that users link on purpose: git and jpg write nothing through them that is not theirs. */
const MAY_BE_LINKS: ReadonlySet<string> = new Set(["HEAD", "hooks", "objects"]);
/** Folders that are looked through, however deep. */
const WALKED: ReadonlySet<string> = new Set(["logs", "refs", "worktrees"]);

/** Makes sure that git finds only files and folders where it writes: throws `store_unsafe`, naming the first link, pipe or device. */
export function requireOwnGitDir(gitDir: string): void {
  for (const entry of readFolder(gitDir)) {
    if (MAY_BE_LINKS.has(entry.name) || entry.isFile()) continue;
    if (!entry.isDirectory()) throw unsafe(gitDir, join(gitDir, entry.name), entry.isSymbolicLink());
    if (!WALKED.has(entry.name)) continue;
    // Git once made symbolic refs so; it never writes through them.
    for (const [path, below] of entriesBelow(join(gitDir, entry.name)))
      if (!below.isFile() && !(below.isSymbolicLink() && readlinkSync(path).startsWith("refs/")))
        throw unsafe(gitDir, path, below.isSymbolicLink());
  }
}

/** Repositories, as they were opened, in which nothing was found that git would wait for. */
const looked = new WeakSet<object>();

/** Makes sure that git, which only reads, waits for no pipe: throws `store_unsafe`, naming the first pipe or device. Looks once. */
export function requireNoPipes(repository: { readonly gitDir: string }): void {
  if (looked.has(repository)) return;
  const { gitDir } = repository;
  const flat = [gitDir, join(gitDir, "info"), join(gitDir, "objects", "info")].flatMap(entriesIn);
  for (const [path, entry] of [...flat, ...entriesBelow(join(gitDir, "refs"))])
    if (!entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink())
      throw notAFile(`The store in ${dirname(gitDir)} is not read`, path);
  looked.add(repository);
}

/** An entry of a folder, and its path. */
type PlacedEntry = readonly [path: string, entry: Dirent];

function entriesIn(folder: string): readonly PlacedEntry[] {
  return readFolder(folder).map((entry) => [join(folder, entry.name), entry]);
}

/** What stands in a folder and in those below it, but for the folders themselves. */
function* entriesBelow(folder: string): Generator<PlacedEntry> {
  for (const placed of entriesIn(folder))
    if (placed[1].isDirectory()) yield* entriesBelow(placed[0]);
    else yield placed;
}

function readFolder(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return []; // gone meanwhile
    throw error;
  }
}

function unsafe(gitDir: string, path: string, isLink: boolean): JpgError {
  const so = `Nothing is written to the store in ${dirname(gitDir)}`;
  return isLink
    ? unsafeAt(`${so}: ${path} is a symbolic link: git would write to what it names.`, path)
    : notAFile(so, path);
}
