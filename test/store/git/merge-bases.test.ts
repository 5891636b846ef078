// @module-tag law
// What is said of many pairs at once is what git says of each.

import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { mergeBases } from "../../../src/store/git/merge-bases.ts";
import { runs } from "../../helpers/runs.ts";
import { createTempStore, git } from "../../helpers/temp-repository.ts";

/** A commit whose parents are so many commits before it; the first has none, and so has one that names none. */
const history = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }), {
  minLength: 3,
  maxLength: 9,
});

describe("the merge bases of pairs of commits", () => {
  it("are those of git, for pairs on a line, apart, unrelated and equal", { tags: ["slow"] }, async () => {
    const store = await createTempStore();
    onTestFinished(store.remove);
    const run = (...args: string[]): string => git(store.root, store.env, args);
    const tree = git(store.root, store.env, ["mktree"]);
    const repository = { gitDir: `${store.root}/.git`, cwd: store.root, env: store.env };
    await fc.assert(
      fc.asyncProperty(history, async (shape) => {
        const commits: string[] = [];
        for (const [at, steps] of shape.entries()) {
          const parents = steps.flatMap((back) => (back <= at ? ["-p", commits[at - back] ?? ""] : []));
          commits.push(run("commit-tree", tree, ...parents, "-m", `commit ${at}`));
        }
        const pairs = commits.flatMap((one) => commits.map((other) => ({ one, other })));
        const found = await mergeBases(repository, pairs);
        const basesOf = askGit(run);
        for (const [at, { one, other }] of pairs.entries())
          expect([...(found[at] ?? [])].sort()).toEqual(basesOf(one, other));
      }),
      { numRuns: runs(6) },
    );
  });

  it("are those of a history in which merges that are aside have one parent", { tags: ["slow"] }, async () => {
    const store = await createTempStore();
    onTestFinished(store.remove);
    const run = (...args: string[]): string => git(store.root, store.env, args);
    const tree = git(store.root, store.env, ["mktree"]);
    const repository = { gitDir: `${store.root}/.git`, cwd: store.root, env: store.env };
    const firstParentOnly = async ({ message }: { readonly message: string }): Promise<boolean> =>
      message.includes("aside");
    const aside = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(history, aside, fc.boolean(), async (shape, asides, isAlone) => {
        const commits: string[] = [];
        /** The same commits, where what is aside was never merged. */
        const twins: string[] = [];
        for (const [at, steps] of shape.entries()) {
          const back = steps.filter((step) => step <= at);
          const word = asides[at] === true ? "aside" : "merge";
          for (const [made, used] of [
            [commits, back],
            [twins, word === "aside" ? back.slice(0, 1) : back],
          ] as const) {
            const parents = used.flatMap((step) => ["-p", made[at - step] ?? ""]);
            made.push(run("commit-tree", tree, ...parents, "-m", `${word} ${at}`));
          }
        }
        const pairs = commits.flatMap((one) => commits.map((other) => ({ one, other })));
        const found = isAlone
          ? await Promise.all(pairs.map(async (pair) => (await mergeBases(repository, [pair], firstParentOnly))[0]))
          : await mergeBases(repository, pairs, firstParentOnly);
        const twinOf = (commit: string): string => twins[commits.indexOf(commit)] ?? "";
        const basesOf = askGit(run);
        for (const [at, { one, other }] of pairs.entries())
          expect((found[at] ?? []).map(twinOf).sort()).toEqual(basesOf(twinOf(one), twinOf(other)));
      }),
      { numRuns: runs(8) },
    );
  });
});

/** The merge bases of two commits by git, sorted. It is asked once for both orders: a base of the one pair is one of the other. */
function askGit(run: (...args: string[]) => string): (one: string, other: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (one, other) => {
    const key = [one, other].sort().join(" ");
    const bases = known.get(key) ?? safely(() => run("merge-base", "--all", one, other)).sort();
    known.set(key, bases);
    return bases;
  };
}

/** Git ends with 1 where there is none. */
function safely(ask: () => string): string[] {
  try {
    return ask().split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
