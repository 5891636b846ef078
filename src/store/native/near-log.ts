// The log of a short history, read from git's files: what `git log` says of it, entry by entry and in the same order. Whatever is
// not plain, or far, is left to git.
import type { LogEntry, LogQuery } from "../conversation-store.ts";
import type { IsAside } from "../sharing.ts";
import { type NearChanges, nearChanges } from "./objects/near-changes.ts";
import { isFar, type NearCommit, type NearCommits, needNear, openNearCommits } from "./objects/near-commits.ts";
import { parseCommit } from "./writes/commit-object.ts";

/** Steps that lead on, each of them. */
const PLAIN_PATH = /^(?!\.\.?(?:\/|$))[^/]+(?:\/(?!\.\.?(?:\/|$))[^/]+)*$/;

/** The log, newest first; null when git has to be asked. */
export async function readNearLog(gitDir: string, query: LogQuery): Promise<readonly LogEntry[] | null> {
  const { from, paths = [] } = query;
  if (!/^[0-9a-f]{40}$/.test(from) || !paths.every((path) => PLAIN_PATH.test(path))) return null;
  const commits = openNearCommits(gitDir);
  try {
    return await readEntries(commits, query);
  } catch (error) {
    if (isFar(error)) return null;
    throw error;
  } finally {
    commits.close();
  }
}

async function readEntries(
  commits: NearCommits,
  { from, paths = [], limit, isAside }: LogQuery,
): Promise<readonly LogEntry[]> {
  const areNewest = paths.length === 0 && limit !== undefined;
  const history = areNewest ? readLine(commits, from, limit) : needNear(commits.reached([from]));
  const own = new Set(isAside === undefined || paths.length === 0 ? history : await leaveAside(history, isAside));
  return byDate(history)
    .filter((commit) => own.has(commit))
    .map((commit) => ({ commit, changes: nearChanges(commits, commit, paths) }))
    .filter(({ changes }) => paths.length === 0 || changes.isTouched)
    .map(({ commit, changes }) => toEntry(commit, changes))
    .slice(0, limit);
}

/** The newest few, the first among them. Behind a merge git has an order of its own. */
function readLine(commits: NearCommits, from: string, limit: number): readonly NearCommit[] {
  let last = needNear(commits.read(from));
  const line = [last];
  while (line.length < limit && last.parents.length > 0) {
    last = needNear(last.parents.length > 1 ? null : commits.read(last.parents[0] ?? ""));
    line.push(last);
  }
  return line;
}

/** What leads from the newest commit to others, where merges that are aside lead to their first parent alone. */
async function leaveAside(history: readonly NearCommit[], isAside: IsAside): Promise<ReadonlySet<NearCommit>> {
  const all = new Map(history.map((commit) => [commit.commit, commit]));
  const own = new Set(history.slice(0, 1));
  // A set also gives what is added to it while it is gone through.
  for (const commit of own) {
    const isCut = commit.parents.length > 1 && (await isAside(commit));
    for (const parent of isCut ? commit.parents.slice(0, 1) : commit.parents) {
      const found = all.get(parent);
      if (found !== undefined) own.add(found);
    }
  }
  return own;
}

/** As `git log --date-order`: no parent before its child, else the newest first, of two that are as old the one that was met first. */
function byDate(history: readonly NearCommit[]): readonly NearCommit[] {
  const all = new Map(history.map((commit) => [commit.commit, commit]));
  const children = new Map<string, number>();
  for (const parent of history.flatMap(({ parents }) => parents)) children.set(parent, (children.get(parent) ?? 0) + 1);
  const times = new Map(history.map((commit) => [commit, parseCommit(commit.bytes).committer.seconds]));
  const timeOf = (commit: NearCommit): number => times.get(commit) ?? 0;
  const waiting = history.slice(0, 1);
  const sorted: NearCommit[] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    sorted.push(next);
    for (const parent of next.parents) {
      children.set(parent, (children.get(parent) ?? 0) - 1);
      const found = children.get(parent) === 0 ? all.get(parent) : undefined;
      if (found === undefined) continue;
      const at = waiting.findIndex((other) => timeOf(other) < timeOf(found));
      waiting.splice(at < 0 ? waiting.length : at, 0, found);
    }
  }
  return sorted;
}

function toEntry({ commit, bytes, message }: NearCommit, { added, removed }: NearChanges): LogEntry {
  const { parents, author, committer } = parseCommit(bytes);
  return { commit, parents, author, committer, message, added, removed };
}
