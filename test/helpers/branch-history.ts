// What the history of branches says, read with stock git: which commits a branch holds, and which records
// (compactions, settings, marks) the last word on each leaves there. Nothing of jpg's own reading of history is used.
import type { Clone } from "./clones.ts";

interface Commit {
  readonly parents: readonly string[];
  /** Records that it brought and took back; none of jpg's own merges, which are what is looked at. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Whether it tells of a fork: the fork's records are none of the branch's then. */
  readonly isTold: boolean;
  /** The tips that a pull put together in it, in whichever order; null of any other commit. */
  readonly meeting: string | null;
}

/** The commits of all branches of a store. */
export type History = ReadonlyMap<string, Commit>;

const RECORD = /^.\t(compactions|config|meta)\//;

/** Reads the history of all branches. */
export function readHistory({ git }: Clone): History {
  const log = git(
    "log",
    "--branches",
    "--topo-order",
    "-m",
    "--no-renames",
    "--name-status",
    "--format=%x00%H%n%P%n%s",
  );
  const history = new Map<string, Commit>();
  // A merge comes once for each of its parents.
  for (const entry of log.split("\0").filter((one) => one !== "")) {
    const [commit = "", parents = "", subject = "", ...files] = entry.split("\n");
    const isMerge = parents.includes(" ");
    const records = isMerge && !isStockMerge(subject) ? [] : files.filter((line) => RECORD.test(line));
    const touched = (status: "A" | "D"): readonly string[] =>
      records.filter((line) => line.startsWith(status)).map((line) => line.slice(2));
    const { added = [], removed = [] } = history.get(commit) ?? {};
    history.set(commit, {
      parents: parents.split(" ").filter((parent) => parent !== ""),
      added: [...added, ...touched("A")],
      removed: [...removed, ...touched("D")],
      isTold: isMerge && /^merge .* as turn \d+$/.test(subject),
      meeting:
        isMerge && /^merge [0-9a-f]{9} into [0-9a-f]{9}$/.test(subject) ? parents.split(" ").sort().join() : null,
    });
  }
  return history;
}

/** Git decides by itself where one side took a record back and the other took it back and brought it again: that is a word, too. */
function isStockMerge(subject: string): boolean {
  return subject.startsWith("Merge ");
}

/** The commits that a tip reaches, itself among them. */
export function reachedFrom(history: History, tip: string): ReadonlySet<string> {
  const seen = new Set([tip]);
  // A set also gives what is added to it while it is gone through.
  for (const commit of seen) for (const parent of history.get(commit)?.parents ?? []) seen.add(parent);
  return seen;
}

/** What somebody said of a record: that it is to be there, or not; null where a merge had to choose. */
interface Word {
  readonly commit: string;
  readonly isAdded: boolean | null;
}

/**
 * Records by what the last word on each says: `brought` were brought and not taken back since, `takenBack` the other way
 * round. Where the last words of two sides that met ever differed, neither has it, until the next word. `known` = those that a
 * word was ever said of.
 */
export function lastWords(
  history: History,
  tip: string,
): { readonly brought: readonly string[]; readonly takenBack: readonly string[]; readonly known: ReadonlySet<string> } {
  const words = new Map<string, ReadonlyMap<string, readonly Word[]>>();
  // Parents come first.
  for (const commit of [...history.keys()].reverse()) {
    const { parents, added, removed, isTold } = history.get(commit) as Commit;
    const said = new Map(
      meet(
        history,
        commit,
        (isTold ? parents.slice(0, 1) : parents).map((one) => words.get(one)),
      ),
    );
    for (const path of removed) said.set(path, [{ commit, isAdded: false }]);
    for (const path of added) said.set(path, [{ commit, isAdded: true }]);
    words.set(commit, said);
  }
  const saying = (isAdded: boolean): readonly string[] =>
    [...(words.get(tip) ?? [])]
      .filter(([, all]) => all.every((word) => word.isAdded === isAdded))
      .map(([path]) => path);
  return { brought: saying(true), takenBack: saying(false), known: new Set(words.get(tip)?.keys()) };
}

/** The last words of all sides; of those that differ, that a merge chose. */
function meet(
  history: History,
  merge: string,
  sides: readonly (ReadonlyMap<string, readonly Word[]> | undefined)[],
): ReadonlyMap<string, readonly Word[]> {
  const [only, ...others] = sides;
  if (others.length === 0) return only ?? new Map();
  const paths = new Set(sides.flatMap((side) => [...(side?.keys() ?? [])]));
  return new Map(
    [...paths].map((path) => {
      const all = sides.flatMap((side) => side?.get(path) ?? []);
      const isLast = ({ commit }: Word): boolean =>
        !all.some((other) => other.commit !== commit && reachedFrom(history, other.commit).has(commit));
      const last = all.filter(isLast);
      const differ = new Set(last.map(({ isAdded }) => isAdded)).size > 1;
      return [path, differ ? [{ commit: merge, isAdded: null }] : last];
    }),
  );
}
