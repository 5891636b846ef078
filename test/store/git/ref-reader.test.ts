import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasNoRefs } from "../../../src/store/git/refs.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { findPackedRef } from "../../../src/store/ref-files.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
beforeEach(async () => {
  temp = await createTempStore();
  store = await openNativeStore(temp);
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

describe("reading branches", () => {
  it("finds packed ones, and prefers a loose one that moved since", async () => {
    const a = await append(store, "t/main", [commit("a", [file("a", "1")])]);
    await append(store, "t/main-2", [commit("x", [file("x", "1")])]);
    git(temp.root, temp.env, ["pack-refs", "--all", "--prune"]);
    expect(await store.readBranch("t/main")).toBe(a.commit);
    expect(await store.readBranch("main")).toBeNull();
    expect(await store.readBranch("t")).toBeNull();
    const b = await append(store, "t/main", [commit("b", [file("b", "1")])]);
    expect(await store.readBranch("t/main")).toBe(b.commit);
    git(temp.root, temp.env, ["branch", "-D", "t/main-2"]);
    expect(await store.readBranch("t/main-2")).toBeNull();
  });

  it("follows a symbolic branch, not a circle", async () => {
    const a = await append(store, "t/main", [commit("a", [file("a", "1")])]);
    git(temp.root, temp.env, ["symbolic-ref", "refs/heads/t/latest", "refs/heads/t/main"]);
    expect(await store.readBranch("t/latest")).toBe(a.commit);
    writeText(join(temp.root, ".git", "refs", "heads", "x"), "ref: refs/heads/x\n");
    expect(await store.readBranch("x")).toBeNull();
  });

  it("says that no branch is active when HEAD is detached", async () => {
    const a = await append(store, "t/main", [commit("a", [file("a", "1")])]);
    git(temp.root, temp.env, ["checkout", "-q", "--detach", a.commit]);
    expect(await store.readActiveBranch()).toBeNull();
  });

  it("asks git where refs are not files", async () => {
    const a = await append(store, "t/main", [commit("a", [file("a", "1")])]);
    await store.useBranch("t/main");
    writeText(join(temp.root, ".git", "reftable", "tables.list"), "");
    expect(await store.readBranch("t/main")).toBe(a.commit);
    expect(await store.readBranch("t/none")).toBeNull();
    expect(await store.readActiveBranch()).toBe("t/main");
  });
});

describe("findPackedRef", () => {
  it("matches whole names and skips peeled lines", () => {
    const oid = "ab".repeat(20);
    const text = `# pack-refs with: peeled fully-peeled sorted \n${oid} refs/heads/a/b\n${"cd".repeat(20)} refs/tags/v\n^${oid}\n`;
    expect(findPackedRef(text, "refs/heads/a/b")).toBe(oid);
    expect(findPackedRef(text, "refs/heads/a")).toBeNull();
    expect(findPackedRef(text, "heads/a/b")).toBeNull();
  });
});

describe("hasNoRefs", () => {
  it("is true of a repository that was just made, and never where any ref may be", async () => {
    const { root, env } = temp;
    const gitDir = join(root, ".git");
    expect(hasNoRefs(gitDir)).toBe(true);
    expect(hasNoRefs(join(root, "nowhere"))).toBe(false);
    git(root, env, ["hash-object", "-w", "-t", "tree", "/dev/null"]);
    const commit = git(root, env, ["commit-tree", "-m", "a", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"]);
    git(root, env, ["update-ref", "refs/remotes/team/a/main", commit]);
    expect(hasNoRefs(gitDir)).toBe(false);
    git(root, env, ["pack-refs", "--all"]);
    expect(hasNoRefs(gitDir)).toBe(false);
  });
});
