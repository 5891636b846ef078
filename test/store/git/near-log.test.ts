// @module-tag law
// @module-tag law
// What is read of a short history without git is what git says of it.

import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { readLog, readNearLog } from "../../../src/store/git/log.ts";
import type { LogEntry, LogQuery } from "../../../src/store/store.ts";
import { runs } from "../../helpers/runs.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

/** Files of a tree by path, as `fast-import` is told them. */
const files = fc.dictionary(fc.constantFrom("a", "b/x", "b/y", "b/z/1", "c ü", "b.x"), fc.constantFrom("1", "2"), {
  maxKeys: 5,
});
/** A commit whose parents are so many before it, so many seconds after the first; two may be as old. */
const step = fc.record({
  back: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  seconds: fc.nat({ max: 4 }),
  files,
  isAside: fc.boolean(),
});
const question = fc.record({
  paths: fc.constantFrom([], ["b"], ["a", "b/z"], ["b/x"], ["nothing"]),
  asksAside: fc.boolean(),
  limit: fc.constantFrom(undefined, 1, 2),
});

interface Step {
  readonly back: readonly number[];
  readonly seconds: number;
  readonly files: Readonly<Record<string, string>>;
  readonly isAside: boolean;
}

/** Makes the commits; gives the newest, which leads to all that nothing else leads to as well. */
function makeHistory(temp: TempStore, steps: readonly Step[]): string {
  const signed = (at: number, seconds: number): string =>
    `author A ${at} <a@x> ${1_000_000 + seconds} +0130\ncommitter C <c@x> ${1_000_000 + seconds} -0200\n`;
  const text = steps.map(({ back, seconds, files: tree, isAside }, at) => {
    const parents = back.filter((one) => one <= at).map((one) => `:${at - one + 1}`);
    const [first, ...others] = parents;
    const message = `${isAside ? "aside" : "commit"} ${at}\n\nß\n`;
    const entries = Object.entries(tree).map(
      ([path, content]) => `M 100644 inline "${path}"\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    );
    return [
      `reset refs/heads/made\ncommit refs/heads/made\nmark :${at + 1}\n${signed(at, seconds)}`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      first === undefined ? "" : `from ${first}\n`,
      ...others.map((one) => `merge ${one}\n`),
      `deleteall\n${entries.join("")}\n`,
    ].join("");
  });
  git(temp.root, temp.env, ["fast-import", "--quiet", "--force"], text.join(""));
  return git(temp.root, temp.env, ["rev-parse", "refs/heads/made"]);
}

describe("the log of a short history", () => {
  it("is git's: entries, files, order, merges and what is aside", async () => {
    const temp = await createTempStore();
    onTestFinished(temp.remove);
    const repository = { gitDir: join(temp.root, ".git"), cwd: temp.root, env: temp.env };
    // Git alone knows of grafts: where there is a file of them, it is asked for everything.
    const grafts = join(repository.gitDir, "info", "grafts");
    const byGit = async (query: LogQuery): Promise<readonly LogEntry[]> => {
      writeText(grafts, "");
      expect(await readNearLog(repository.gitDir, query)).toBeNull();
      const log = await readLog(repository, query);
      rmSync(grafts);
      return log.map(({ commit, parents, author, committer, message, added, removed }) => {
        return { commit, parents, author, committer, message, added, removed };
      });
    };
    const isAside = async ({ message }: { readonly message: string }): Promise<boolean> => message.startsWith("aside");
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 9 }),
        fc.array(question, { minLength: 3, maxLength: 3 }),
        async (steps, questions) => {
          const from = makeHistory(temp, steps);
          for (const { paths, asksAside, limit } of questions) {
            const query = {
              from,
              paths,
              ...(asksAside ? { isAside } : {}),
              ...(limit === undefined ? {} : { limit }),
            };
            const near = await readNearLog(repository.gitDir, query);
            const isMerge = (steps.at(-1)?.back ?? []).filter((one) => one < steps.length).length > 1;
            if (paths.length === 0 && limit === 2 && isMerge) expect(near).toBeNull();
            else expect(near).toEqual(await byGit(query));
          }
        },
      ),
      { numRuns: runs(25) },
    );
  });

  it("is left to git where a name, a path, a commit or a tree is not plain", async () => {
    const temp = await createTempStore();
    onTestFinished(temp.remove);
    const gitDir = join(temp.root, ".git");
    const write = (type: string, text: string): string =>
      git(temp.root, temp.env, ["hash-object", "-w", "--literally", "-t", type, "--stdin"], text);
    const tree = git(temp.root, temp.env, ["mktree"]);
    const signed = "author A <a@x> 1 +0000\ncommitter C <c@x> 1 +0000\n";
    const plain = write("commit", `tree ${tree}\n${signed}\nx\n`);
    const ask = (from: string, paths: string[] = ["a"]) => readNearLog(gitDir, { from, paths });
    expect(await ask(plain)).toEqual([]);
    expect(await ask(plain, [])).toMatchObject([{ commit: plain, message: "x\n", parents: [] }]);
    for (const path of ["", "a/", "/a", "a//b", "../a", "a/./b", "a/.."]) expect(await ask(plain, [path])).toBeNull();
    for (const from of ["HEAD", plain.slice(0, 9), "ab".repeat(20), tree]) expect(await ask(from)).toBeNull();
    const odd = [
      `tree ${tree}\n${signed}encoding ISO-8859-1\n\nx\n`,
      `tree ${tree}\n${signed.replace("A <a@x>", "<a@x>")}\nx\n`,
      `tree ${tree}\n${signed.replace("+0000", "-0000")}\nx\n`,
      `tree ${tree}\n${signed}\nx\0y\n`,
      `tree ${tree}\n${signed}parent ${plain}\n\nx\n`,
      `tree ${tree}\nparent ${"ab".repeat(20)}\n${signed}\nx\n`,
      `tree ${"ab".repeat(20)}\n${signed}\nx\n`,
    ];
    for (const text of odd) expect(await ask(write("commit", text))).toBeNull();
    const twice = `100644 b\0${"x".repeat(20)}100644 a\0${"x".repeat(20)}`;
    expect(await ask(write("commit", `tree ${write("tree", twice)}\n${signed}\nx\n`))).toBeNull();
  });
});
