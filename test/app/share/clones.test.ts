// The law of sharing: whatever three people do in their stores, with jpg and with stock git, and a fourth in a plain clone, once
// everybody has pulled and pushed all stores hold the same branches; every turn that was ever talked stands on one of them, and
// every compaction in their history.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadView } from "../../../src/app/branch/load-view.ts";
import { findBrokenLinks } from "../../../src/app/branch/turn-links.ts";
import type { Clone } from "../../helpers/clones.ts";
import { endOfLongLaw, runs } from "../../helpers/runs.ts";
import { prepareWorld, SHARED_SESSION, settle, type World } from "../../helpers/shared-world.ts";
import { type Act, act, type Made, perform } from "../../helpers/sharing-acts.ts";

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

type Place = "branches" | "hidden";

async function holds(world: World, acts: readonly Act[]): Promise<void> {
  try {
    const made: Made = { turns: new Set(), compactions: new Set(), session: SHARED_SESSION };
    for (const one of acts) await perform(world, one, made);
    await settle(world);
    const [first, ...others] = world.all as [Clone, ...Clone[]];
    const branches = await first.branches();
    for (const other of others) expect(await other.branches()).toEqual(branches);
    const { turns, records } = await survey(first);
    for (const id of made.turns) expect(turns).toContain(`"${id}"`);
    for (const id of made.compactions) expect(records).toContain(id);
    for (const { git } of world.all) expect(git("status", "--porcelain")).toBe("");
  } finally {
    await world.close();
  }
}

/** An example takes most of a second of a processor: dozens of gits. Long ones are for exploring. */
const LONGEST_MS = 400_000;
const [FEWEST_ACTS, MOST_ACTS] = process.env["JPG_RUNS"] === undefined ? [3, 8] : [5, 30];

describe("three stores and a plain clone with one remote", () => {
  const worlds = new Map<Place, Awaited<ReturnType<typeof prepareWorld>>>();
  beforeAll(async () => {
    for (const as of ["branches", "hidden"] as const) worlds.set(as, await prepareWorld(as));
  });
  afterAll(() => {
    for (const { remove } of worlds.values()) remove();
  });

  it("come to the same, and nothing is lost", async () => {
    const place = fc.constantFrom<Place>("branches", "hidden");
    const acts = fc.array(act, { minLength: FEWEST_ACTS, maxLength: MOST_ACTS, size: "max" });
    const open = (as: Place): Promise<World> => worlds.get(as)?.open() ?? Promise.reject(new Error("no world"));
    await fc.assert(
      fc.asyncProperty(place, acts, async (as, list) => holds(await open(as), list)),
      { numRuns: runs(100, 2000), ...endOfLongLaw(LONGEST_MS) },
    );
  }, 600_000);
});
