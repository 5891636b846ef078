import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listOutgoing, listTouching, presentCommits } from "../../../src/store/git/merge-bases.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

describe("listOutgoing", () => {
  let temp: TempStore;
  beforeEach(async () => {
    temp = await createTempStore();
  });
  afterEach(() => temp.remove());
  const run = (...args: string[]): string => git(temp.root, temp.env, args);
  const place = () => ({ gitDir: join(temp.root, ".git"), cwd: temp.root, env: temp.env });
  const write = (path: string, text: string): string => {
    mkdirSync(join(temp.root, path, ".."), { recursive: true });
    writeFileSync(join(temp.root, path), text);
    run("add", "--", path);
    run("commit", "-qm", path);
    return run("rev-parse", "HEAD");
  };

  it("lists what is new with its kind and path, and what all of it takes", async () => {
    const before = write("compactions/one  two.txt", "1");
    const after = write("meta/three", "3");
    const { objects, bytes } = await listOutgoing(place(), { tips: [after], known: [before] });
    expect(objects).toEqual([
      { oid: after, kind: "commit", path: "" },
      { oid: run("rev-parse", "HEAD:meta/three"), kind: "blob", path: "meta/three" },
    ]);
    expect(bytes).toBeGreaterThan(0);
    const all = await listOutgoing(place(), { tips: [after], known: [] });
    expect(all.objects.map(({ path }) => path)).toContain("compactions/one  two.txt");
  });

  it("says what git says of a commit that is not there", async () => {
    await expect(listOutgoing(place(), { tips: ["ab".repeat(20)], known: [] })).rejects.toThrow(/abab/);
  });

  it("names git where there is none", async () => {
    const nowhere = { ...place(), env: { ...temp.env, PATH: "/nowhere" } };
    await expect(listOutgoing(nowhere, { tips: ["ab".repeat(20)], known: [] })).rejects.toMatchObject({
      code: "git_missing",
    });
  });
});

describe("what commits reach", () => {
  let temp: TempStore;
  beforeEach(async () => {
    temp = await createTempStore();
  });
  afterEach(() => temp.remove());
  const run = (...args: string[]): string => git(temp.root, temp.env, args);
  const place = () => ({ gitDir: join(temp.root, ".git"), cwd: temp.root, env: temp.env });
  const tree = (...names: string[]): string => {
    const blob = git(temp.root, temp.env, ["hash-object", "-w", "--stdin"], "x");
    return git(temp.root, temp.env, ["mktree"], names.map((name) => `100644 blob ${blob}\t${name}\n`).join(""));
  };
  const commit = (files: string[], ...parents: string[]): string =>
    run("commit-tree", tree(...files), "-m", "x", ...parents.flatMap((one) => ["-p", one]));
  const touching = (known: string[], tips: string[]) => listTouching(place(), { tips, known }, ".gitmodules");

  it("is which tips reach a change of a file", async () => {
    const base = commit(["a"]);
    const clean = commit(["a", "b"], base);
    const added = commit(["a", ".gitmodules"], base);
    const removed = commit(["c"], added);
    const joined = commit(["a", "b", "c"], clean, removed);
    expect(await touching([base], [clean])).toEqual([]);
    expect(await touching([], [clean])).toEqual([]);
    expect(await touching([base], [clean, added])).toEqual([added]);
    expect(await touching([clean], [removed, joined])).toEqual([removed, joined]);
    // What the other side has is skipped, except for what continues it.
    expect(await touching([added], [removed])).toEqual([removed]);
    expect(await touching([added], [commit(["d", ".gitmodules"], added)])).toEqual([]);
    expect(await touching([joined], [joined])).toEqual([]);
  });

  it("is which commits are here, without those that are something else", async () => {
    const [one, other] = [commit(["a"]), commit(["b"])];
    expect(await presentCommits(place(), [one, other])).toEqual(new Set([one, other]));
    expect(await presentCommits(place(), [])).toEqual(new Set());
    const here = await presentCommits(place(), [one, tree("a"), "ab".repeat(20), other]);
    expect(here).toEqual(new Set([one, other]));
  });
});
