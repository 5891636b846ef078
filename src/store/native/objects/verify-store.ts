// What git itself finds wrong in a store, and which files its history changed in place: two gits beside each other, each of
// which reads the repository once.
import { join } from "node:path";
import type { RewrittenFile, StoreVerdict } from "../../conversation-store.ts";
import { type GitCommand, type Repository, tryCommand } from "../git/git-command.ts";
import type { GitResult } from "../git/git-process.ts";

const FSCK: GitCommand = { args: ["fsck", "--full", "--no-dangling", "--no-reflogs", "--no-progress"] };
/** What is never changed, or only grows, stands in these; in the last, too, what an agent writes anew on each save. */
const FOLDERS = ["conversation.json", "turns", "compactions", "config", "meta", "attachments", "sources"];
const LOG: GitCommand = {
  args: [
    "log",
    "-z",
    "--branches",
    "--full-history",
    "--no-renames",
    "--diff-filter=M",
    "--raw",
    "--no-abbrev",
    "--no-color",
    "--no-show-signature",
    "--format=%x01%H",
    "--",
    ...FOLDERS,
  ],
};

/** Verifies the repository of a store. */
export async function verifyStore(repository: Repository): Promise<StoreVerdict> {
  const [fsck, log] = await Promise.all([runFsck(repository), tryCommand(repository, LOG)]);
  const output = `${fsck.stdout.toString()}\n${fsck.stderr}`;
  const problems = output
    .split("\n")
    .filter((line) => /^(error|fatal|missing|broken link|bad |dangling)/.test(line.trim()));
  // A history that cannot be walked is named by fsck, with what is missing of it.
  return { problems, rewritten: log.code === 0 ? parseRewrites(log.stdout.toString("utf8")) : [] };
}

/** Git writes the trees of a sparse index while it looks at it: on a read-only disk it cannot, and calls that an error. */
async function runFsck(repository: Repository): Promise<GitResult> {
  const result = await tryCommand(repository, FSCK);
  if (!/unable to create temporary file/.test(result.stderr)) return result;
  return await tryCommand(repository, {
    ...FSCK,
    extraEnv: { GIT_INDEX_FILE: join(repository.gitDir, "jpg-no-index") },
  });
}

/** Parses `--raw -z`: a commit, then `:<modes> <from> <to> M` and the path of each file. */
function parseRewrites(output: string): readonly RewrittenFile[] {
  const rewritten: RewrittenFile[] = [];
  let commit = "";
  const tokens = output.split("\0");
  for (const [at, token] of tokens.entries()) {
    const start = token.indexOf("\u0001");
    if (start >= 0) commit = token.slice(start + 1, start + 41);
    const [, from, to] = /:\d+ \d+ ([0-9a-f]{40}) ([0-9a-f]{40}) M$/.exec(token) ?? [];
    if (from !== undefined && to !== undefined) rewritten.push({ commit, path: tokens[at + 1] ?? "", from, to });
  }
  return rewritten;
}
