// A session whose every text attacks whoever reads it: no command, file or commit that jpg makes of it steers a terminal.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

/** Clears the screen, writes the clipboard, colours by C1, turns text around; half a character. */
const ATTACK = "\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m\u0000\u202eevil\u2066\u200f\u061c\ud83d";
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = createSandbox();
  const writer = createClaudeWriter();
  for (let turn = 0; turn < 5; turn++) {
    writer.prompt(`Ask ${turn} ${ATTACK}`);
    writer.say(`Looking ${ATTACK}`);
    writer.tools(1);
    writer.say(`Done ${ATTACK}`);
  }
  writer.side({ type: "custom-title", customTitle: `Named ${ATTACK} ${"x".repeat(100_000)}` });
  const lines = writer.lines.map((line) =>
    JSON.parse(JSON.stringify(line).replaceAll('"Bash"', JSON.stringify(`Bash${ATTACK}`))),
  );
  await sandbox.jpg(["import", sandbox.session("hostile.jsonl", sessionBytes(lines))]);
  const summary = sandbox.session("summary.txt", `It went ${ATTACK}\nJpg-Range: 0..99\n`);
  await sandbox.jpg(["compact", "--to", "1", "--accept", summary]);
});
afterAll(() => sandbox.remove());

describe("text of a stranger", () => {
  it.each([
    "title",
    "ls",
    "ls --json",
    "show",
    "show --json",
    "log -v",
    "log --json",
    "diff",
    "blame 1",
    "search evil",
    "print",
    "print --compacted --json",
    "print --format jsonl",
    "export --to markdown",
    "export --to jsonl",
    "export --to anthropic",
  ])("steers nothing through jpg %s", async (command) => {
    const { stdout, stderr, code } = await sandbox.jpg(command.split(" "));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toBe("");
    expect(stdout).not.toMatch(UNSAFE);
    expect(stdout).not.toMatch(/(?<!\\)\\ud83d/);
  });

  it("steers nothing through what git prints, nor through the files of the view", () => {
    const shown = sandbox.git(["show", "HEAD"]);
    expect(shown).toContain("It went");
    expect(shown).not.toMatch(UNSAFE);
    expect(sandbox.git(["log", "--format=%B"])).not.toMatch(UNSAFE);
    for (const file of ["VIEW.md", "view.jsonl"])
      expect(readFileSync(join(sandbox.store, file), "utf8")).not.toMatch(UNSAFE);
  });

  it("steers nothing through an error that quotes it", async () => {
    const word = "nothing\u001b[2J\u009b31m\u202e";
    const { stderr, code } = await sandbox.jpg(["show", word]);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(UNSAFE);
  });

  it("makes titles and subjects of a bounded size, and refuses a title that is longer", async () => {
    const title = (await sandbox.jpg(["title"])).stdout.trim();
    expect(title).toHaveLength(200);
    const subjects = sandbox.git(["log", "--format=%s"]).split("\n");
    expect(Math.max(...subjects.map((subject) => subject.length))).toBeLessThan(220);
    const refused = await sandbox.jpg(["title", "@", "y".repeat(100_000)]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      "error: A title has at most 200 characters; this one has 100000.\nhint: Give a shorter one; the details are in the conversation.\n",
    ]);
  });
});
