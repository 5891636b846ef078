// The newest commits of a history, read from git's files: a few of them take less than git takes to start. Where history is not
// what commits say (a shallow clone, grafts), where one is not plain, or where many would be read, git has to be asked.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createObjectFiles } from "./object-files.ts";
import { formatTree, parseTree } from "./tree-object.ts";

/** A commit as its object says. */
export interface NearCommit {
  readonly commit: string;
  readonly tree: string;
  readonly parents: readonly string[];
  /** Ends with one line end, as in a log. */
  readonly message: string;
}

/** Reads commits of a repository until closed. */
export interface NearCommits {
  /** Null when git has to be asked. */
  read(commit: string): NearCommit | null;
  /** All that commits reach, in any order, without what lies behind `known`; null when git has to be asked. */
  reached(tips: readonly string[], known?: ReadonlySet<string>): readonly NearCommit[] | null;
  /** Whether the root of a commit is known to have no entry of a name. */
  lacks(commit: NearCommit, name: string): boolean;
  close(): void;
}

/** Commits that are read at most: as many as git takes to start. */
const MOST = 64;

/** Opens the commits of a repository. */
export function openNearCommits(gitDir: string): NearCommits {
  const isTold = ["shallow", "info/grafts"].some((name) => existsSync(join(gitDir, name)));
  const files = createObjectFiles(gitDir);
  const found = new Map<string, NearCommit | null>();
  const read = (commit: string): NearCommit | null => {
    const known = found.get(commit);
    if (known !== undefined) return known;
    if (isTold || found.size >= MOST) return null;
    const object = files.read(commit);
    const near = object?.type === "commit" ? parseNear(commit, object.bytes) : null;
    found.set(commit, near);
    return near;
  };
  return {
    read,
    reached(tips, known = new Set()) {
      const commits: NearCommit[] = [];
      const seen = new Set(tips);
      // A set also gives what is added to it while it is gone through.
      for (const commit of seen) {
        const near = read(commit);
        if (near === null) return null;
        commits.push(near);
        if (!known.has(commit)) for (const parent of near.parents) seen.add(parent);
      }
      return commits;
    },
    lacks({ tree }, name) {
      const object = files.read(tree);
      const entries = object?.type === "tree" ? parseTree(object.bytes) : [];
      // Of a tree that is not as git makes them, git says what is wrong.
      const isWhole = object?.type === "tree" && formatTree(entries).equals(object.bytes);
      return isWhole && entries.every((entry) => entry.name !== name);
    },
    close: () => files.close(),
  };
}

/** Null for one in another encoding, and for one that says more than once what it says once. */
function parseNear(commit: string, bytes: Buffer): NearCommit | null {
  const end = bytes.indexOf("\n\n");
  const head = bytes.toString("latin1", 0, Math.max(end, 0));
  const [, tree, parents = ""] = /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author /.exec(head) ?? [];
  if (tree === undefined || /\n(?:parent|encoding) /.test(head.slice(46 + parents.length))) return null;
  return {
    commit,
    tree,
    parents: parents.match(/[0-9a-f]{40}/g) ?? [],
    message: `${bytes.toString("utf8", end + 2).trimEnd()}\n`,
  };
}
