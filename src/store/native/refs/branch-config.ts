// Gives every branch of a jpg store its merge options, so that a stock `git merge` never takes one compaction record for a
// renamed copy of another. One write for any number of branches.
import { join } from "node:path";
import type { Repository } from "../git/git-command.ts";
import { appendConfig } from "./append-config.ts";
import { readFileIfThere } from "./ref-reader.ts";

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
  await appendConfig(repository.gitDir, (text) => missingIn(text).map(sectionOf).join(""));
}

// Repeated sections of one branch are fine with git, so what stock git put there before stays as it is.
function sectionOf(name: string): string {
  return `[branch "${name.replace(/["\\]/g, "\\$&")}"]\n\tmergeOptions = -Xfind-renames=100%\n`;
}
