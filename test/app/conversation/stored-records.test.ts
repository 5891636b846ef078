import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../../helpers/run-in-process.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { git, writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, buildSession(plainTurns(5)).text()));
});
afterEach(() => removeWorkspace(workspace));

const FILES = {
  "compactions/20260601T000000.000Z-bad1.jsonl": "not json\n",
  "compactions/20260601T000000.000Z-bad2.jsonl":
    '{"type":"compaction","id":"bad2","timestamp":"2026-06-01T00:00:00.000Z","to_turn":1}\n',
  "meta/20260601T000000.000Z-bad3.jsonl": '{"type":"meta"\n',
} as const;

const run = (...argv: string[]) => runInProcess(workspace.runtime, ["--store", workspace.temp.root, ...argv]);
const commit = (files: Readonly<Record<string, string>>): void => {
  const { root, env } = workspace.temp;
  for (const [path, text] of Object.entries(files)) writeText(`${root}/${path}`, text);
  git(root, env, ["add", "-f", "--sparse", ...Object.keys(files)]);
  git(root, env, ["commit", "-q", "-m", "damage"]);
};

describe("damaged records", () => {
  it("are not applied and named by every command, which reads and writes the rest", async () => {
    await run("compact", branch, "--profile", "default", "--keep", "2", "--force");
    const before = await run("print", branch, "--compacted");
    commit(FILES);
    const commands = [
      ["print", "--compacted"],
      ["log"],
      ["show"],
      ["diff"],
      ["stats"],
      ["check"],
      ["export", "--to", "anthropic"],
      ["compact", "--strategy", "strip-reasoning", "--dry-run"],
      ["fork", "elsewhere", "--no-activate"],
      ["fork", "shorter", "--first", "2", "--no-activate"],
    ];
    for (const [name, ...words] of commands) {
      const { code, stderr } = await run(name!, branch, ...words);
      expect([name, code, stderr.match(/^error.*/m)]).toEqual([name, 0, null]);
      for (const path of Object.keys(FILES)) expect([name, stderr]).toEqual([name, expect.stringContaining(path)]);
    }
    expect((await run("print", branch, "--compacted")).stdout).toBe(before.stdout);
    const rows = JSON.parse((await run("log", branch, "--json")).stdout) as {
      compaction: string;
      not_applied?: string;
    }[];
    expect(rows.find(({ compaction }) => compaction === "bad1")).toMatchObject({
      not_applied: "damaged: not valid JSON",
    });

    const titled = await run("title", branch, "A new title", "--json");
    expect([titled.code, titled.stderr.match(/^error.*/m)]).toEqual([0, null]);
    for (let time = 0; time < 2; time++) {
      const listed = await run("ls");
      expect(listed.stdout).toContain("A new title");
      for (const path of Object.keys(FILES)) expect(listed.stderr).toContain(path);
    }
    expect((await run("revert", "bad1")).code).toBe(0);
    expect((await run("print", branch)).stderr).not.toContain("bad1");
  });

  it("are reverted by their id, as any other", async () => {
    commit(FILES);
    expect((await run("revert", "bad2")).code).toBe(0);
    expect((await run("log", branch)).stderr).not.toContain("-bad2.jsonl");
  });

  it("are not those that need a newer jpg: these refuse the branch", async () => {
    const needs =
      '{"type":"compaction","id":"n1","timestamp":"2026-06-01T00:00:00.000Z","needs":["tides"],"from_turn":0}\n';
    commit({ "compactions/20260601T000000.000Z-n1.jsonl": needs });
    const { code, stderr } = await run("print", branch, "--compacted");
    expect(code).toBe(3);
    expect(stderr).toContain("needs `tides`, which this jpg does not know");
  });
});
