// What was pushed or may be pulled is never replaced: a session that grows goes on in a commit of its own, so that the next
// push and the next pull are fast-forward.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { buildSession, plainTurns, type SessionStep } from "../helpers/session-builder.ts";

let sandbox: Sandbox;
let branch: string;
beforeEach(async () => {
  sandbox = createSandbox();
  await load(plainTurns(3));
  branch = sandbox.git(["symbolic-ref", "--short", "HEAD"]);
});
afterEach(() => sandbox.remove());

async function load(steps: readonly SessionStep[], cwd = sandbox.project): Promise<string> {
  const path = sandbox.session("s.jsonl", buildSession(steps).text());
  const [report] = await sandbox.json<readonly { readonly status: string }[]>(["import", path], { cwd });
  return report?.status ?? "";
}

function other(name: string): string {
  const path = join(sandbox.root, name);
  sandbox.git(["init", "--quiet", "--bare", path], sandbox.root);
  return path;
}

const GROWN: readonly SessionStep[] = [...plainTurns(3), "say"];
const subject = (cwd?: string): string => sandbox.git(["log", "-1", "--format=%s"], cwd);

describe("a turn that grows", () => {
  it("replaces its commit in a store that nobody knows of", async () => {
    await load(GROWN);
    expect(subject()).not.toContain("continued");
  });

  it("goes on in a commit of its own once it was pushed by URL: the next push is fast-forward", {
    tags: ["slow"],
  }, async () => {
    const bare = other("bare.git");
    const before = sandbox.git(["rev-parse", "HEAD"]);
    sandbox.git(["push", "--quiet", bare, branch]);
    expect(readFileSync(join(sandbox.store, ".git", "jpg-pushed"), "utf8")).toBe(`${before}\n`);
    await load(GROWN);
    expect(subject()).toBe("turn 2 (continued)");
    sandbox.git(["push", "--quiet", bare, branch]);
    expect(sandbox.git(["rev-parse", branch], bare)).toBe(sandbox.git(["rev-parse", "HEAD"]));
  });

  it("goes on in a commit of its own once it was handed over as a file: whoever has it pulls the next", async () => {
    const [first, next] = [join(sandbox.root, "first.bundle"), join(sandbox.root, "next.bundle")];
    expect(await sandbox.jpg(["share", "--full", "-o", first])).toMatchObject({ code: 0 });
    const clone = join(sandbox.root, "clone");
    sandbox.git(["clone", "--quiet", "--branch", branch, first, clone], sandbox.root);
    await load(GROWN);
    expect(subject()).toBe("turn 2 (continued)");
    expect(await sandbox.jpg(["share", "--full", "-o", next])).toMatchObject({ code: 0 });
    sandbox.git(["pull", "--quiet", "--ff-only", next, branch], clone);
    expect(sandbox.git(["rev-parse", "HEAD"], clone)).toBe(sandbox.git(["rev-parse", "HEAD"]));
  });

  it("goes on in a commit of its own in a store with a remote, whatever was pushed", async () => {
    sandbox.git(["remote", "add", "team", other("team.git")]);
    await load(GROWN);
    expect(subject()).toBe("turn 2 (continued)");
  });

  it("is pushed whatever becomes of the record", async () => {
    const bare = other("bare.git");
    const record = join(sandbox.store, ".git", "jpg-pushed");
    mkdirSync(record);
    sandbox.git(["push", "--quiet", bare, branch]);
    expect(sandbox.git(["rev-parse", branch], bare)).toBe(sandbox.git(["rev-parse", branch]));
    rmSync(record, { recursive: true });
    // A branch that is deleted there is no tip.
    sandbox.git(["push", "--quiet", bare, `:${branch}`]);
    expect(() => readFileSync(record)).toThrow("ENOENT");
  });
});

describe("a direct clone, which leaves no trace", () => {
  it("meets a turn that grew on both sides as the same turn, and goes on", async () => {
    const clone = join(sandbox.root, "clone");
    sandbox.git(["clone", "--quiet", sandbox.store, clone], sandbox.root);
    await load(GROWN);
    expect(subject()).not.toContain("continued");
    expect(await load(GROWN, clone)).toBe("updated");
    sandbox.git(["pull", "--quiet", "--no-rebase", "--no-edit"], clone);
    expect(await load(GROWN, clone)).toBe("unchanged");
    const longer: readonly SessionStep[] = [...GROWN, "prompt", "say"];
    expect(await load(longer, clone)).toBe("updated");
    const back = await sandbox.jpg(["export", "--original"], { cwd: clone });
    expect(back).toMatchObject({ code: 0, stdout: buildSession(longer).text().toString() });
    expect(sandbox.git(["for-each-ref", "--format=%(refname)", "refs/heads"], clone)).toBe(`refs/heads/${branch}`);
  });
});
