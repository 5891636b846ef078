// The embedded engine leaves index and files of worktrees to git: it marks them, and the next jpg that has git brings them along.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConversationStore } from "../../../src/store/conversation-store.ts";
import { openEmbeddedStore } from "../../../src/store/embedded/embedded-store.ts";
import { openNativeStore } from "../../../src/store/native/native-store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let embedded: ConversationStore;
let native: ConversationStore;

beforeEach(async () => {
  temp = await createTempStore();
  const place = { root: temp.root, env: temp.env };
  native = await openNativeStore(place);
  await append(native, "main", [commit("root", [file("conversation.json", "{}")])]);
  embedded = await openEmbeddedStore({ ...place, now: () => new Date() });
});
afterEach(async () => {
  await Promise.all([embedded.close(), native.close()]);
  temp.remove();
});

const status = (cwd = temp.root): string => git(cwd, temp.env, ["status", "--porcelain"]);
const mark = (): boolean => existsSync(join(temp.root, ".git/jpg-behind"));

describe("a worktree whose branch the embedded engine moved", () => {
  it("keeps its index and files, and is brought along once by the next that has git", async () => {
    const index = readFileSync(join(temp.root, ".git/index"));
    await append(embedded, "main", [commit("a", [file("compactions/a.jsonl", "a")])]);
    await append(embedded, "main", [commit("b", [file("meta/b.jsonl", "b")])]);
    expect(readFileSync(join(temp.root, ".git/index"))).toEqual(index);
    expect(mark()).toBe(true);
    await native.worktrees?.settle();
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    expect(readFileSync(join(temp.root, "compactions/a.jsonl"), "utf8")).toBe("a");
    expect(readFileSync(join(temp.root, "meta/b.jsonl"), "utf8")).toBe("b");
  });

  it("is brought along by a write, too, and by a switch", async () => {
    await append(embedded, "main", [commit("a", [file("compactions/a.jsonl", "a")])]);
    await append(native, "main", [commit("b", [file("compactions/b.jsonl", "b")])]);
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    await append(embedded, "talk/main", [commit("c", [file("compactions/c.jsonl", "c")])]);
    await embedded.useBranch("talk/main");
    expect(mark()).toBe(true);
    await native.useBranch("main");
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    expect(existsSync(join(temp.root, "compactions/c.jsonl"))).toBe(false);
  });

  it("follows a HEAD that went over to another branch, or to none", async () => {
    const { commit: tip } = await append(embedded, "talk/main", [commit("c", [file("compactions/c.jsonl", "c")])]);
    await embedded.useBranch("talk/main");
    await native.worktrees?.settle();
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    expect(existsSync(join(temp.root, "compactions/c.jsonl"))).toBe(true);
    await embedded.trash?.put([{ name: "talk/main", commit: tip }], "2026-05-01T12:00:00.000Z");
    expect(await embedded.readActiveBranch()).toBe("main");
  });

  it("stays as it is while local changes are in the way: reading goes on, writing says so", async () => {
    await append(embedded, "main", [commit("a", [file("conversation.json", '{"a":1}')])]);
    writeFileSync(join(temp.root, "conversation.json"), "mine");
    await native.worktrees?.settle();
    expect(mark()).toBe(true);
    expect(readFileSync(join(temp.root, "conversation.json"), "utf8")).toBe("mine");
    expect(await native.listTree("main")).toHaveLength(1);
    const writing = append(native, "main", [commit("b", [file("b", "b")])]);
    await expect(writing).rejects.toMatchObject({ code: "worktree_in_the_way" });
    git(temp.root, temp.env, ["checkout", "--", "conversation.json"]);
    await native.worktrees?.settle();
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
  });

  it("is marked where it is, a linked one in its own git dir", async () => {
    const path = join(temp.folder, "beside");
    await append(native, "talk/main", [commit("c", [file("conversation.json", "{}")])]);
    const worktree = await native.worktrees?.add(path, "talk/main", { full: true });
    await append(embedded, "talk/main", [commit("d", [file("compactions/d.jsonl", "d")])]);
    expect(existsSync(join(worktree?.gitDir ?? "", "jpg-behind"))).toBe(true);
    expect(mark()).toBe(false);
    await native.worktrees?.settle();
    expect(status(path)).toBe("");
    expect(existsSync(join(path, "compactions/d.jsonl"))).toBe(true);
  });

  it("is not marked when the branch did not move", async () => {
    const write = { branch: "main", expected: "1".repeat(40), parent: null, commits: [commit("x", [file("x", "x")])] };
    const [result] = await embedded.write([write]);
    expect(result?.moved).toBe(false);
    expect(mark()).toBe(false);
  });

  it("is left alone after a jpg that was killed in the middle of it, until git is there", async () => {
    writeFileSync(join(temp.root, ".git/jpg-step.json"), "{}");
    await expect(append(embedded, "main", [commit("a", [file("a", "a")])])).rejects.toMatchObject({
      code: "needs_git",
    });
    expect((await append(embedded, "other/main", [commit("a", [file("a", "a")])])).moved).toBe(true);
  });

  it("cannot be made", async () => {
    const adding = embedded.worktrees?.add(join(temp.folder, "x"), "main", { full: true });
    await expect(adding).rejects.toMatchObject({ code: "needs_git" });
  });
});
