// Whole histories: all commits of some branches with what each changed, and histories that are written anew. What is written has
// no name until all of it stands.
import { defined } from "../../core/json.ts";
import type {
  BranchTip,
  BranchWrite,
  CommitSpec,
  Histories,
  HistoryCommit,
  NewHistoryCommit,
} from "../conversation-store.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import { type Repository, runCommand } from "./git/git-command.ts";
import { LOG_CONFIG, LOG_FORMAT, splitLog } from "./log-reader.ts";
import { configureBranches } from "./refs/branch-config.ts";
import { fastImport } from "./writes/fast-import.ts";

/** The histories of a repository. */
export function createHistories(repository: Repository): Histories {
  return {
    read: (tips) => readHistory(repository, tips),
    write: async (commits) => (await fastImport(repository, runsOf(commits))).flatMap((written) => written.commits),
    create: (branches) => createBranches(repository, branches),
  };
}

async function readHistory(repository: Repository, tips: readonly string[]): Promise<readonly HistoryCommit[]> {
  const args = [
    ...["log", "-z", "--topo-order", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--diff-merges=first-parent"],
    ...["-O/dev/null", "--no-color", "--no-notes", "--encoding=UTF-8", "--date=raw", LOG_FORMAT, "--stdin"],
  ];
  const input = tips.map((tip) => `${tip}\n`).join("");
  const output = await runCommand(repository, { args, config: LOG_CONFIG, input });
  return splitLog(output.toString("utf8")).map(({ entry, tokens }) => {
    const { added: _, removed: __, ...commit } = entry;
    return { ...commit, changes: changesOf(tokens) };
  });
}

/** `:<mode> <mode> <oid> <oid> <status>`, then the path. */
function changesOf(tokens: readonly string[]): HistoryCommit["changes"] {
  const changes: HistoryCommit["changes"][number][] = [];
  for (const [at, token] of tokens.entries()) {
    const [, mode, oid = "", status] = /^\n?:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) ([A-Z])$/.exec(token) ?? [];
    const path = tokens[at + 1];
    if (status === undefined || path === undefined) continue;
    const special = mode === "120000" ? "link" : mode === "160000" ? "repository" : undefined;
    changes.push({ path, oid: status === "D" ? null : oid, ...defined({ special }) });
  }
  return changes;
}

/**
 * The commits as fast-import takes them: each begins a write of its own unless it follows the one before. Parents are named by
 * mark: a commit's mark is its number, 1-based.
 */
async function* runsOf(commits: AsyncIterable<NewHistoryCommit>): AsyncGenerator<BranchWrite> {
  const source = commits[Symbol.asyncIterator]();
  let position = 0;
  let next = await source.next();
  const takeRun = async function* (): AsyncGenerator<CommitSpec> {
    do {
      const { parents, ...commit } = (next as IteratorYieldResult<NewHistoryCommit>).value;
      yield { ...commit, merges: parents.slice(1).map(markOf) };
      position++;
      next = await source.next();
    } while (next.done !== true && next.value.parents[0] === position - 1);
  };
  while (next.done !== true) {
    const [parent] = next.value.parents;
    yield { branch: "", expected: null, parent: parent === undefined ? null : markOf(parent), commits: takeRun() };
  }
}

function markOf(position: number): string {
  return `:${position + 1}`;
}

async function createBranches(repository: Repository, branches: readonly BranchTip[]): Promise<void> {
  const input = branches.map(({ name, commit }) => `create ${refOfBranch(name)}\0${commit}\0`).join("");
  await runCommand(repository, { args: ["update-ref", "-m", "jpg: write", "-z", "--stdin"], input });
  await configureBranches(
    repository,
    branches.map(({ name }) => name),
  );
}
