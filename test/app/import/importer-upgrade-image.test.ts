// Stores that jpg made when references to images had no size: the first lines of `upgrade-image.jsonl` of an agent (`git
// fast-export --all`). The newest turn stays as it is written there.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectBlobs, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

async function turnText(branch: string, turn: number): Promise<string> {
  const { turnOids } = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  return Buffer.concat(await collectBlobs(workspace.store, [turnOids[turn] ?? ""])).toString();
}

describe.each([
  ["claude-code", "chart-the-reef-g75p/main", 4],
  ["codex", "chart-the-reef-cen6/main", 5],
])("a session of %s that grows", (agent, branch, known) => {
  const fixture = (name: string) => readFileSync(new URL(`../../fixtures/${agent}/${name}`, import.meta.url), "utf8");
  const session = fixture("upgrade-image.jsonl").trimEnd().split("\n");
  const bringIn = (lineCount: number) =>
    importBytes(workspace, Buffer.from(`${session.slice(0, lineCount).join("\n")}\n`));
  beforeEach(() => {
    const { root, env } = workspace.temp;
    git(root, env, ["fast-import", "--quiet"], fixture("upgrade-image.fast-export"));
  });

  it("never forks, whether the turn with the image grows or another follows it", async () => {
    const before = await turnText(branch, 1);
    expect(before).toMatch(/"encoding":"base64"\}/);
    for (const lines of [known + 1, session.length])
      expect(await bringIn(lines)).toMatchObject({ status: "updated", branch });
    expect(await workspace.store.listBranches()).toHaveLength(1);
    const after = await turnText(branch, 1);
    expect(after.startsWith(before)).toBe(true);
    expect(after).toContain("Three, at low water.");
  });

  it("never forks where a turn follows the one with the image at once", async () => {
    const before = await turnText(branch, 1);
    expect(await bringIn(session.length)).toMatchObject({ status: "updated", branch, turns: 3 });
    expect((await turnText(branch, 1)).startsWith(before)).toBe(true);
  });
});
