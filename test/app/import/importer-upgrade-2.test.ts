// A store that version 2 of the importer made: the first six lines of `upgrade-2.jsonl`, in which a parent is missing and an answer
// comes before its request (`git fast-export --all`). Version 2 hid what comes before the one and lost the other.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/claude-code/${name}`, import.meta.url));
const session = fixture("upgrade-2.jsonl").toString().trimEnd().split("\n");
const branch = "chart-the-reef-b4b1/main";
const KNOWN = 6;

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const openEarlierStore = () =>
  git(
    workspace.temp.root,
    workspace.temp.env,
    ["fast-import", "--quiet"],
    fixture("upgrade-version-2.fast-export").toString(),
  );
const bringIn = (lineCount: number, again = false) =>
  importBytes(workspace, Buffer.from(`${session.slice(0, lineCount).join("\n")}\n`), { again });
const treeOf = async (name: string) => loadBranchTree(workspace.store, name, await tipOf(workspace, name));
const sent = async (name: string) =>
  exportConversation(workspace, await treeOf(name), { to: "anthropic", fullHistory: false, messages: true });

async function original(name: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await exportOriginal(workspace, await treeOf(name))) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

it("finds nothing new in the same bytes, or in fewer", async () => {
  openEarlierStore();
  const tip = await tipOf(workspace, branch);
  for (const lines of [KNOWN, KNOWN - 2]) expect(await bringIn(lines)).toMatchObject({ status: "unchanged", branch });
  expect(await tipOf(workspace, branch)).toBe(tip);
});

it("never forks, however the session grows: stored turns stay, new ones are read as they are now", async () => {
  openEarlierStore();
  const { turnOids } = await treeOf(branch);
  for (let lines = KNOWN + 1; lines <= session.length; lines++)
    expect(await bringIn(lines)).toMatchObject({ status: "updated", branch });
  expect(await workspace.store.listBranches()).toHaveLength(1);
  expect((await treeOf(branch)).turnOids.slice(0, turnOids.length - 1)).toEqual(turnOids.slice(0, -1));
  expect(await original(branch)).toBe(`${session.join("\n")}\n`);
  const text = await sent(branch);
  for (const words of ["Two fathoms.", "And the fourth?", "Nobody has been there.", "We go."])
    expect(text).toContain(words);
});

it("reads the session again when it is asked to: a fork with what was hidden and lost", async () => {
  openEarlierStore();
  const report = await bringIn(KNOWN, true);
  expect(report).toMatchObject({ status: "forked", turns: 3 });
  const both = [await sent(branch), await sent(report.branch)];
  for (const words of ["Charted: five heads.", "Four fathoms."])
    expect(both.map((text) => text.includes(words))).toEqual([false, true]);
});

it("never forks a session of its own that grows line by line, in whatever order lines are", {
  tags: ["slow"],
}, async () => {
  for (let lines = 1; lines <= session.length; lines++) expect((await bringIn(lines)).status).not.toBe("forked");
  const [only, ...others] = await workspace.store.listBranches();
  expect(others).toEqual([]);
  const grown = await sent(only!.name);
  expect(await original(only!.name)).toBe(`${session.join("\n")}\n`);
  await removeWorkspace(workspace);
  workspace = await createGitWorkspace();
  const { branch: fresh } = await bringIn(session.length);
  expect(await sent(fresh)).toBe(grown);
});
