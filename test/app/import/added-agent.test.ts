// The example of docs/ARCHITECTURE.md, "A format": an agent that is its folder and a line in the list goes the whole way.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { prepareResume } from "../../../src/app/import/resume.ts";
import { writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

vi.mock("../../../src/formats/agents.ts", async (original) => {
  const [{ AGENTS }, { PLAIN }] = await Promise.all([
    original<typeof import("../../../src/formats/agents.ts")>(),
    import("../../helpers/plain-agent/agent.ts"),
  ]);
  return { AGENTS: [...AGENTS, PLAIN] };
});

let workspace: GitWorkspace;
let file: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  const { home, cwd } = workspace.runtime;
  file = join(home, ".plain", cwd.replace(/[^A-Za-z0-9]/g, "-"), "monday.jsonl");
  writeText(file, talk(6));
});
afterEach(() => removeWorkspace(workspace));

/** Some turns of a question and an answer. */
function talk(turns: number, from = 0): string {
  const lines = Array.from({ length: turns }, (_, at) => [
    { role: "user", text: `question ${from + at}` },
    { role: "assistant", text: `answer ${from + at}` },
  ]);
  return lines
    .flat()
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

async function load(...paths: string[]): Promise<ImportReport> {
  return (await importSessions(workspace, { paths, allBranches: false })).sessions[0]!;
}

async function treeOf(branch: string): Promise<BranchTree> {
  return loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
}

describe("the plain agent", () => {
  it("is imported from its own folder, compacted, exported, resumed, and imported again as the same conversation", {
    tags: ["slow"],
  }, async () => {
    const { branch, ...report } = await load();
    expect(report).toMatchObject({ status: "created", turns: 6, title: "question 0" });
    expect((await treeOf(branch)).header.source?.format).toBe("plain");
    expect(await load()).toMatchObject({ status: "unchanged", branch });
    writeFileSync(file, talk(1, 6), { flag: "a" });
    expect(await load()).toMatchObject({ status: "updated", branch, turns: 7, turns_added: 1 });

    await compact(workspace, await treeOf(branch), {
      range: { to: { type: "turn", turn: 4 } },
      summary: { summary: "all that was said", source: "authored" },
      force: true,
      dryRun: false,
      activate: true,
    });
    const text = await exportConversation(workspace, await treeOf(branch), { to: "plain", fullHistory: false });
    expect(text).toContain("all that was said");
    expect(text).not.toContain("question 2");

    const { path, command, session } = await prepareResume(workspace, await treeOf(branch), { name: "plain" });
    expect(command).toEqual(["plain", session]);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(await load(path)).toMatchObject({ status: "unchanged", branch });
    writeFileSync(path, talk(1, 7), { flag: "a" });
    expect(await load(path)).toMatchObject({ status: "updated", branch, turns: 8, turns_added: 1 });
    expect(await load(path)).toMatchObject({ status: "unchanged", branch });

    const original: Uint8Array[] = [];
    for await (const piece of await exportOriginal(workspace, await treeOf(branch))) original.push(piece);
    expect(Buffer.concat(original).toString()).toBe(talk(7));
    const whole = await exportConversation(workspace, await treeOf(branch), { to: "plain", fullHistory: true });
    expect(whole.match(/question \d/g)).toEqual(Array.from({ length: 8 }, (_, at) => `question ${at}`));
  });
});
