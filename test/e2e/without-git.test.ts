// @module-tag slow
// The tour's commands with a PATH that holds node and nothing else: a session is saved, shortened and given back, and what needs git
// says so. With git
// there again, it finds a store like any other.
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginningOf } from "../helpers/name-beginning.ts";
import { createSandbox, type JpgResult, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

const SAMPLE = fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url));
/** Result of a search in turn 18 of the sample. */
const SEARCH = "0a8cc1ee-fdf6-4f6b-a10a-f4c7dfddc539";

let sandbox: Sandbox;
let alone: { readonly PATH: string };
beforeAll(() => {
  sandbox = createSandbox();
  const folder = join(sandbox.root, "only-node");
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, "node"));
  alone = { PATH: folder };
});
afterAll(() => sandbox.remove());

const jpg = (...args: string[]): Promise<JpgResult> => sandbox.jpg(args, { env: alone });
/** Runs a command that must succeed and gives what it prints. */
async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await jpg(...args);
  expect({ args, code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

describe("without git", () => {
  it("the tour is walked to its end", async () => {
    expect(await run("import", SAMPLE)).toContain("created");
    expect(await run("ls")).toMatch(/26 +~/);
    expect(await run("compact", "--dry-run")).toContain("Would compact");
    await run("compact");
    expect(await run("log")).toMatch(/in force\) compact 0\.\.22/);
    expect(await run("diff", "--stat")).toContain("total");
    const [newest] = JSON.parse(await run("log", "--json")) as [{ commit: string }];
    // In place of `git revert`, twice: taken back, and brought back.
    expect(await run("revert", beginningOf(newest.commit, 7))).toContain("Reverted");
    const [revert] = JSON.parse(await run("log", "--json")) as [{ commit: string; kind: string }];
    expect(revert.kind).toBe("revert");
    await run("revert", beginningOf(revert.commit, 7));
    await run("fork", "@", "everything");
    await run("undo");
    await run("undo");
    expect((await run("ls", "--branches")).split("\n").filter((line) => line.includes("everything"))).toHaveLength(1);
    await run("use", "-");
    await run("use", "-");
    await run("compact", "-s", "strip-reasoning", "-s", "dedup-tools", "-s", "strip-tool-results", "--pointers");
    expect(await run("show", SEARCH)).toContain("Turn:   18");
    await run("use", "-");
    const resumed = join(sandbox.root, "resumed.jsonl");
    await run("export", "--to", "claude-code", "-o", resumed);
    continueSession(resumed);
    expect(await run("import", resumed)).toContain("updated");
    const original = join(sandbox.root, "original.jsonl");
    await run("export", "--original", "-o", original);
    expect(readFileSync(original).equals(readFileSync(SAMPLE))).toBe(true);
    expect(await run("fsck")).toContain("nothing wrong");
    expect(readFileSync(join(sandbox.store, "VIEW.md"), "utf8")).toContain("Good morning");
  });

  it("what is not needed to save a session and give it back says that it needs git", async () => {
    for (const args of [
      ["checkout", "@", join(sandbox.root, "review")],
      ["remote", "add", "team", join(sandbox.root, "team.git")],
      ["push"],
      ["git", "log"],
      ["ls", "--engine", "native"],
      ["title", "@", "Kelp"],
      ["pin", "19"],
      ["blame", SEARCH],
      ["search", "tide"],
      ["rm"],
      ["rm", "--purge", "--yes"],
      ["edit"],
      ["stats"],
      ["query", "And?"],
      ["merge", "everything"],
      ["check", "--provider", "all"],
    ]) {
      expect(await jpg(...args), args.join(" ")).toMatchObject({
        code: 3,
        stdout: "",
        stderr: expect.stringMatching(/needs? (the )?git.*\nhint: Install git/s) as string,
      });
    }
    const added = await jpg("remote", "add", "team", join(sandbox.root, "team.git"));
    const chosen = await sandbox.jpg(["checkout", "@", "--engine", "embedded"]);
    expect(chosen.stderr).toBe(
      "error: `jpg checkout` needs git, and --engine embedded works without it.\nhint: Run the command again without --engine embedded.\n",
    );
    expect(added.stderr).toMatch(/^error: `jpg remote` needs git, and no `git` was found in PATH\./);
    expect(existsSync(join(sandbox.root, "review"))).toBe(false);
    expect((await jpg("doctor")).stdout).toContain("git");
  });

  it("leaves a store in which git finds nothing wrong, and which the next jpg with git brings along", async () => {
    expect(sandbox.git(["fsck", "--full", "--strict", "--no-dangling"])).toBe("");
    expect(existsSync(join(sandbox.store, ".git", "jpg-behind"))).toBe(true);
    const before = JSON.parse((await sandbox.jpg(["log", "--json"])).stdout) as unknown;
    expect(existsSync(join(sandbox.store, ".git", "jpg-behind"))).toBe(false);
    expect(sandbox.git(["status", "--porcelain"])).toBe("");
    expect(JSON.parse(await run("log", "--json"))).toEqual(before);
    expect((await sandbox.jpg(["doctor"])).stdout).toContain("hooks, textconv and settings are those of this jpg");
    const [newest] = before as [{ readonly commit: string }];
    sandbox.git(["revert", "--no-edit", newest.commit]);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it.each([
    ["everything", ["commit", "-m", "mine"]],
    ["nothing", ["commit", "--allow-empty", "-m", "mine"]],
    ["one file", ["commit", "-m", "mine", "--", "conversation.json"]],
    ["the files as they are", ["commit", "-a", "-m", "mine"]],
  ])("takes no record out by a stock commit of %s, which is refused until git has an index", async (_, commit) => {
    const own = createSandbox();
    await own.jpg(["import", SAMPLE], { env: alone });
    await own.jpg(["compact"], { env: alone });
    const tip = own.git(["rev-parse", "HEAD"]);
    expect(() => own.git(commit)).toThrow(/Nothing was committed.*`jpg ls` checks it out/s);
    expect(own.git(["rev-parse", "HEAD"])).toBe(tip);
    expect((await own.jpg(["ls"])).code).toBe(0);
    own.git(["commit", "--allow-empty", "-m", "mine"]);
    expect(own.git(["diff", "--name-only", tip, "HEAD"])).toBe("");
    own.remove();
  });

  it("a store that it made is read from inside, by it and by git, however git's settings are spelt", async () => {
    const made = join(sandbox.root, "made");
    const within = { cwd: made, env: { ...alone, JPG_STORE: "" } };
    await run("init", made);
    expect(await sandbox.jpg(["import", SAMPLE], within)).toMatchObject({ code: 0 });
    const listed = (await sandbox.jpg(["ls", "--json"], within)).stdout;
    expect(JSON.parse(listed)).toHaveLength(1);
    const config = join(made, ".git", "config");
    const written = readFileSync(config, "utf8");
    for (const bare of ["false", "no", "Off ; really", "0", ""]) {
      writeFileSync(config, written.replace(/bare = .*/, `bare = ${bare}`));
      expect(await sandbox.jpg(["ls", "--json"], within), bare).toMatchObject({ code: 0, stdout: listed });
      expect(await sandbox.jpg(["ls", "--json"], { ...within, env: { JPG_STORE: "" } })).toMatchObject({
        stdout: listed,
      });
    }
  });

  it("is what `--engine embedded` asks for, whatever is there", async () => {
    const file = sandbox.session("small.jsonl", smallSession());
    const store = join(sandbox.root, "forced");
    const result = await sandbox.jpg(["import", file, "--engine", "embedded", "--store", store]);
    expect(result).toMatchObject({ code: 0 });
    expect(existsSync(join(store, ".git", "index"))).toBe(false);
    expect((await sandbox.jpg(["--engine", "embedded", "ls", "--store", store])).stdout).toContain("Measure the tide");
    const native = await sandbox.jpg(["log", "--engine", "native", "--store", store]);
    expect(native).toMatchObject({ code: 0 });
    expect(existsSync(join(store, ".git", "index"))).toBe(true);
  });
});

/** Appends a request and its answer to a session file, linked to its last message. */
function continueSession(file: string): void {
  const lines = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const last = lines.findLast((line) => line["uuid"] !== undefined && line["type"] === "assistant") ?? {};
  const request = {
    ...last,
    parentUuid: last["uuid"],
    type: "user",
    uuid: "0c9e6f3a-5b1d-4c7e-8f20-6a4d9b3e7c11",
    timestamp: "2026-03-11T08:30:00.000Z",
    message: { role: "user", content: "Good morning. Fix the first of the two, please." },
  };
  appendFileSync(file, `${JSON.stringify(request)}\n`);
}
