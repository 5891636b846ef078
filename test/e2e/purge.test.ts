// `jpg purge`: a conversation goes for good, with what was fetched of it; what others need, and what stands elsewhere, stays.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";
import { smallSession } from "../helpers/run-jpg.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function prepare(): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox();
  closers.push(sandbox.remove);
  return sandbox;
}

const isHere = ({ git }: ImportedSandbox, object: string): boolean => {
  try {
    git(["cat-file", "-e", object]);
    return true;
  } catch {
    return false;
  }
};

describe("jpg purge", () => {
  it("deletes a conversation with its forks, those in the trash too, and leaves another whole", async () => {
    const sandbox = await prepare();
    const { conversation, jpg, git, json, session } = sandbox;
    const file = session("other.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-00000000000c" }));
    const [other] = await json<readonly { id: string }[]>(["import", file]);
    const commit = git(["rev-parse", `${conversation}/main`]).trim();
    await jpg(["fork", conversation, "kept-on", "--no-activate"]);
    await jpg(["fork", conversation, "thrown-away", "--no-activate"]);
    await jpg(["rm", `${conversation}/thrown-away`]);
    const report = await json<{ purged: string[]; objects: number }>(["purge", conversation, "--yes"]);
    expect(report.purged).toEqual(["kept-on", "main", "thrown-away"].map((fork) => `${conversation}/${fork}`));
    expect(report.objects).toBeGreaterThan(0);
    expect(isHere(sandbox, commit)).toBe(false);
    expect(await json(["rm", "--list"])).toEqual([]);
    expect((await jpg(["print", other?.id ?? ""])).stdout).toContain("Measure the tide at the pier");
    expect((await jpg(["fsck"])).stdout).toContain("nothing wrong");
  });

  it("deletes one fork, and what its conversation needs stays", async () => {
    const { conversation, jpg, json } = await prepare();
    await jpg(["fork", conversation, "aside", "--no-activate"]);
    const report = await json<{ purged: string[] }>(["purge", `${conversation}/aside`, "--yes"]);
    expect(report.purged).toEqual([`${conversation}/aside`]);
    expect((await jpg(["fsck"])).stdout).toContain("nothing wrong in 1 branch");
  });

  it("takes what was fetched of it, names the remotes that have it, and a pull brings it back", async () => {
    const sandbox = await prepare();
    const { conversation, jpg, git, root } = sandbox;
    const remote = join(root, "team.git");
    execFileSync("git", ["init", "-q", "--bare", remote]);
    await jpg(["remote", "add", "team", remote, "--as", "branches"]);
    expect((await jpg(["push", conversation])).code).toBe(0);
    const commit = git(["rev-parse", `${conversation}/main`]).trim();
    const { stdout, stderr } = await jpg(["purge", conversation, "--yes"]);
    expect(stdout).toMatch(new RegExp(`^Purged ${conversation}/main: \\d+ objects removed\\.\n$`));
    expect(stderr).toContain("It was seen on team");
    expect(isHere(sandbox, commit)).toBe(false);
    expect((await jpg(["pull"])).code).toBe(0);
    expect(git(["rev-parse", `${conversation}/main`]).trim()).toBe(commit);
  });

  it("finds what is only in the trash, asks first, and says what it does not find", async () => {
    const sandbox = await prepare();
    const { conversation, jpg } = sandbox;
    await expectRefusal(sandbox, ["purge", conversation], {
      code: "needs_terminal",
      exit: 2,
      says: /for good/,
      hint: /--yes/,
    });
    await jpg(["rm", conversation]);
    expect((await jpg(["purge", conversation, "--yes"])).stdout).toContain(`Purged ${conversation}/main`);
    await expectRefusal(sandbox, ["purge", "nothing", "--yes"], {
      code: "unknown_id",
      exit: 2,
      says: /no conversation called nothing/,
      hint: /jpg ls/,
    });
  });

  it.each([[["purge"]], [["rm", "--purge"]]])("deletes a live one by %j, after asking", async (words) => {
    const sandbox = await prepare();
    const { conversation, jpg, json, git } = sandbox;
    const commit = git(["rev-parse", `${conversation}/main`]).trim();
    await expectRefusal(sandbox, [...words, "@"], {
      code: "needs_terminal",
      exit: 2,
      says: /for good/,
      hint: /--yes/,
    });
    expect(isHere(sandbox, commit)).toBe(true);
    expect(await json([...words, "@", "--yes"])).toMatchObject({
      conversation,
      objects: expect.any(Number) as number,
    });
    expect(isHere(sandbox, commit)).toBe(false);
    expect((await jpg(["rm", "--list"])).stderr).toContain("The trash is empty.");
  });

  it("deletes no live one by rm --purge and a beginning, which may once have meant one in the trash", async () => {
    const sandbox = await prepare();
    const { conversation, git } = sandbox;
    const commit = git(["rev-parse", `${conversation}/main`]).trim();
    for (const id of [conversation.slice(0, 6), `${conversation}/ma`])
      await expectRefusal(sandbox, ["rm", "--purge", id, "--yes"], {
        code: "other_conversation",
        exit: 2,
        says: /named in full/,
        hint: new RegExp(conversation),
      });
    expect(isHere(sandbox, commit)).toBe(true);
  });
});
