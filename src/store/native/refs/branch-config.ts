// What the configuration of a jpg store says of its branches: merge options, so that a stock `git merge` never takes one compaction
// record for a renamed copy of another; and where a branch came from, so that stock git knows what to compare it with and to
// pull. One write for any number of branches.
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import type { Repository } from "../git/git-command.ts";
import { appendConfig, rewriteConfig } from "./append-config.ts";

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

/** What branches follow: those of the same names, under a prefix, of a remote. */
interface Followed {
  readonly remote: string;
  readonly prefix: string;
}

/** Notes down, as `git clone` does, what branches follow; `names` are of those that follow nothing yet. */
export async function followRemote(
  { gitDir }: Pick<Repository, "gitDir">,
  names: readonly string[],
  followed: Followed,
): Promise<void> {
  if (names.length > 0) await appendConfig(gitDir, () => names.map((name) => followSection(name, followed)).join(""));
}

/** Forgets what `followRemote` noted down of a remote, all at once: git would write the file anew for each line. */
export async function forgetFollowed({ gitDir }: Pick<Repository, "gitDir">, remote: string): Promise<void> {
  await rewriteConfig(gitDir, (text) =>
    text.replace(FOLLOW_SECTION, (section, followed) => (followed === remote ? "" : section)),
  );
}

const FOLLOW_SECTION = /^\[branch "(?:[^"\\\n]|\\.)*"\]\n\tremote = ([\w-]+)\n\tmerge = "(?:[^"\\\n]|\\.)*"\n(?!\t)/gm;

function followSection(name: string, { remote, prefix }: Followed): string {
  return `[branch "${quote(name)}"]\n\tremote = ${remote}\n\tmerge = "${quote(prefix + name)}"\n`;
}

// Repeated sections of one branch are fine with git, so what stock git put there before stays as it is.
function sectionOf(name: string): string {
  return `[branch "${quote(name)}"]\n\tmergeOptions = -Xfind-renames=100%\n`;
}

function quote(name: string): string {
  return name.replace(/["\\]/g, "\\$&");
}
