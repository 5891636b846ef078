// The log of the embedded engine: walks the whole graph and compares trees; slow and simple, as a check on git's own.
import git from "isomorphic-git";
import type { LogEntry, LogQuery, TreeFile } from "../../src/store/conversation-store.ts";
import { formatMessage } from "../../src/store/native/writes/fast-import-text.ts";
import type { EmbeddedRepository } from "./embedded-repository.ts";

interface Node {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly seconds: number;
  readonly entry: Omit<LogEntry, "added" | "removed">;
}

/** Reads a log, newest first, no parent before its child; `from` is a commit id. */
export async function readEmbeddedLog(
  repository: EmbeddedRepository,
  { from, paths = [], limit }: LogQuery,
  listFiles: (commit: string) => Promise<readonly TreeFile[]>,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  const isAskedFor = (path: string): boolean =>
    paths.length === 0 || paths.some((p) => path === p || path.startsWith(`${p}/`));
  for (const node of sortByDate(await loadNodes(repository, from))) {
    const own = new Map((await listFiles(node.commit)).map(({ path, oid }) => [path, oid]));
    const theirs = await Promise.all(
      node.parents.map(async (parent) => new Map((await listFiles(parent)).map(({ path, oid }) => [path, oid]))),
    );
    const added = [...own.keys()].filter((path) => isAskedFor(path) && theirs.every((other) => !other.has(path)));
    const removed = [...(theirs[0]?.keys() ?? [])].filter(
      (path) => isAskedFor(path) && !own.has(path) && theirs.every((other) => other.has(path)),
    );
    const changed = [...own].some(
      ([path, oid]) =>
        isAskedFor(path) && theirs.length > 0 && theirs.every((other) => other.has(path) && other.get(path) !== oid),
    );
    if (paths.length === 0 || added.length + removed.length > 0 || changed)
      entries.push({ ...node.entry, added, removed });
  }
  return entries.slice(0, limit);
}

async function loadNodes(repository: EmbeddedRepository, from: string): Promise<Map<string, Node>> {
  const nodes = new Map<string, Node>();
  const open = [from];
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    if (nodes.has(oid)) continue;
    const { commit } = await git.readCommit({ ...repository, oid });
    const person = (p: typeof commit.author): LogEntry["author"] => ({
      name: p.name,
      email: p.email,
      seconds: p.timestamp,
      offsetMinutes: p.timezoneOffset === 0 ? 0 : -p.timezoneOffset,
    });
    const entry = {
      commit: oid,
      parents: commit.parent,
      author: person(commit.author),
      committer: person(commit.committer),
      message: formatMessage(commit.message),
    };
    nodes.set(oid, { commit: oid, parents: commit.parent, seconds: commit.committer.timestamp, entry });
    open.push(...commit.parent);
  }
  return nodes;
}

function sortByDate(nodes: ReadonlyMap<string, Node>): Node[] {
  const children = new Map<string, number>();
  for (const { parents } of nodes.values())
    for (const parent of parents) children.set(parent, (children.get(parent) ?? 0) + 1);
  const ready = [...nodes.values()].filter(({ commit }) => !children.has(commit));
  const sorted: Node[] = [];
  for (;;) {
    ready.sort((a, b) => a.seconds - b.seconds);
    const next = ready.pop();
    if (next === undefined) return sorted;
    sorted.push(next);
    for (const parent of next.parents) {
      const left = (children.get(parent) ?? 1) - 1;
      children.set(parent, left);
      const node = nodes.get(parent);
      if (left === 0 && node !== undefined) ready.push(node);
    }
  }
}
