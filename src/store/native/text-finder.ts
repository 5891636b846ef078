// Finds files of commits that hold a text, through one `git grep` for many commits. It looks at bytes: what the text means
// in a file is for the caller to check.
import type { TextQuery } from "../conversation-store.ts";
import { commandError, type GitCommand, type Repository, tryCommand } from "./git/git-command.ts";

/** Commits named in one command line: far below what any system allows. */
const COMMITS_PER_CALL = 1000;
/** Git's way of saying that nothing was found. */
const NOTHING = 1;

/** Gives the paths of each commit's files that hold one of the texts, in path order; commits without any are left out. */
export async function findText(
  repository: Repository,
  commits: readonly string[],
  query: TextQuery,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  if (query.texts.length === 0) return found;
  for (let at = 0; at < commits.length; at += COMMITS_PER_CALL) {
    const command = grepCommand(commits.slice(at, at + COMMITS_PER_CALL), query);
    const result = await tryCommand(repository, command);
    if (result.code > NOTHING || result.code < 0) throw await commandError(repository, command, result);
    for (const line of result.stdout.toString("utf8").split("\0")) {
      const colon = line.indexOf(":");
      if (colon < 0) continue;
      const [commit, path] = [line.slice(0, colon), line.slice(colon + 1)];
      const paths = found.get(commit) ?? [];
      found.set(commit, paths);
      paths.push(path);
    }
  }
  return found;
}

function grepCommand(commits: readonly string[], { texts, under, ignoreCase = false }: TextQuery): GitCommand {
  const flags = ["-l", "-z", "-F", "--text", "--full-name", "--no-color", ...(ignoreCase ? ["-i"] : [])];
  return {
    // The texts stand in a file of their own: one may begin with a dash or be long.
    args: ["grep", ...flags, "-f", "-", ...commits, "--", ...under],
    input: texts.map((text) => `${text}\n`).join(""),
    // The user's settings must not change what is found.
    config: ["grep.fallbackToNoIndex=false", "submodule.recurse=false", "core.quotePath=false"],
    extraEnv: { GIT_LITERAL_PATHSPECS: "1" },
  };
}
