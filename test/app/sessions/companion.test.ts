// The second file of a session: read and stored with it, found to be changed when it changed, and never a session of its own where
// the session is there.
import { symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { type ImportOutcome, importSessions } from "../../../src/app/import/import.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, inFolder, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const SESSION = "1784000000000_kelpy";
const at = (second: number): number => Date.parse("2026-07-06T10:00:00Z") + 1000 * second;
const ask = { id: "q1", role: "user", ts: at(0), content: [{ type: "text", text: "Which kelp?" }] };
const answer = { id: "a1", role: "assistant", ts: at(1), content: [{ type: "text", text: "Bull kelp, all of it." }] };
const more = { id: "q2", role: "user", ts: at(2), content: [{ type: "text", text: "Thanks." }] };
const short = { ...answer, content: [{ type: "text", text: "Bull." }], metadata: { kind: "compaction" } };
const documentOf = (messages: readonly unknown[], saved = "2026-07-17T02:04:41Z"): string =>
  JSON.stringify({ version: 1, updated_at: saved, sessionId: SESSION, messages }, null, "\t");

let workspace: GitWorkspace;
let file: string;
let second: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  file = inFolder(workspace, "sessions", `${SESSION}.messages.json`);
  second = inFolder(workspace, "sessions", `${SESSION}.compaction.json`);
});
afterEach(() => removeWorkspace(workspace));

const load = (path: string = file): Promise<ImportOutcome> =>
  importSessions(workspace, { paths: [path], allBranches: false });
const treeOf = async (branch: string) => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const sent = async (branch: string) =>
  exportConversation(workspace, await treeOf(branch), { to: "anthropic", fullHistory: false, messages: true });

async function original(branch: string, name?: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await exportOriginal(workspace, await treeOf(branch), { file: name })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe("the second file of a session", () => {
  it("is read and stored with it, and both come back byte for byte", async () => {
    writeText(file, documentOf([ask, answer]));
    writeText(second, documentOf([ask, short]));
    const { sessions, failed } = await load();
    expect(failed).toEqual([]);
    expect(sessions).toMatchObject([
      { status: "created", turns: 1, compactions: 1, side_files: { files: 1, left: [] } },
    ]);
    const [{ branch } = { branch: "" }] = sessions;
    expect(await sent(branch)).toContain("Bull.");
    expect(await original(branch)).toBe(documentOf([ask, answer]));
    expect(await original(branch, `${SESSION}.compaction.json`)).toBe(documentOf([ask, short]));
    await expect(original(branch, "other.json")).rejects.toMatchObject({ code: "unknown_side_file" });
    expect((await load()).sessions).toMatchObject([{ status: "unchanged" }]);
  });

  it("is taken when it comes later, and when it changes, though the session's own file stays as it is", async () => {
    writeText(file, documentOf([ask, answer]));
    const [{ branch } = { branch: "" }] = (await load()).sessions;
    expect(await sent(branch)).toContain("all of it");
    writeText(second, documentOf([ask, short]));
    expect((await load()).sessions).toMatchObject([{ status: "updated", branch, turns: 1, compactions: 1 }]);
    expect(await sent(branch)).toContain("Bull.");
    const shorter = { ...short, content: [{ type: "text", text: "B." }] };
    writeText(second, documentOf([ask, shorter], "2026-07-18T02:04:41Z"));
    expect((await load()).sessions).toMatchObject([{ status: "updated", branch, compactions: 1 }]);
    expect(await sent(branch)).toContain("B.");
    expect(await sent(branch)).not.toContain("Bull");
  });

  it("stays one conversation with the session as both grow", async () => {
    writeText(file, documentOf([ask, answer]));
    writeText(second, documentOf([ask, short]));
    const [{ branch } = { branch: "" }] = (await load()).sessions;
    writeText(file, documentOf([ask, answer, more]));
    writeText(second, documentOf([ask, short, more], "2026-07-19T02:04:41Z"));
    expect((await load()).sessions).toMatchObject([{ status: "updated", branch, turns: 2, compactions: 1 }]);
    expect(await workspace.store.listBranches()).toHaveLength(1);
  });

  it("means the session when it is named, is none next to it in a folder, and is one by itself", async () => {
    writeText(second, documentOf([ask, short]));
    expect((await load(second)).sessions).toMatchObject([{ status: "created", compactions: 0, source: second }]);
    writeText(file, documentOf([ask, answer]));
    for (const path of [second, inFolder(workspace, "sessions")]) {
      const { sessions } = await load(path);
      expect(sessions).toMatchObject([{ source: file, compactions: 1 }]);
    }
    expect(await workspace.store.listBranches()).toHaveLength(2);
  });

  it("is not read through a link", async () => {
    writeText(file, documentOf([ask, answer]));
    writeText(inFolder(workspace, "elsewhere"), documentOf([ask, short]));
    symlinkSync(inFolder(workspace, "elsewhere"), second);
    expect((await load()).sessions).toMatchObject([{ status: "created", compactions: 0 }]);
  });
});
