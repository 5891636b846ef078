// A store that an earlier version of jpg made. The fixture is an invented session's first eleven lines as version 1 of the
// importer read them (jpg 4016324, `git fast-export --all`): it lost the second of two parallel calls, and opened a turn at
// a task notification. `upgrade.jsonl` is the whole session.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/claude-code/${name}`, import.meta.url));
const session = fixture("upgrade.jsonl").toString().trimEnd().split("\n");
const branch = "survey-the-kelp-9821/main";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  const { root, env } = workspace.temp;
  git(root, env, ["fast-import", "--quiet"], fixture("upgrade-version-1.fast-export").toString());
});
afterEach(() => removeWorkspace(workspace));

const bringIn = (lineCount: number, again = false) =>
  importBytes(workspace, Buffer.from(`${session.slice(0, lineCount).join("\n")}\n`), { again });

const treeOf = async (name: string) => loadBranchTree(workspace.store, name, await tipOf(workspace, name));

async function sent(name: string): Promise<string> {
  return exportConversation(workspace, await treeOf(name), { to: "anthropic", fullHistory: false, messages: true });
}

async function original(name: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await exportOriginal(workspace, await treeOf(name))) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

it("finds nothing new in the same bytes, or in fewer", async () => {
  const tip = await tipOf(workspace, branch);
  expect(await bringIn(11)).toMatchObject({ status: "unchanged", branch, turns: 3 });
  expect(await bringIn(7)).toMatchObject({ status: "unchanged", branch, turns: 3 });
  expect(await tipOf(workspace, branch)).toBe(tip);
});

it("keeps the stored turns of a session that grew, and reads what is new as it reads now", async () => {
  const before = await treeOf(branch);
  expect(await bringIn(16)).toMatchObject({ status: "updated", branch, turns: 4, turns_added: 1 });
  const after = await treeOf(branch);
  expect(after.turnOids.slice(0, 2)).toEqual(before.turnOids.slice(0, 2));
  expect(git(workspace.temp.root, workspace.temp.env, ["merge-base", before.commit, after.commit]).trim()).toBe(
    before.commit,
  );
  const text = await sent(branch);
  for (const words of ["Forty.", "Give or take two.", "The boat is back.", "Home."]) expect(text).toContain(words);
  expect(text).toContain("[SYSTEM NOTIFICATION - NOT USER INPUT]");
  expect(await original(branch)).toBe(`${session.join("\n")}\n`);
  expect(await bringIn(16)).toMatchObject({ status: "unchanged", branch });
});

it("never forks, however the session grows", async () => {
  for (let lines = 12; lines <= session.length; lines++)
    expect(await bringIn(lines)).toMatchObject({ status: "updated", branch });
  expect(await workspace.store.listBranches()).toHaveLength(1);
  expect(await original(branch)).toBe(`${session.join("\n")}\n`);
});

it("forks where the user went back, at the turn where the branch says so", async () => {
  const back = session[15]!.replace(/"parentUuid":"[^"]*"/, '"parentUuid":"00000000-0000-4000-8000-000000000007"');
  const lines = [...session.slice(0, 11), back.replace("000000000016", "000000000099")];
  const report = await importBytes(workspace, Buffer.from(`${lines.join("\n")}\n`));
  expect(report.status).toBe("forked");
  expect(await sent(report.branch)).not.toContain("Forty.");
});

it("reads a session again when it is asked to: a fork, which then grows, and no second one", async () => {
  const report = await bringIn(11, true);
  expect(report).toMatchObject({ status: "forked", turns: 2 });
  expect(await sent(report.branch)).toContain("low");
  expect(await sent(branch)).not.toContain("low");
  expect(await bringIn(11, true)).toMatchObject({ status: "unchanged", branch: report.branch });
  expect(await bringIn(16)).toMatchObject({ status: "updated", branch: report.branch });
  expect(await original(report.branch)).toBe(`${session.join("\n")}\n`);
});
