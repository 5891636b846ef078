// @module-tag slow

// Branches that another system has and this one cannot keep. Git fails over them; what stands in its way here is a folder in place of
// the device.
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
  for (const name of ["main", "con", "next"])
    sandbox.git(["push", "--quiet", bare, `HEAD:refs/heads/${sandbox.conversation}/${name}`]);
  sandbox.git(["update-ref", `refs/remotes/team/${sandbox.conversation}/con/inside`, "HEAD"]);
});
afterEach(() => sandbox.remove());

describe("a branch with the name of a device", () => {
  const fetch = (platform: string) => {
    const sharing = createSharing({ gitDir: join(sandbox.store, ".git"), cwd: sandbox.store, env: sandbox.env });
    return sharing.fetch({ name: "team", url: bare, pushUrl: bare, as: "branches" }, { platform });
  };
  const nameOf = (fork: string): string => `${sandbox.conversation}/${fork}`;

  it("is left out of a fetch on Windows, which brings the others", async () => {
    const { unfit, remoteBranches } = await fetch("win32");
    expect(unfit).toEqual([nameOf("con")]);
    expect([...remoteBranches].sort()).toEqual([nameOf("main"), nameOf("next")]);
  });

  it.each(["linux", "darwin"])("is git's matter on %s", async (platform) => {
    await expect(fetch(platform)).rejects.toMatchObject({ kind: "repository" });
  });
});
