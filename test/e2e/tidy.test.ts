// Tidying: jpg archive, label and rm with its trash, as a user types them.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";
import { smallSession, storeState } from "../helpers/run-jpg.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function prepare(): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox();
  closers.push(sandbox.remove);
  return sandbox;
}

/** Imports a second conversation, which is active then. */
async function importOther({ session, json }: ImportedSandbox): Promise<string> {
  const file = session("other.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-00000000000c" }));
  const [report] = await json<readonly { id: string }[]>(["import", file]);
  return report?.id ?? "";
}

const idsIn = async ({ json }: ImportedSandbox, ...args: readonly string[]): Promise<readonly unknown[]> =>
  (await json<readonly Json[]>(["ls", ...args])).map(({ id }) => id).sort();

describe("archive", () => {
  it("leaves a conversation out of the list, and --undo, or the older unarchive, lists it again", async () => {
    const sandbox = await prepare();
    const { conversation: first, jpg } = sandbox;
    const other = await importOther(sandbox);
    expect((await jpg(["archive", first])).stdout).toBe(
      `Archived ${first}/main; \`jpg archive --undo ${first}/main\` undoes it.\n`,
    );
    expect(await idsIn(sandbox)).toEqual([other]);
    expect(await idsIn(sandbox, "--archived")).toEqual([first]);
    expect(await idsIn(sandbox, "--all")).toEqual([first, other].sort());
    expect((await jpg(["ls", "--branches"])).stdout).toContain("[archived]");
    expect((await jpg(["show", first])).stdout).toMatch(/State: +archived/);
    expect(await sandbox.json(["archive", first])).toMatchObject({ archived: true, commit: null });
    for (const again of [["unarchive"], ["archive", "--undo"]]) {
      await jpg(["archive", first]);
      expect(await sandbox.json([...again, first])).toMatchObject({ archived: false, branch: `${first}/main` });
    }
    expect(await idsIn(sandbox)).toEqual([first, other].sort());
    expect((await jpg(["ls", "--archived"])).stderr).toContain("No conversation is archived.");
  });
});

describe("label", () => {
  it("gives labels that ls chooses by, and takes them away", async () => {
    const sandbox = await prepare();
    const { conversation: first, jpg } = sandbox;
    const other = await importOther(sandbox);
    expect((await jpg(["label", first, "parser", "to review"])).stdout).toBe("parser\nto review\n");
    await jpg(["label", other, "parser"]);
    expect(await idsIn(sandbox, "--label", "parser")).toEqual([first, other].sort());
    expect(await idsIn(sandbox, "--label", "parser", "--label", "to review")).toEqual([first]);
    expect((await jpg(["ls"])).stdout).toContain("[parser, to review]");
    expect(await sandbox.json(["label", first, "--remove", "parser"])).toMatchObject({ labels: ["to review"] });
    expect(await sandbox.json(["label", first])).toMatchObject({ labels: ["to review"], commit: null });
    await expectRefusal(sandbox, ["label", first, "parser", "--remove"], {
      code: "unknown_label",
      exit: 2,
      says: /no label parser/,
      hint: /to review/,
    });
    expect((await jpg(["ls", "--label", "none"])).stderr).toContain("No conversation has the label none.");
  });
});

