// Stock git knows what a pulled branch follows: it compares, pulls and pushes without being told where.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isPlainConfig } from "../../src/store/git/guard.ts";
import { createImportedSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

describe.each(["branches", "hidden"] as const)("a branch that was pulled from a remote with %s", (as) => {
  let sandbox: Sandbox & { readonly conversation: string };
  let talks: string;
  let main: string;
  const inTalks = (...words: string[]): string => sandbox.git(words, talks);

  beforeAll(async () => {
    sandbox = await createImportedSandbox(3);
    main = `${sandbox.conversation}/main`;
    talks = join(sandbox.root, "talks");
    const bare = join(sandbox.root, "bare.git");
    sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
    await sandbox.jpg([
      "import",
      sandbox.session("other.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000bb" })),
    ]);
    await sandbox.jpg(["use", sandbox.conversation]);
    await sandbox.jpg(["remote", "add", "team", bare, "--as", as]);
    expect(await sandbox.jpg(["push", "--all"])).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["clone", bare, talks])).toMatchObject({ code: 0 });
    await sandbox.jpg(["use", main], { cwd: talks });
  });
  afterAll(() => sandbox.remove());

  it("is compared, pulled and pushed by stock git", async () => {
    expect(inTalks("status", "-sb").trim()).toBe(`## ${main}...origin/${main}`);
    await sandbox.jpg(["compact", "--to", "1"]);
    await sandbox.jpg(["push"]);
    inTalks("fetch", "--quiet");
    expect(inTalks("status", "-sb").trim()).toBe(`## ${main}...origin/${main} [behind 1]`);
    inTalks("pull", "--quiet", "--ff-only");
    expect(inTalks("status", "-sb").trim()).toBe(`## ${main}...origin/${main}`);
    expect(await sandbox.json(["log"], { cwd: talks })).toHaveLength(1);
    await sandbox.jpg(["undo"], { cwd: talks });
    inTalks("push", "--quiet", ...(as === "branches" ? ["origin", "HEAD"] : []));
    expect(await sandbox.json(["pull"])).toMatchObject({ branches: [{ branch: main, status: "updated" }] });
  });

  it("is one of all that came, in a config file that is still plain, and forgotten with the remote", async () => {
    const following = (): string[] => inTalks("config", "--get-regexp", "^branch\\..*\\.merge$").trim().split("\n");
    expect(following()).toHaveLength(2);
    const config = (): string => readFileSync(join(talks, ".git", "config"), "utf8");
    expect(isPlainConfig(config())).toBe(true);
    // Pulled again nothing is noted down twice.
    await sandbox.jpg(["pull"], { cwd: talks });
    expect(following()).toHaveLength(2);
    expect(await sandbox.jpg(["remote", "rm", "origin"], { cwd: talks })).toMatchObject({ code: 0 });
    expect(config()).not.toContain("merge =");
    expect(config().match(/mergeOptions/g)).toHaveLength(2);
  });
});
