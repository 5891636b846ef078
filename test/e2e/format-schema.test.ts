// docs/format.schema.json against stores: every record in the tree of every branch, after all commands that write records, and of
// real sessions. Needs the corpus for these (../shared or JPG_CORPUS).
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadTip } from "../../src/app/conversation/tree.ts";
import { startChatServer } from "../helpers/chat-server.ts";
import { corpusMissing, listCorpus, readCorpusFile } from "../helpers/corpus.ts";
import { checkStoredFile } from "../helpers/format-schema.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import type { Sandbox } from "../helpers/run-jpg.ts";
import { createMemoryWorkspace, importBytes } from "../helpers/workspace.ts";

const MCP_SERVER = fileURLToPath(new URL("../fixtures/mcp/server.mjs", import.meta.url));

/** Commands that write records of every kind. */
const WRITING: readonly (readonly string[])[] = [
  ["title", "@", "Reading a gauge"],
  ["label", "@", "tide"],
  ["pin", "@", "1"],
  ["pin", "@", "1", "--remove"],
  ["comment", "2", "How was that measured?"],
  ["config", "set", "conversation.compaction.keep_last", "5"],
  ["archive"],
  ["unarchive"],
  ["compact", "-s", "auto:protect=0", "--force", "--keep", "2"],
  ["compact", "-s", "truncate:head=0.7", "-s", "strip-images", "--force"],
  ["fork", "@", "short", "--first", "3"],
  ["merge", "main", "--summary", "The gauge was read three times."],
  ["compact", "-p", "heavy", "-m", "extractive", "--keep", "0", "--force"],
];

/** The records of all branches by folder, each file checked. */
function checkSandbox(sandbox: Sandbox): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const branches = sandbox.git(["for-each-ref", "--format=%(refname)", "refs/heads"]).trim().split("\n");
  for (const branch of branches)
    for (const path of sandbox.git(["ls-tree", "-r", "--name-only", branch]).trim().split("\n")) {
      const checked = checkStoredFile(path, () => sandbox.git(["show", `${branch}:${path}`]));
      if (checked === null) continue;
      expect(checked.problems).toEqual([]);
      const [folder = ""] = path.split("/");
      counts.set(folder, (counts.get(folder) ?? 0) + checked.records);
    }
  return counts;
}

describe("the schema of the format", () => {
  it("takes every record of a store that commands wrote, and of turns with a model", { tags: ["slow"] }, async () => {
    const server = await startChatServer((stream) => {
      stream.text("Two metres.");
      stream.finish();
    });
    onTestFinished(() => server.close());
    const sandbox = await copyImportedSandbox(6);
    onTestFinished(() => sandbox.remove());
    const mcp = `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([MCP_SERVER])}\nconfirm = false\n`;
    writeUserConfig(sandbox, `${server.config}\n[mcp.servers.files]\n${mcp}`);
    await sandbox.jpg(["query", "How deep is it?"]);
    await sandbox.jpg(["query", "-"], { input: "tide ".repeat(100_000) });
    for (const words of WRITING) {
      const { code, stderr } = await sandbox.jpg(words);
      expect([words, code, code === 0 ? "" : stderr]).toEqual([words, 0, ""]);
    }
    const counts = checkSandbox(sandbox);
    expect([...counts.keys()].sort()).toEqual([
      "attachments",
      "compactions",
      "config",
      "conversation.json",
      "meta",
      "turns",
    ]);
    expect(Math.min(...counts.values())).toBeGreaterThan(1);
  });
});

/** Large ones take long and have nothing else in them: all were checked once by hand. */
const LARGEST = 400_000;
const sessions = listCorpus(".").filter((file) => file.split("/").length === 3);
const because = corpusMissing === null ? "" : ` (SKIPPED: ${corpusMissing})`;

describe.skipIf(corpusMissing !== null)(`the schema and the corpus${because}`, () => {
  it("takes every record of the smaller sessions", { tags: ["slow"] }, async () => {
    const small = sessions.filter((file) => readCorpusFile(file).length < LARGEST);
    expect(small.length).toBeGreaterThan(12);
    let records = 0;
    for (const file of small) {
      const { store, ...workspace } = await createMemoryWorkspace();
      const { branch } = await importBytes({ store, ...workspace }, readCorpusFile(file));
      const tip = await loadTip(store, branch);
      for (const { path, oid } of await store.listTree(tip?.commit ?? "")) {
        const texts: string[] = [];
        for await (const bytes of store.readBlobs([oid])) texts.push(new TextDecoder().decode(bytes));
        const checked = checkStoredFile(path, () => texts.join(""));
        expect([file, checked?.problems ?? []]).toEqual([file, []]);
        records += checked?.records ?? 0;
      }
    }
    expect(records).toBeGreaterThan(500);
  });
});