describe("rm", () => {
  it("removes a conversation with its forks, goes on with another, and brings all of it back", async () => {
    const sandbox = await prepare();
    const { conversation: first, jpg, git } = sandbox;
    const other = await importOther(sandbox);
    await jpg(["fork", first, "try-b"]);
    const refs = git(["for-each-ref", "refs/heads"]);
    const report = await sandbox.json<Json>(["rm", first]);
    expect(report).toMatchObject({
      conversation: first,
      removed: [{ branch: `${first}/main` }, { branch: `${first}/try-b` }],
      active: `${other}/main`,
    });
    expect(await idsIn(sandbox)).toEqual([other]);
    expect(readFileSync(join(sandbox.store, "VIEW.md"), "utf8")).toContain(other);
    expect(git(["status", "--porcelain"])).toBe("");
    expect(await sandbox.json(["rm", "--list"])).toMatchObject([{ conversation: first }, { conversation: first }]);
    expect((await jpg(["rm", "--restore", first])).stdout).toBe(`Restored ${first}/main.\nRestored ${first}/try-b.\n`);
    expect(git(["for-each-ref", "refs/heads"])).toBe(refs);
    expect(git(["for-each-ref", "refs/trash"])).toBe("");
  });

  it("removes one fork, and the last conversation, after which the store is as a new one", async () => {
    const sandbox = await prepare();
    const { conversation, jpg, git } = sandbox;
    await jpg(["fork", conversation, "try-b", "--no-activate"]);
    expect((await jpg(["rm", `${conversation}/try-b`])).stdout).toContain(
      `\`jpg rm --restore ${conversation}/try-b\` brings it back`,
    );
    const { stdout, stderr } = await jpg(["rm", "@"]);
    expect(stdout).toContain(`Removed ${conversation}/main;`);
    expect(stderr).toContain("No conversation is left.");
    expect(existsSync(join(sandbox.store, "VIEW.md"))).toBe(false);
    expect(git(["status", "--porcelain"])).toBe("");
    expect(git(["fsck", "--no-dangling"])).toBe("");
    expect((await jpg(["fsck"])).code).toBe(0);
    expect((await jpg(["ls"])).stderr).toContain("There are no conversations yet");
    expect((await jpg(["rm", "--restore", `${conversation}/main`])).code).toBe(0);
    // Nothing else is active, so the restored conversation is.
    expect((await jpg(["print"])).stdout).toContain("Measure the tide at the pier");
  });

  it("changes nothing while another worktree holds a branch, and says which", async () => {
    const sandbox = await prepare();
    const { conversation, jpg } = sandbox;
    await jpg(["fork", conversation, "try-b", "--no-activate"]);
    const folder = join(sandbox.root, "tree");
    expect((await jpg(["checkout", `${conversation}/try-b`, folder])).code).toBe(0);
    const before = storeState(sandbox);
    await expectRefusal(sandbox, ["rm", conversation], {
      code: "checked_out",
      exit: 2,
      says: /try-b is checked out at/,
      hint: /jpg git worktree remove/,
    });
    expect(storeState(sandbox)).toBe(before);
    await expectRefusal(sandbox, ["rm"], { code: "usage", exit: 2, says: /which/, hint: /jpg ls/ });
    await expectRefusal(sandbox, ["rm", "--restore", "nothing"], {
      code: "not_removed",
      exit: 2,
      says: /not in the trash/,
      hint: /jpg rm --list/,
    });
  });

  it("purges objects, packed ones too, refs and what HEAD remembers; nothing else", async () => {
    const sandbox = await prepare();
    const { conversation: first, jpg, git } = sandbox;
    const other = await importOther(sandbox);
    const commit = git(["rev-parse", `${first}/main`]).trim();
    const turn = git(["rev-parse", `${first}/main:turns`]).trim();
    git(["repack", "-a", "-d", "-q"]);
    await jpg(["rm", first]);
    await expectRefusal(sandbox, ["rm", "--purge", first], {
      code: "needs_terminal",
      exit: 2,
      says: /for good/,
      hint: /--yes/,
    });
    const { stdout } = await jpg(["rm", "--purge", first, "--yes"]);
    expect(stdout).toMatch(new RegExp(`^Purged ${first}/main: \\d+ objects removed\\.\n$`));
    for (const gone of [commit, turn]) expect(() => git(["cat-file", "-e", gone])).toThrow();
    expect(readFileSync(join(sandbox.store, ".git/logs/HEAD"), "utf8")).not.toContain(commit);
    expect(git(["fsck", "--full", "--strict"])).not.toMatch(/error|missing|broken/);
    expect((await jpg(["print", other])).stdout).toContain("Measure the tide at the pier");
    expect((await jpg(["rm", "--purge", "--yes"])).stderr).toContain("The trash is empty.");
    expect(await sandbox.json(["rm", "--list"])).toEqual([]);
  });

  it("purges the name, too: nothing in the git dir says it", { tags: ["slow"] }, async () => {
    const sandbox = await prepare();
    const { conversation, jpg, git } = sandbox;
    const [kept, secret] = [`${conversation}/main`, `${conversation}/topsecret`];
    const aside = join(sandbox.root, "aside");
    await jpg(["fork", "@", "other", "--first", "2"]);
    expect((await jpg(["checkout", `${conversation}/other`, aside])).code).toBe(0);
    await jpg(["fork", kept, "topsecret", "--first", "1"]);
    await jpg(["use", secret]);
    await jpg(["compact"]);
    await jpg(["use", kept]);
    sandbox.git(["switch", "--quiet", secret], aside);
    sandbox.git(["switch", "--quiet", `${conversation}/other`], aside);
    const mentions = (): string =>
      execFileSync("sh", [
        "-c",
        'grep -rl topsecret "$1"; find "$1" -name "*topsecret*"',
        "sh",
        join(sandbox.store, ".git"),
      ])
        .toString()
        .trim();
    expect(mentions()).toContain("logs/HEAD");
    await jpg(["rm", secret]);
    expect((await jpg(["rm", "--purge", secret, "--yes"])).code).toBe(0);
    expect(mentions()).toBe("");
    for (const place of [sandbox.store, aside]) {
      expect(sandbox.git(["reflog"], place)).toContain("moved from (removed) to");
      expect(sandbox.git(["reflog", "expire", "--expire=now", "--dry-run", "HEAD"], place)).not.toContain("error");
    }
    expect(git(["fsck", "--full", "--strict"])).not.toMatch(/error|missing|broken/);
  });

  it("goes back past what was purged, and says which conversation it does not find", async () => {
    const sandbox = await prepare();
    const { conversation, jpg } = sandbox;
    const [main, gone, other] = ["main", "gone", "other"].map((fork) => `${conversation}/${fork}`) as [
      string,
      ...string[],
    ];
    await jpg(["fork", main, "other", "--first", "2"]);
    await jpg(["fork", main, "gone", "--first", "1"]);
    await jpg(["use", other ?? ""]);
    await jpg(["use", main]);
    await jpg(["use", gone ?? ""]);
    await jpg(["use", main]);
    await jpg(["rm", gone ?? ""]);
    await expectRefusal(sandbox, ["use", "-"], { code: "no_conversation", exit: 2, says: /gone, active before/ });
    await jpg(["rm", "--purge", gone ?? "", "--yes"]);
    expect((await jpg(["git", "switch", "--quiet", "-"])).code).toBe(0);
    expect(sandbox.git(["branch", "--show-current"]).trim()).toBe(main);
    expect((await jpg(["use", "-"])).code).toBe(0);
    expect(sandbox.git(["branch", "--show-current"]).trim()).toBe(other);
  });
});

