// Which turns do not follow the turn before them, and what is read to know it.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findBrokenLinks } from "../../../src/app/conversation/spliced-turns.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { turnPath } from "../../../src/core/conversation/turn-file.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const BY = { name: "Ada Test", email: "ada@example.com", seconds: 1_900_000_000 };

let workspace: GitWorkspace;
let branch: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, buildSession(plainTurns(8)).text()));
});
afterEach(() => removeWorkspace(workspace));

/** The turns that are broken at the tip, and the positions whose files were read to know it. */
async function check(): Promise<{ broken: readonly number[]; read: number[] }> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const read: number[] = [];
  const spied = Object.create(workspace.store, {
    readBlobs: {
      value: (oids: readonly string[], atLeast?: number) => {
        read.push(...oids.map((oid) => tree.turnOids.indexOf(oid)));
        return workspace.store.readBlobs(oids, atLeast);
      },
    },
  }) as ConversationStore;
  return { broken: await findBrokenLinks(spied, tree), read };
}

/** Rewrites a turn, as a merge would, or removes the newest. */
async function write(turn: number, text: string | null): Promise<void> {
  const tip = await tipOf(workspace, branch);
  const path = turnPath(turn);
  const change = text === null ? { path, remove: true as const } : { path, bytes: Buffer.from(text) };
  const commits = [{ message: "rewritten\n", author: BY, committer: BY, changes: [change] }];
  const [result] = await workspace.store.write([{ branch, expected: tip, parent: tip, commits }]);
  expect(result?.moved).toBe(true);
}

describe("the turns of a branch", () => {
  it("are read once where they were added or changed, with the ones after them", async () => {
    expect(await check()).toEqual({ broken: [], read: [0, 1, 2, 3, 4, 5, 6, 7] });
    await importBytes(workspace, buildSession(plainTurns(10)).text());
    expect(await check()).toEqual({ broken: [], read: [8, 9] });
    expect(await check()).toEqual({ broken: [], read: [] });
    await write(3, '{"type":"note","id":"n","timestamp":"","kind":"k"}\n');
    // It does not say what it follows; the turn after it names another.
    expect(await check()).toEqual({ broken: [4], read: [3, 4] });
    await write(9, null);
    expect(await check()).toEqual({ broken: [4], read: [] });
    await write(8, "no event\n");
    expect(await check()).toEqual({ broken: [4], read: [8] });
  });

  it("are all read when nothing is cached, or the cache is damaged", async () => {
    await check();
    const folder = join(workspace.store.gitDir, "jpg-cache");
    const file = readdirSync(folder).find((name) => name.startsWith("tip-")) ?? "";
    const whole = readFileSync(join(folder, file), "utf8");
    for (const text of ["", "null", whole.slice(64), whole.replace('"value":[]', '"value":[3]')]) {
      writeFileSync(join(folder, file), text);
      expect(await check()).toEqual({ broken: [], read: [0, 1, 2, 3, 4, 5, 6, 7] });
    }
  });

  it("begin with one that follows none", async () => {
    const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    await write(0, `{"type":"turn_start","id":"t","timestamp":"","prev":"${tree.turnOids[3]}"}\n`);
    expect((await check()).broken).toEqual([0, 1]);
  });
});
