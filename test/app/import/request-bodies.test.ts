// Requests as APIs take them go the whole way: imported, grown, compacted, and written for another API.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { createGitWorkspace, type GitWorkspace, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let file: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  file = join(workspace.runtime.cwd, "request.json");
});
afterEach(() => removeWorkspace(workspace));

function body(turns: number): string {
  const said = Array.from({ length: turns }, (_, at) => [
    { role: "user", content: `question ${at}` },
    { role: "assistant", content: [{ type: "text", text: `answer ${at}` }] },
  ]);
  const tools = [{ name: "ls", description: "lists", input_schema: { type: "object" } }];
  return JSON.stringify({ model: "claude-sonnet-4-5", system: "Be brief.", tools, messages: said.flat() }, null, 2);
}

async function load(): Promise<ImportReport> {
  return (await importSessions(workspace, { paths: [file], allBranches: false })).sessions[0]!;
}

async function treeOf(branch: string): Promise<BranchTree> {
  return loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
}

describe("a file with a request", () => {
  it("is imported, again when it grew, compacted, given back as it was, and written for other APIs", async () => {
    writeFileSync(file, body(4));
    const { branch, ...report } = await load();
    expect(report).toMatchObject({ status: "created", turns: 4, title: "question 0" });
    expect(await load()).toMatchObject({ status: "unchanged", branch });
    writeFileSync(file, body(5));
    expect(await load()).toMatchObject({ status: "updated", branch, turns: 5, turns_added: 1 });

    const pieces: Uint8Array[] = [];
    for await (const piece of await exportOriginal(workspace, await treeOf(branch))) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe(body(5));

    await compact(workspace, await treeOf(branch), {
      range: { to: { type: "turn", turn: 2 } },
      summary: { summary: "all that was said", source: "authored" },
      force: true,
      dryRun: false,
      activate: true,
    });
    const exported = await exportConversation(workspace, await treeOf(branch), {
      to: "openai-chat",
      model: "gpt-mini",
      fullHistory: false,
    });
    const { messages, tools } = JSON.parse(exported) as {
      messages: { role: string; content: string }[];
      tools: unknown[];
    };
    expect(messages.map(({ content }) => content)).toEqual([
      "Be brief.",
      expect.any(String),
      "all that was said",
      "question 3",
      "answer 3",
      "question 4",
      "answer 4",
    ]);
    expect(tools).toMatchObject([{ type: "function", function: { name: "ls" } }]);

    const again = { to: "anthropic", model: "claude-sonnet", fullHistory: false };
    const request = JSON.parse(await exportConversation(workspace, await treeOf(branch), again)) as object;
    expect(request).toMatchObject({ system: "Be brief.", tools: [{ name: "ls" }] });
  });
});
