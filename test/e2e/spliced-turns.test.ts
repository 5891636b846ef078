// Stock git can put turns together that were never said in a row. jpg notices it at once and at the next command, makes
// nothing of such a conversation, still shows it, and names commands that give each side back.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { buildSession, plainTurns, type SessionStep } from "../helpers/session-builder.ts";
import { git } from "../helpers/temp-repository.ts";

interface Spliced {
  readonly sandbox: Sandbox;
  readonly branch: string;
  readonly conversation: string;
}

const made: Sandbox[] = [];
afterAll(() => {
  for (const sandbox of made) sandbox.remove();
});

/** A conversation of five turns, whose fifth is turn 4. */
async function fiveTurns(): Promise<Spliced & { readonly load: (steps: readonly SessionStep[]) => Promise<void> }> {
  const sandbox = createSandbox();
  made.push(sandbox);
  const load = async (steps: readonly SessionStep[]): Promise<void> => {
    await sandbox.jpg(["import", sandbox.session("s.jsonl", buildSession(steps).text())]);
  };
  await load(plainTurns(5));
  const branch = sandbox.git(["symbolic-ref", "--short", "HEAD"]);
  return { sandbox, branch, conversation: branch.replace(/\/main$/, ""), load };
}

/** One side adds turn 5; in a clone turn 4 grows; both are merged by `merge`, which gives what git said. */
async function splice(): Promise<Spliced & { readonly merge: () => string; readonly theirs: string }> {
  const { sandbox, branch, conversation, load } = await fiveTurns();
  const clone = join(sandbox.root, "clone");
  sandbox.git(["clone", "--quiet", sandbox.store, clone], sandbox.root);
  const grown = sandbox.session("grown.jsonl", buildSession([...plainTurns(5), "say"]).text());
  await sandbox.jpg(["import", grown], { cwd: clone });
  await load(plainTurns(6));
  const command = `!git pull --quiet --no-rebase --no-edit ${clone} ${branch} 2>&1`;
  const merge = (): string => git(sandbox.store, sandbox.env, ["-c", `alias.all=${command}`, "all"]);
  return { sandbox, branch, conversation, merge, theirs: sandbox.git(["rev-parse", "HEAD"], clone) };
}

const says = (turn: number, branch: string): string =>
  `Turn ${turn} of ${branch} does not continue turn ${turn - 1}: git joined turns of different histories.`;

/** The commands in a text that make or use a fork, as words for jpg. */
const commandsIn = (text: string): string[][] =>
  [...text.matchAll(/`jpg ((?:git branch|use) [^`]+)`/g)].map(([, words = ""]) => words.split(" "));

describe.concurrent("a stock pull of two sides that grew", () => {
  it("is noticed by the post-merge hook and by every command that shows it", { tags: ["slow"] }, async () => {
    const { sandbox, branch, merge } = await splice();
    expect(merge()).toContain(says(5, branch));
    for (const words of [["log"], ["show"], ["print"], ["stats"], ["undo"]]) {
      const { stderr } = await sandbox.jpg(words);
      expect(stderr, words.join(" ")).toContain(`warning: ${says(5, branch)}`);
    }
    const listed = await sandbox.jpg(["ls"]);
    expect(listed.stderr).toContain(`warning: Turns of ${branch} do not continue each other`);
    expect(listed.code).toBe(0);
    const { code, stdout } = await sandbox.jpg(["print"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Turn 5");
  });

  it("is refused by what makes something of all turns", { tags: ["slow"] }, async () => {
    const { sandbox, branch, merge } = await splice();
    merge();
    const out = join(sandbox.root, "out");
    for (const words of [
      ["export", "--original", "-o", out],
      ["export", "--to", "jsonl", "-o", out],
      ["compact"],
      ["compact", "--dry-run"],
      ["compact", "--emit", out],
      ["resume", "--with", "claude-code"],
      ["query", "hello"],
    ]) {
      const { code, stderr } = await sandbox.jpg(words);
      expect(stderr, words.join(" ")).toContain(`error: ${says(5, branch)}`);
      expect(stderr).not.toContain("warning: Turn 5");
      expect(code, words.join(" ")).toBe(3);
    }
    expect(existsSync(out)).toBe(false);
  });

  it("is refused by stock git push, which is told the branch's own sides, whatever names what is pushed", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, conversation, merge } = await splice();
    merge();
    const bare = join(sandbox.root, "bare.git");
    sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
    expect(() => sandbox.git(["push", "--quiet", bare, "HEAD"])).toThrow(`\`jpg git branch ${conversation}/side-`);
  });

  it("names commands that give each side back as it was", { tags: ["slow"] }, async () => {
    const { sandbox, conversation, merge, theirs } = await splice();
    const ours = sandbox.git(["rev-parse", "HEAD"]);
    merge();
    const { stderr } = await sandbox.jpg(["compact"]);
    const commands = commandsIn(stderr);
    expect(commands).toHaveLength(2);
    for (const words of commands) expect(await sandbox.jpg(words)).toMatchObject({ code: 0 });
    const sides = ["side-1", "side-2"].map((name) => `${conversation}/${name}`);
    expect(sides.map((side) => sandbox.git(["rev-parse", side])).sort()).toEqual([ours, theirs].sort());
    for (const side of sides) expect(await sandbox.jpg(["compact", side])).toMatchObject({ code: 0, stderr: "" });
    // Now they are there: the hint says so.
    const { stderr: again } = await sandbox.jpg(["query", "hello"]);
    expect(commandsIn(again)).toHaveLength(2);
  });
});

describe.concurrent("other stock commands that put turns together", () => {
  it("a cherry-picked turn of another fork", { tags: ["slow"] }, async () => {
    const { sandbox, branch, load } = await fiveTurns();
    await load(plainTurns(6));
    const next = sandbox.git(["rev-parse", "HEAD"]);
    sandbox.git(["reset", "--quiet", "--hard", "HEAD~2"]);
    await load([...plainTurns(4), "prompt", "say", "say"]);
    sandbox.git(["switch", "--quiet", branch]);
    sandbox.git(["cherry-pick", next]);
    const { code, stderr } = await sandbox.jpg(["compact"]);
    expect(stderr).toContain(says(5, branch));
    expect(code).toBe(3);
    expect(commandsIn(stderr).length).toBeGreaterThan(0);
  });

  it("an earlier turn that is amended in a rebase: what was there before is given back", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, branch, conversation } = await fiveTurns();
    const before = sandbox.git(["rev-parse", "HEAD"]);
    const edit = `sed -i 's/request/another/' turns/0000/000002.jsonl && git commit --quiet -a --amend --no-edit`;
    const env = { ...sandbox.env, GIT_SEQUENCE_EDITOR: `sed -i '/turn 2/a exec ${edit}'` };
    git(sandbox.store, env, ["sparse-checkout", "disable"]);
    git(sandbox.store, env, ["rebase", "--quiet", "--interactive", "HEAD~3"]);
    const { code, stderr } = await sandbox.jpg(["compact"]);
    expect(stderr).toContain(says(3, branch));
    expect(code).toBe(3);
    const commands = commandsIn(stderr);
    expect(commands).toHaveLength(2);
    for (const words of commands) await sandbox.jpg(words);
    expect(sandbox.git(["rev-parse", `${conversation}/side-2`])).toBe(before);
  });
});
