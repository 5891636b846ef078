// The law of sharing: whatever three people do in their stores, in any order, once everybody has pulled and pushed all stores
// hold the same branches; every turn that was ever talked stands on one of them, and every compaction in their history.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadView } from "../../../src/app/branch/load-view.ts";
import { findBrokenLinks } from "../../../src/app/branch/turn-links.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { setTitle } from "../../../src/app/manage/title.ts";
import { type Clone, createClones, syncAll } from "../../helpers/clones.ts";
import { runs } from "../../helpers/runs.ts";
import { buildSession, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";
import { importBytes } from "../../helpers/workspace.ts";

const KINDS = [
  "turn",
  "turn",
  "grow",
  "compact",
  "compact",
  "revert",
  "title",
  "fork",
  "push",
  "pull",
  "stock",
] as const;

interface Act {
  readonly who: number;
  readonly kind: (typeof KINDS)[number];
  /** Chooses a branch, a turn, a compaction. */
  readonly pick: number;
}

const act: fc.Arbitrary<Act> = fc.record({
  who: fc.nat({ max: 2 }),
  kind: fc.constantFrom(...KINDS),
  pick: fc.nat({ max: 99 }),
});

/** What was ever made. */
interface Made {
  readonly turns: Set<string>;
  readonly compactions: Set<string>;
  /** Steps of the agent's session, which grows in every store alike. */
  session: readonly SessionStep[];
}

async function perform(clone: Clone, { kind, pick }: Act, made: Made): Promise<void> {
  const names = Object.keys(await clone.branches()).sort();
  const branch = names[pick % names.length] ?? "";
  const tree = await clone.tree(branch);
  switch (kind) {
    case "turn":
      made.turns.add(await clone.turn(branch, `t${made.turns.size}`));
      return;
    case "grow":
      made.session = [...made.session, ...(pick % 2 === 0 ? (["say"] as const) : (["prompt", "say"] as const))];
      await importBytes(clone.workspace, buildSession(made.session).text());
      return;
    case "compact": {
      const id = await clone.compact(
        branch,
        pick % tree.turnOids.length,
        pick % 3 === 0 ? { turns: "omit" } : { reasoning: "strip" },
      );
      if (id !== "") made.compactions.add(id);
      return;
    }
    case "revert": {
      const log = await clone.workspace.store.readLog({ from: tree.commit, paths: ["compactions"] });
      const live = new Set(tree.compactions.map(({ path }) => path));
      const some = log.filter(
        ({ parents, added, removed }) =>
          parents.length === 1 && (added.some((path) => live.has(path)) || removed.some((path) => !live.has(path))),
      );
      const chosen = some[pick % Math.max(1, some.length)];
      if (chosen !== undefined) await revertCompactions(clone.workspace, [chosen.commit], branch);
      return;
    }
    case "title":
      await setTitle(clone.workspace, tree, `Title ${pick}`);
      return;
    case "fork":
      if (names.length < 4)
        await forkConversation(clone.workspace, tree, {
          activate: pick % 2 === 0,
          first: 1 + (pick % tree.turnOids.length),
        });
      return;
    case "push":
      await clone.push();
      return;
    case "pull":
      await clone.pull();
      return;
    case "stock":
      await useStockGit(clone, branch);
      return;
    default:
      kind satisfies never;
  }
}

/** Reverts the newest commit when it is a compaction; else only looks at what the others have. */
async function useStockGit(clone: Clone, branch: string): Promise<void> {
  const isCompaction = clone.git("log", "-1", "--format=%s", branch).startsWith("compact ");
  if (!isCompaction) return void clone.git("fetch", "--quiet", "team");
  await clone.workspace.store.useBranch(branch);
  clone.git("revert", "--no-edit", branch);
}

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

async function holds(acts: readonly Act[]): Promise<void> {
  const clones = await createClones(3);
  try {
    const made: Made = { turns: new Set(), compactions: new Set(), session: plainTurns(3) };
    const [first, ...others] = clones.all as [Clone, ...Clone[]];
    await importBytes(first.workspace, buildSession(made.session).text());
    await first.push();
    for (const other of others) await other.pull();
    for (const one of acts) await perform(clones.all[one.who] as Clone, one, made);
    await syncAll(clones.all);
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

describe("three stores with one remote", () => {
  it("come to the same, and nothing is lost", async () => {
    await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 14 }), holds), {
      numRuns: runs(4),
      endOnFailure: true,
    });
  }, 600_000);
});