describe("a fork that differs only by case from another", () => {
  it("is not made, not brought back and not taken from a remote", async () => {
    const { conversation, jpg, git, store, root } = await prepare();
    await jpg(["fork", "@", "Try", "--no-activate"]);
    const refused = await jpg(["fork", "@", "try"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      `${conversation}/try differs only by case from ${conversation}/Try, which already exists: macOS and Windows cannot keep both.`,
    );
    await jpg(["rm", `${conversation}/Try`]);
    expect((await jpg(["fork", "@", "try", "--no-activate"])).code).toBe(0);
    expect((await jpg(["rm", "--restore", `${conversation}/Try`])).stderr).toContain(
      `There is a new branch ${conversation}/try; nothing was restored.`,
    );
    // An older jpg made both.
    const there = join(root, "there.git");
    git(["clone", "--quiet", "--bare", store, there], root);
    git(["branch", `${conversation}/TRY`, `${conversation}/try`], there);
    await jpg(["remote", "add", "origin", there, "--as", "branches"]);
    const pulled = await jpg(["pull"]);
    expect(`${pulled.stdout}${pulled.stderr}`).toContain(`it differs only by case from ${conversation}/try`);
    const clone = await jpg(["clone", there, join(root, "clone")], { cwd: root });
    expect(`${clone.stdout}${clone.stderr}`).toContain("differs only by case from");
  });
});
