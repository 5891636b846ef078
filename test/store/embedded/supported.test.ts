// Repositories that only git reads are refused by name, before anything of them is read.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../../src/store/embedded/store.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

let temp: TempStore;
beforeEach(async () => {
  temp = await createTempStore();
});
afterEach(() => temp.remove());

const open = () => openEmbeddedStore({ root: temp.root, env: temp.env, now: () => new Date() });
const config = (...args: string[]): string => git(temp.root, temp.env, ["config", ...args]);

describe("the embedded engine", () => {
  it.each([
    ["alternates", /alternates/, () => writeFileSync(join(temp.root, ".git/objects/info/alternates"), "/elsewhere\n")],
    ["a partial clone", /partial clone/, () => config("remote.origin.promisor", "true")],
    ["a partial clone of an older git", /partial clone/, () => config("extensions.partialClone", "origin")],
    ["promised packs", /partial clone/, () => writeFileSync(join(temp.root, ".git/objects/pack/pack-1.promisor"), "")],
    ["a reftable", /reftable/, () => mkdirSync(join(temp.root, ".git/reftable"))],
    ["refs kept otherwise", /reftable/, () => config("extensions.refStorage", "reftable")],
    ["SHA-256", /SHA256/, () => config("extensions.objectFormat", "sha256")],
    ["an extension that it does not know", /zebra/, () => config("extensions.zebra", "1")],
    ["a newer format", /format 2/, () => config("core.repositoryFormatVersion", "2")],
  ])("refuses %s", async (_, says, make) => {
    make();
    // git is there in these tests: the engine was chosen.
    const hints = ["Run the command again without --engine embedded."];
    await expect(open()).rejects.toMatchObject({ kind: "repository", code: "engine_unsupported", hints });
    await expect(open()).rejects.toThrow(says);
  });

  it("opens what differs in nothing that it reads", async () => {
    config("core.repositoryFormatVersion", "1");
    config("extensions.objectFormat", "sha1");
    config("extensions.worktreeConfig", "true");
    config("remote.origin.promisor", "false");
    writeFileSync(join(temp.root, ".git/objects/info/alternates"), "\n");
    const store = await open();
    expect(await store.listBranches()).toEqual([]);
    await store.close();
  });
});
