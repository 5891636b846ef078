// What stands in a git dir before something is written there. Git follows links in its own folders, appends to reflogs through
// them and waits on pipes; whoever handed a store over may have put one to a file of the user's.
import { readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type JpgError, repositoryError } from "../../core/errors.ts";
import { shellWord } from "../../core/shell-word.ts";
import { isMissing } from "./read-file.ts";

/** Entries at the top that users link on purpose: git and jpg write nothing through them that is not theirs. */
const MAY_BE_LINKS: ReadonlySet<string> = new Set(["HEAD", "hooks", "objects"]);
/** Folders that are looked through, however deep. */
const WALKED: ReadonlySet<string> = new Set(["logs", "refs", "worktrees"]);

/** Makes sure that git finds only files and folders where it writes: throws `store_unsafe`, naming the first link, pipe or device. */
export function requireOwnGitDir(gitDir: string): void {
  for (const entry of readFolder(gitDir)) {
    if (MAY_BE_LINKS.has(entry.name) || entry.isFile()) continue;
    if (!entry.isDirectory()) throw unsafe(gitDir, join(gitDir, entry.name), entry.isSymbolicLink());
    if (WALKED.has(entry.name)) requireOwnFolder(gitDir, join(gitDir, entry.name));
  }
}

function requireOwnFolder(gitDir: string, folder: string): void {
  for (const entry of readFolder(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) requireOwnFolder(gitDir, path);
    // Git once made symbolic refs so; it never writes through them.
    else if (!entry.isFile() && !(entry.isSymbolicLink() && readlinkSync(path).startsWith("refs/")))
      throw unsafe(gitDir, path, entry.isSymbolicLink());
  }
}

function readFolder(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch (error) {
    if (isMissing(error)) return []; // gone meanwhile
    throw error;
  }
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

function unsafe(gitDir: string, path: string, isLink: boolean): JpgError {
  const what = isLink ? "is a symbolic link: git would write to what it names" : "is neither a file nor a folder";
  return repositoryError("store_unsafe", `Nothing is written to the store in ${dirname(gitDir)}: ${path} ${what}.`, {
    hints: [
      `To see what it is: ls -l ${shellWord(path)}`,
      `To remove it, when you trust the rest of the store: rm ${shellWord(path)}`,
    ],
    data: { path },
  });
}
