// The law of sharing: whatever three people do in their stores, with jpg and with stock git, and a fourth in a plain clone, once
// everybody has pulled and pushed all stores hold the same branches; every turn that was ever talked stands on one of them, and
// every compaction in their history.
import { dirname } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadView } from "../../../src/app/branch/load-view.ts";
import { findBrokenLinks } from "../../../src/app/branch/turn-links.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { type Clone, createClones, syncAll } from "../../helpers/clones.ts";
import { createPlainClone } from "../../helpers/plain-clone.ts";
import { endOfLongLaw, runs } from "../../helpers/runs.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { type Act, act, type Made, perform } from "../../helpers/sharing-acts.ts";
import { importBytes } from "../../helpers/workspace.ts";

/** Ids that the turns of all branches begin with, and names of all compactions in their history. */
async function survey(clone: Clone): Promise<{ readonly turns: string; readonly records: string }> {
  const [turns, records]: [string[], string[]] = [[], []];
  for (const branch of Object.keys(await clone.branches())) {
    const tree = await clone.tree(branch);
    for await (const bytes of clone.workspace.store.readBlobs(tree.turnOids)) turns.push(Buffer.from(bytes).toString());
    const log = await clone.workspace.store.readLog({ from: tree.commit, paths: ["compactions"] });
    records.push(...log.flatMap(({ added }) => added));
    expect(await findBrokenLinks(clone.workspace.store, tree)).toEqual([]);
    await loadView(clone.workspace.store, tree);
  }
  return { turns: turns.join("\n"), records: records.join("\n") };
}

async function holds(as: "branches" | "hidden", acts: readonly Act[]): Promise<void> {
  const clones = await createClones(3, as);
  try {
    const made: Made = {
      turns: new Set(),
      compactions: new Set(),
      session: [...plainTurns(2), "prompt", "think", "say"],
    };
    const [first, ...others] = clones.all as [Clone, ...Clone[]];
    await importBytes(first.workspace, buildSession(made.session).text());
    const [main = ""] = Object.keys(await first.branches());
    await forkConversation(first.workspace, await first.tree(main), { activate: false, first: 2, name: "try" });
    await first.push();
    for (const other of others) await other.pull();
    const plain = createPlainClone(dirname(clones.remote), clones.remote, as);
    plain.pull();
    for (const one of acts) await perform({ clone: clones.all[one.who] as Clone, plain }, one, made);
    await syncAll(clones.all, plain);
    const branches = await first.branches();
    for (const other of others) expect(await other.branches()).toEqual(branches);
    const { turns, records } = await survey(first);
    for (const id of made.turns) expect(turns).toContain(`"${id}"`);
    for (const id of made.compactions) expect(records).toContain(id);
    for (const { git } of clones.all) expect(git("status", "--porcelain")).toBe("");
  } finally {
    await clones.remove();
  }
}

/** An example takes a second or two of a processor: dozens of gits. */
const LONGEST_MS = 400_000;

describe("three stores and a plain clone with one remote", () => {
  it("come to the same, and nothing is lost", async () => {
    const place = fc.constantFrom("branches" as const, "hidden" as const);
    await fc.assert(fc.asyncProperty(place, fc.array(act, { minLength: 5, maxLength: 30, size: "max" }), holds), {
      numRuns: runs(12, 2000),
      ...endOfLongLaw(LONGEST_MS),
    });
  }, 600_000);
});
