// Takes the names of branches that were removed for good out of what git remembers: the messages of its reflogs, the store's
// and those of every worktree. The lines stay, with their commits: git's own format, and its numbers, hold.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { createFile, replaceFile } from "../../files/replace-file.ts";
import { REMOVED } from "./reflog-reader.ts";
import { listGitDirs } from "./repository-dir.ts";

/** What `git switch -` goes back by: worded otherwise it passes the line over, and goes to what was there before. */
const FROM_REMOVED = `checkout: moving from ${REMOVED} to`;

/** Forgets names of branches (without `refs/heads/`) in all reflogs below a git dir. */
export async function forgetNames(gitDir: string, names: readonly string[]): Promise<void> {
  for (const own of await listGitDirs(gitDir)) {
    for (const log of await listLogs(join(own, "logs"))) await forgetIn(own, log, names);
  }
}

/** Paths of reflogs below a folder of them, from there. */
async function listLogs(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((path) => path.slice(folder.length + 1));
}

async function forgetIn(gitDir: string, log: string, names: readonly string[]): Promise<void> {
  const path = join(gitDir, "logs", log);
  const mentions = async (): Promise<string | null> => {
    const text = await readFileIfThere(path);
    return text !== null && names.some((name) => text.includes(name)) ? text : null;
  };
  if ((await mentions()) === null) return;
  // Git appends under this lock; where one is held, the names stay until the next purge.
  const lock = join(gitDir, `${log}.lock`);
  if (!(await createFile(lock, ""))) return;
  try {
    const text = await mentions();
    if (text !== null)
      await replaceFile(
        path,
        text.replace(/^([^\t\n]*\t)(.*)$/gm, (_, head, said) => head + without(said, names)),
      );
  } finally {
    await rm(lock, { force: true });
  }
}

/** A message without the names, where they stand for themselves and not within longer ones. */
function without(message: string, names: readonly string[]): string {
  return message
    .split(" ")
    .map((word) => {
      const [, start = "", name = "", end = ""] = /^(refs\/heads\/|)(.*?)([:,]?)$/.exec(word) ?? [];
      return names.includes(name) ? `${start}${REMOVED}${end}` : word;
    })
    .join(" ")
    .replace(FROM_REMOVED, `checkout: moved from ${REMOVED} to`);
}
