// `jpg config set`, `get` and `unset`: a setting that the active conversation keeps. And names that people give to agents.
import { afterAll, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectRefusal } from "../helpers/refusal.ts";

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

async function prepare(): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox();
  closers.push(sandbox.remove);
  return sandbox;
}

it("keeps a setting in the conversation, shows it and removes it", { tags: ["slow"] }, async () => {
  const { jpg } = await prepare();
  const set = await jpg(["config", "set", "keep_last", "1"]);
  expect(set.stdout).toMatch(/keep_last ?= ?1$/m);
  expect(set.stderr).toContain("jpg config --unset conversation.compaction.keep_last");
  expect((await jpg(["config", "get", "keep_last"])).stdout).toMatch(/keep_last ?= ?1$/m);
  expect((await jpg(["compact", "--dry-run", "--json"])).stdout).toContain('"to_turn": 4');
  expect((await jpg(["config", "set", "keep_last=2"])).stdout).toMatch(/keep_last ?= ?2$/m);
  expect(await jpg(["config", "unset", "keep_last"])).toMatchObject({ code: 0 });
  expect((await jpg(["config", "keep_last"])).stdout).toMatch(/keep_last ?= ?3$/m);
});

it("refuses what a conversation may not set, what is no setting, and half a line", { tags: ["slow"] }, async () => {
  const sandbox = await prepare();
  const commit = sandbox.git(["rev-parse", "HEAD"]);
  const refused = async (words: readonly string[], code: string, hint: RegExp): Promise<void> => {
    await expectRefusal(sandbox, ["config", ...words], { code, exit: 2, says: /./, hint });
  };
  await refused(["set", "mcp.servers.x.command", "rm"], "not_for_conversations", /\.jpg\.toml/);
  await refused(["set", "keep_lost", "1"], "unknown_key", /keep_last/);
  await refused(["set", "keep_last", "many"], "bad_value", /./);
  await refused(["set", "keep_last"], "usage", /jpg config set keep_last 5/);
  await refused(["set"], "usage", /jpg config set keep_last 5/);
  await refused(["keep_last", "5"], "usage", /jpg config set keep_last 5/);
  expect(sandbox.git(["rev-parse", "HEAD"])).toBe(commit);
});

it("takes an agent by its short name", { tags: ["slow"] }, async () => {
  const sandbox = await prepare();
  expect((await sandbox.jpg(["resume", "--with", "claude"])).stdout).toContain("claude --resume");
  for (const agent of ["gemini", "gemini-cli"])
    expect((await sandbox.jpg(["import", agent])).stderr, agent).toContain("No session that agents keep for");
  await expectRefusal(sandbox, ["import", "gemeni", "x"], { code: "unknown_format", exit: 2, says: /gemeni/ });
});
