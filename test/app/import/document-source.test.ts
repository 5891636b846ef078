// Sessions that are one document, rewritten on each save: stored whole, and compared by turns.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { checkStore } from "../../../src/app/integrity/fsck.ts";
import { READING, writeDocument } from "../../helpers/document-agent.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

vi.mock("../../../src/formats/agents.ts", async () => {
  const { DOCUMENT_AGENT } = await import("../../helpers/document-agent.ts");
  return { AGENTS: [DOCUMENT_AGENT] };
});

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});
afterEach(() => {
  READING.suffix = "";
});

function load(text: string): Promise<ImportReport> {
  return importBytes(workspace, Buffer.from(text));
}

async function sourcesOf(branch: string): Promise<string[]> {
  const files = await workspace.store.listTree(await tipOf(workspace, branch), { under: ["sources"] });
  return files.map(({ path }) => path);
}

async function original(branch: string): Promise<string> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const pieces: Uint8Array[] = [];
  for await (const piece of await exportOriginal(workspace, tree)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe("a session that is one document", () => {
  it("is stored whole, comes back byte for byte, and is unchanged the second time", async () => {
    const text = writeDocument(3);
    const report = await load(text);
    expect(report).toMatchObject({ status: "created", turns: 3, bytes: text.length });
    expect(await sourcesOf(report.branch)).toEqual(["sources/one-document/document.json"]);
    expect(await original(report.branch)).toBe(text);
    expect(await load(text)).toMatchObject({ status: "unchanged", branch: report.branch });
  });

  it("continues its conversation when it grew, and holds the newest state only", async () => {
    const { branch } = await load(writeDocument(2));
    const before = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    const text = writeDocument(4);
    expect(await load(text)).toMatchObject({ status: "updated", branch, turns: 4, turns_added: 2 });
    const after = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    expect(after.turnOids.slice(0, 2)).toEqual(before.turnOids);
    expect(await sourcesOf(branch)).toEqual(["sources/one-document/document.json"]);
    expect(await original(branch)).toBe(text);
  });

  it("has its bytes renewed when nothing but its head changed", async () => {
    const { branch } = await load(writeDocument(2));
    const text = writeDocument(2, { note: "saved again" });
    expect(await load(text)).toMatchObject({ status: "updated", branch, turns: 2, turns_added: 0 });
    expect(await original(branch)).toBe(text);
    expect(await load(text)).toMatchObject({ status: "unchanged", branch });
  });

  it("has nothing new in an older state, and forks where it went another way", async () => {
    const text = writeDocument(4);
    const { branch } = await load(text);
    expect(await load(writeDocument(2))).toMatchObject({ status: "unchanged", branch, turns: 4 });
    expect(await original(branch)).toBe(text);
    const rewritten = writeDocument(5, { other: 2 });
    const forked = await load(rewritten);
    expect(forked).toMatchObject({ status: "forked", turns: 5, turns_added: 3 });
    expect([await original(branch), await original(forked.branch)]).toEqual([text, rewritten]);
    expect((await checkStore(workspace)).findings).toEqual([]);
  });

  it("continues its branch although jpg reads it differently by now", async () => {
    const { branch } = await load(writeDocument(3));
    READING.suffix = ", as read today";
    expect(await load(writeDocument(3))).toMatchObject({ status: "unchanged", branch });
    const text = writeDocument(4);
    expect(await load(text)).toMatchObject({ status: "updated", branch, turns: 4, turns_added: 1 });
    expect(await original(branch)).toBe(text);
  });
});
