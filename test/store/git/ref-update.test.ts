import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moveBranches } from "../../../src/store/git/refs.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

let temp: TempStore;
beforeEach(async () => {
  temp = await createTempStore();
  run(["hash-object", "-w", "-t", "tree", "/dev/null"]);
});
afterEach(() => temp.remove());

const run = (args: readonly string[]): string => git(temp.root, temp.env, args).trim();
const commit = (message: string): string =>
  run(["commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", message]);

const MANY = 200;

describe("moveBranches", () => {
  it("moves all but the stale ones, and a branch that is listed twice once, with few gits", async () => {
    const [one, other] = [commit("one"), commit("other")];
    for (const name of ["c7", "c150"]) run(["update-ref", `refs/heads/${name}/main`, other]);
    const moves = Array.from({ length: MANY }, (_, index) => ({ branch: `c${index}/main`, expected: null, to: one }));
    const twice = { branch: "c3/main", expected: null, to: other };
    const trace = join(temp.folder, "trace");
    const repository = { gitDir: join(temp.root, ".git"), cwd: temp.root, env: { ...temp.env, GIT_TRACE: trace } };
    const moved = await moveBranches(repository, [...moves, twice]);
    expect(moved.flatMap((isMoved, index) => (isMoved ? [] : [index]))).toEqual([7, 150, MANY]);
    expect(run(["rev-parse", "c3/main", "c7/main", "c150/main"]).split("\n")).toEqual([one, other, other]);
    expect(run(["for-each-ref", "--format=x", "refs/heads"]).split("\n").length).toBeGreaterThanOrEqual(MANY);
    const started = readFileSync(trace, "utf8").match(/built-in: git update-ref/g) ?? [];
    expect(started.length).toBeLessThan(40);
  });
});
