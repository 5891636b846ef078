// What is sent is what was looked at: commits, not branches that may have moved since.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSharing } from "../../../src/store/git/sharing.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../../helpers/prepared-sandbox.ts";

let sandbox: ImportedSandbox;
let bare: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  bare = join(sandbox.root, "bare.git");
  sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
});
afterEach(() => sandbox.remove());

describe.each(["branches", "hidden"] as const)("pushTips of %s", (as) => {
  const prefix = as === "hidden" ? "refs/jpg/conversations" : "refs/heads";
  const push = (commit: string) => {
    const sharing = createSharing({ gitDir: join(sandbox.store, ".git"), cwd: sandbox.store, env: sandbox.env });
    const name = `${sandbox.conversation}/main`;
    return sharing.push({ name: "team", url: bare, pushUrl: bare, as }, [{ name, commit }]);
  };
  const there = (): string => sandbox.git(["for-each-ref", "--format=%(objectname) %(refname)"], bare);

  it("sends the commits that are named and no other, wherever the branches are, and leaves no files", async () => {
    const looked = sandbox.git(["rev-parse", "HEAD~1"]);
    const later = sandbox.git(["rev-parse", "HEAD"]);
    expect(await push(looked)).toEqual([{ name: `${sandbox.conversation}/main`, status: "sent", reason: "" }]);
    expect(there()).toBe(`${looked} ${prefix}/${sandbox.conversation}/main`);
    expect(() => sandbox.git(["cat-file", "-e", later], bare)).toThrow();
    expect(sandbox.git(["rev-parse", `refs/remotes/team/${sandbox.conversation}/main`])).toBe(looked);
    expect(await push(later)).toMatchObject([{ status: "sent" }]);
    expect(await push(looked)).toMatchObject([{ status: "behind" }]);
    expect(there()).toBe(`${later} ${prefix}/${sandbox.conversation}/main`);
    expect(readdirSync(join(sandbox.store, ".git")).filter((name) => /^jpg-(push|head)-/.test(name))).toEqual([]);
  });
});
