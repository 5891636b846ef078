// Gives every branch of a jpg store its merge options, so that a stock `git merge` never takes one compaction record for a
// renamed copy of another. Written straight into the config file under git's own lock: one write for any number of branches.
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryError } from "../../../core/errors.ts";
import { isAbandoned } from "../../files/abandoned.ts";
import type { Repository } from "../git/git-command.ts";
import { readFileIfThere } from "./ref-reader.ts";

const LOCK_ATTEMPTS = 200;
const LOCK_WAIT_MS = 10;

/** Whether a config file's text is that of a jpg store (`jpg.format`). */
export function isStoreConfig(text: string): boolean {
  return /^\s*\[\s*jpg\s*\]/im.test(text);
}

/** Sets the merge options of branches that have none; does nothing in a repository that jpg did not make. */
export async function configureBranches(
  repository: Pick<Repository, "gitDir">,
  names: readonly string[],
): Promise<void> {
  const path = join(repository.gitDir, "config");
  const missingIn = (text: string): string[] => [...new Set(names)].filter((name) => !text.includes(sectionOf(name)));
  const before = (await readFileIfThere(path)) ?? "";
  if (!isStoreConfig(before) || missingIn(before).length === 0) return;
  const lock = await takeLock(repository.gitDir, `${path}.lock`);
  try {
    const text = (await readFileIfThere(path)) ?? "";
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    await lock.writeFile(text + separator + missingIn(text).map(sectionOf).join(""));
    await lock.close();
    await rename(`${path}.lock`, path);
  } catch (error) {
    await lock.close();
    await rm(`${path}.lock`, { force: true });
    throw error;
  }
}

// Repeated sections of one branch are fine with git, so what stock git put there before stays as it is.
function sectionOf(name: string): string {
  return `[branch "${name.replace(/["\\]/g, "\\$&")}"]\n\tmergeOptions = -Xfind-renames=100%\n`;
}

async function takeLock(gitDir: string, path: string): ReturnType<typeof open> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      return await open(path, "wx");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (attempt === 0 && (await isAbandoned({ gitDir, cwd: gitDir }, path))) await rm(path, { force: true });
      await sleep(LOCK_WAIT_MS);
    }
  }
  throw repositoryError("config_locked", `another process holds ${path}`, {
    hints: ["wait for it and run the command again", `when no git runs, remove ${path}`],
  });
}
