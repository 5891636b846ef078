import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listOutgoing } from "../../../../src/store/native/remotes/history.ts";
import { createTempStore, git, type TempStore } from "../../../helpers/temp-repository.ts";

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
