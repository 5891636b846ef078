// The law of sharing: whatever three people do in their stores, with jpg and with stock git, and a fourth in a plain clone, once
// everybody has pulled and pushed all stores hold the same branches; every turn that was ever talked stands on one of them, and
// every compaction in their history.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrokenLinks } from "../../src/app/conversation/spliced-turns.ts";
import { loadView } from "../../src/app/conversation/view.ts";
import { RECORD_FOLDERS } from "../../src/core/conversation/branch-files.ts";
import { type History, lastWords, reachedFrom, readHistory } from "./branch-history.ts";
import type { Clone } from "./clones.ts";
import { endOfLongLaw, runs } from "./runs.ts";
import { branchesOf, prepareWorld, SHARED_SESSION, settle, type World } from "./shared-world.ts";
import { type Act, act, type Made, perform } from "./sharing-acts.ts";

/** Ids that the turns of all branches begin with, and names of all compactions in their history. */
async function survey(
  clone: Clone,
  history: History,
  branches: ReadonlyMap<string, string>,
): Promise<{ readonly turns: string; readonly records: string }> {
  const turns: string[] = [];
  const seen = new Set<string>();
  for (const [branch, tip] of branches) {
    const tree = await clone.tree(branch);
    const fresh = tree.turnOids.filter((oid) => !seen.has(oid));
    for (const oid of fresh) seen.add(oid);
    for await (const bytes of clone.workspace.store.readBlobs(fresh)) turns.push(Buffer.from(bytes).toString());
    const files = await clone.workspace.store.listTree(tip, { under: RECORD_FOLDERS });
    const live = new Set(files.map(({ path }) => path));
    const { brought, takenBack, known } = lastWords(history, tip);
    expect(brought.filter((path) => !live.has(path))).toEqual([]);
    expect(takenBack.filter((path) => live.has(path))).toEqual([]);
    expect([...live].filter((path) => !known.has(path))).toEqual([]);
    expect(await findBrokenLinks(clone.workspace.store, tree)).toEqual([]);
    await loadView(clone.workspace.store, tree);
  }
  return { turns: turns.join("\n"), records: [...history.values()].flatMap(({ added }) => added).join("\n") };
}

type Place = "branches" | "hidden";

/** Counts acts by their kinds. */
type Tally = Map<string, number>;

async function holds(world: World, acts: readonly Act[], tally: Tally): Promise<void> {
  try {
    const made: Made = { turns: new Set(), compactions: new Set(), session: SHARED_SESSION };
    for (const one of acts) {
      const kind = await perform(world, one, made);
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
    }
    await settle(world);
    const [first, ...others] = world.all as [Clone, ...Clone[]];
    const { own: branches } = branchesOf(first);
    for (const other of others) expect(branchesOf(other).own).toEqual(branches);
    const history = readHistory(first);
    // Whoever puts two tips together makes the same commit.
    const meetings = [...history.values()].flatMap(({ meeting }) => meeting ?? []);
    expect(meetings).toEqual([...new Set(meetings)]);
    const { turns, records } = await survey(first, history, branches);
    for (const [name, commits] of world.published) {
      const reached = reachedFrom(history, branches.get(name) ?? "");
      expect([...commits].filter((commit) => !reached.has(commit))).toEqual([]);
    }
    for (const id of made.turns) expect(turns).toContain(`"${id}"`);
    for (const id of made.compactions) expect(records).toContain(id);
    for (const { git } of world.all) expect(git("status", "--porcelain")).toBe("");
  } finally {
    await world.close();
  }
}

/** An example takes most of a second of a quiet processor, of a busy one many: dozens of gits. Long ones are for exploring. */
const LONGEST_MS = 400_000;
/** Sequences of both places in the slow suite: at a load of ten on two processors, a hundred took over ten minutes. */
const USUAL_SEQUENCES = 40;
const LIMIT_MS = 1_200_000;
/** `npm run explore -- --sequences N` wants so many, however long they take. */
const { JPG_RUNS: exploring, JPG_SEQUENCES: wanted } = process.env;
const [FEWEST_ACTS, MOST_ACTS] = exploring === undefined && wanted === undefined ? [3, 8] : [5, 30];

/** Sequences of both places together; each is a test file of its own, so that two processors share the work. */
const PLACES = 2;
/** Where so many are wanted, the count is said each time that so many more were drawn. */
const SAID_EACH = 50;

/** Draws what everybody does where conversations are published so, and sees that all come to the same. */
export function testSharing(as: Place): void {
  describe(`three stores and a plain clone with one remote, by ${as}`, () => {
    let world: Awaited<ReturnType<typeof prepareWorld>>;
    beforeAll(async () => {
      world = await prepareWorld(as);
    });
    afterAll(() => world.remove());

    it("come to the same, and nothing is lost", {
      tags: ["slow"],
      timeout: wanted === undefined ? LIMIT_MS : 0,
    }, async () => {
      const acts = fc.array(act, { minLength: FEWEST_ACTS, maxLength: MOST_ACTS, size: "max" });
      const tally: Tally = new Map();
      let drawn = 0;
      const property = fc.asyncProperty(acts, async (list) => {
        await holds(await world.open(), list, tally);
        if (++drawn % SAID_EACH === 0 && wanted !== undefined) console.log(said(as, drawn, tally));
      });
      const count = Math.ceil(Number(wanted ?? USUAL_SEQUENCES) / PLACES);
      const end = wanted === undefined ? endOfLongLaw(LONGEST_MS) : {};
      await fc.assert(property, { seed: seedOf(as), numRuns: runs(count, 2000 / PLACES), ...end });
      if (wanted !== undefined) console.log(said(as, drawn, tally));
    });
  });
}

function said(as: Place, drawn: number, tally: Tally): string {
  const kinds = [...tally].sort(([, one], [, other]) => other - one).map(([kind, count]) => `${count} ${kind}`);
  const acts = [...tally.values()].reduce((sum, count) => sum + count, 0);
  return `${as}: ${drawn} sequences hold, ${acts} acts: ${kinds.join(", ")}`;
}

/** The two draw different sequences. */
function seedOf(as: Place): number {
  return (fc.readConfigureGlobal().seed ?? 0) + (as === "hidden" ? 1 : 0);
}
