import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listOutgoing, listTouching, presentCommits } from "../../../src/store/git/merge-bases.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

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

describe("what is told from the newest commits", () => {
  let temp: TempStore;
  beforeEach(async () => {
    temp = await createTempStore();
  });
  afterEach(() => temp.remove());
  const run = (...args: string[]): string => git(temp.root, temp.env, args);
  /** Without git in PATH only that is known which needs none. */
  const place = (hasGit: boolean) => ({
    gitDir: join(temp.root, ".git"),
    cwd: temp.root,
    env: hasGit ? temp.env : { ...temp.env, PATH: "/nowhere" },
  });
  const tree = (...names: string[]): string => {
    const blob = git(temp.root, temp.env, ["hash-object", "-w", "--stdin"], "x");
    return git(temp.root, temp.env, ["mktree"], names.map((name) => `100644 blob ${blob}\t${name}\n`).join(""));
  };
  const commit = (files: string[], ...parents: string[]): string =>
    run("commit-tree", tree(...files), "-m", "x", ...parents.flatMap((one) => ["-p", one]));
  const touching = (known: string[], tips: string[], hasGit = true) =>
    listTouching(place(hasGit), { tips, known }, ".gitmodules");

  it("is which tips reach a change of a file", async () => {
    const base = commit(["a"]);
    const clean = commit(["a", "b"], base);
    const added = commit(["a", ".gitmodules"], base);
    const removed = commit(["c"], added);
    const joined = commit(["a", "b", "c"], clean, removed);
    expect(await touching([base], [clean], false)).toEqual([]);
    expect(await touching([], [clean], false)).toEqual([]);
    expect(await touching([base], [clean, added])).toEqual([added]);
    expect(await touching([clean], [removed, joined])).toEqual([removed, joined]);
    // What the other side has is passed over, but for what goes on with it.
    expect(await touching([added], [removed])).toEqual([removed]);
    expect(await touching([added], [commit(["d", ".gitmodules"], added)])).toEqual([]);
    expect(await touching([joined], [joined])).toEqual([]);
  });

  it("is left to git where history is far, or not what commits say", { tags: ["slow"] }, async () => {
    const base = commit(["a"]);
    const clean = commit(["a", "b"], base);
    let far = clean;
    for (let n = 0; n < 65; n++) far = commit([`${n}`], far);
    await expect(touching([base], [far], false)).rejects.toMatchObject({ code: "git_missing" });
    expect(await touching([base], [far])).toEqual([]);
    for (const name of ["shallow", "info/grafts"]) {
      writeText(join(place(true).gitDir, name), name === "shallow" ? `${clean}\n` : "");
      await expect(touching([base], [clean], false)).rejects.toMatchObject({ code: "git_missing" });
      expect(await touching([base], [clean])).toEqual([]);
      writeText(join(place(true).gitDir, "shallow"), "");
    }
  });

  it("is which commits are here, without those that are something else", async () => {
    const [one, other] = [commit(["a"]), commit(["b"])];
    expect(await presentCommits(place(false), [one, other])).toEqual(new Set([one, other]));
    expect(await presentCommits(place(false), [])).toEqual(new Set());
    const here = await presentCommits(place(true), [one, tree("a"), "ab".repeat(20), other]);
    expect(here).toEqual(new Set([one, other]));
  });
});
