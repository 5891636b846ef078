// @module-tag law
// @module-tag slow
// Taking compactions back, with stock git and with jpg, in any order and after later turns: only the record's file goes or
// comes back, and the view is that of the tree without it.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compact } from "../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../src/app/conversation/tree.ts";
import { loadView } from "../../src/app/conversation/view.ts";
import { readCompactionLog } from "../../src/app/look/log.ts";
import { revertCompactions, undoCompaction } from "../../src/app/manage/revert.ts";
import { parseCompactionLine } from "../../src/core/conversation/compaction-line.ts";
import type { View } from "../../src/core/conversation/event.ts";
import type { Policies } from "../../src/core/conversation/policy.ts";
import { project } from "../../src/core/conversation/projection.ts";
import { parseBound } from "../../src/core/conversation/range-bound.ts";
import { parseTurnFile } from "../../src/core/conversation/turn-file.ts";
import { runs } from "../helpers/runs.ts";
import { buildSession, plainTurns } from "../helpers/session-builder.ts";
import { git } from "../helpers/temp-repository.ts";
import {
  createGitWorkspace,
  createTestRuntime,
  type GitWorkspace,
  importBytes,
  removeWorkspace,
  tipOf,
} from "../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;
let start: string;
const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);

beforeAll(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, buildSession(plainTurns(7)).text()));
  start = await tipOf(workspace, branch);
});
afterAll(() => removeWorkspace(workspace));

function reset(): void {
  stockGit("reset", "--quiet", "--hard", start);
}

async function tree(at?: string): Promise<BranchTree> {
  return loadBranchTree(workspace.store, branch, at ?? (await tipOf(workspace, branch)));
}

/** The projection of what stands in a commit's tree, read by stock git. */
function expectedView(at: string, without: readonly string[] = []): View {
  const names = (folder: string): string[] =>
    stockGit("ls-tree", "-r", "--name-only", at, `${folder}/`)
      .split("\n")
      .filter((name) => name !== "");
  const read = (path: string): string => stockGit("cat-file", "blob", `${at}:${path}`);
  const paths = names("turns");
  const turns = new Map(paths.map((path, index) => [index, { index, events: parseTurnFile(`${read(path)}\n`, path) }]));
  const records = names("compactions").map((path) => parseCompactionLine(read(path), path));
  const compactions = records.filter(({ id }) => !without.includes(id));
  return project({ turnCount: paths.length, turns, compactions });
}

async function viewNow(): Promise<View> {
  return (await loadView(workspace.store, await tree())).view;
}

interface Made {
  readonly id: string;
  readonly commit: string;
}

interface Step {
  readonly from: number;
  readonly size: number;
  readonly what: "reasoning" | "tools" | "omit" | "summary" | "turns";
}

const POLICIES: Readonly<Record<Exclude<Step["what"], "summary">, Policies>> = {
  reasoning: { reasoning: "strip" },
  tools: { tool_calls: { policy: "strip", request: true, response: true } },
  omit: { tool_calls: { policy: "omit" } },
  turns: { turns: "omit" },
};

async function make({ from, size, what }: Step, at: number): Promise<Made | null> {
  const range = { from: parseBound(String(from)), to: parseBound(String(Math.min(6, from + size))) };
  const content = what === "summary" ? { summary: { summary: `summary ${at}` } } : { policies: POLICIES[what] };
  const request = { range, ...content, dryRun: false, fork: false, activate: false, force: true };
  const { compaction, commit } = await compact(workspace, await tree(), request);
  return compaction === null || commit === null ? null : { id: compaction.id, commit };
}

async function makeAll(steps: readonly Step[]): Promise<Made[]> {
  const made: Made[] = [];
  for (const [at, step] of steps.entries()) {
    const one = await make(step, at);
    if (one !== null) made.push(one);
  }
  return made;
}

const steps = fc.array(
  fc.record({
    from: fc.nat(5),
    size: fc.nat(4),
    what: fc.constantFrom<Step["what"]>("reasoning", "tools", "omit", "summary", "summary", "turns"),
  }),
  { minLength: 1, maxLength: 4 },
);

describe("reverting compactions", () => {
  it("leaves exactly the projection of the tree without them: stock git, any order, after later turns", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), fc.infiniteStream(fc.nat()), async (stack, isLater, order) => {
        reset();
        const made = await makeAll(stack);
        if (isLater) await importBytes(workspace, buildSession(plainTurns(9)).text());
        const before = await viewNow();
        const top = await tipOf(workspace, branch);
        expect(before).toEqual(expectedView(top));
        const rest = [...made];
        const gone: string[] = [];
        while (rest.length > 0) {
          const [one] = rest.splice(order.next().value % rest.length, 1);
          stockGit("revert", "--no-edit", one!.commit);
          gone.push(one!.id);
          expect(await viewNow()).toEqual(expectedView(top, gone));
        }
        const commits = stockGit("rev-list", `-${made.length}`, branch).split("\n").filter(Boolean);
        for (const commit of made.length === 0 ? [] : commits) stockGit("revert", "--no-edit", commit);
        expect(await viewNow()).toEqual(before);
        expect(stockGit("rev-parse", `${branch}^{tree}`)).toBe(stockGit("rev-parse", `${top}^{tree}`));
      }),
      { numRuns: runs(10) },
    );
  });

  it("gives the same tree with jpg revert as with stock git, and takes a revert back likewise", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (stack, pick) => {
        reset();
        const made = await makeAll(stack);
        fc.pre(made.length > 0);
        const one = made[pick % made.length]!;
        const top = await tipOf(workspace, branch);
        stockGit("revert", "--no-edit", one.commit);
        const byGit = stockGit("rev-parse", `${branch}^{tree}`);
        stockGit("reset", "--quiet", "--hard", top);
        const report = await revertCompactions(workspace, [one.id]);
        expect(report).toMatchObject({ reverted: [one.id], branch });
        expect(stockGit("rev-parse", `${branch}^{tree}`)).toBe(byGit);
        expect(stockGit("status", "--porcelain")).toBe("");
        const again = await revertCompactions(workspace, [report.commit!]);
        expect(again.reverted).toEqual([one.id]);
        expect(stockGit("rev-parse", `${branch}^{tree}`)).toBe(stockGit("rev-parse", `${top}^{tree}`));
        const kinds = (await readCompactionLog(workspace, await tree())).map(({ kind }) => kind);
        expect(kinds.slice(0, 2)).toEqual(["reapply", "revert"]);
      }),
      { numRuns: runs(8) },
    );
  });

  it("undoes the newest live compaction in commit order, whatever its time says", async () => {
    reset();
    const made = await makeAll([
      { from: 0, size: 2, what: "tools" },
      { from: 3, size: 1, what: "summary" },
    ]);
    // A clock that went back: the newest commit's record has the newest time all the same.
    const skewed = {
      ...workspace,
      runtime: createTestRuntime(workspace.temp.folder, workspace.temp.env, "2001-01-01T00:00:00Z"),
    };
    const range = { from: parseBound("5"), to: parseBound("5") };
    const request = { range, policies: POLICIES.reasoning, dryRun: false, fork: false, activate: false };
    const late = await compact(skewed, await tree(), { ...request, policies: POLICIES.turns });
    const undone: string[] = [];
    for (let count = 0; count < 3; count++) undone.push(...(await undoCompaction(workspace, await tree())).reverted);
    expect(undone).toEqual([late.compaction!.id, made[1]!.id, made[0]!.id]);
    await expect(undoCompaction(workspace, await tree())).rejects.toMatchObject({ code: "nothing_to_undo" });
    expect(await viewNow()).toEqual(expectedView(start));
  });

  it("reverts several in one call, each in a commit of its own, and minds none that is named twice", async () => {
    reset();
    const made = await makeAll([
      { from: 0, size: 2, what: "tools" },
      { from: 3, size: 1, what: "summary" },
    ]);
    const top = await tipOf(workspace, branch);
    const report = await revertCompactions(workspace, [made[1]!.id, made[0]!.id, made[1]!.id]);
    expect(report.reverted).toEqual([made[1]!.id, made[0]!.id]);
    expect(report.commit).toBe(await tipOf(workspace, branch));
    expect(stockGit("rev-list", "--count", `${top}..${branch}`)).toBe("2");
    expect(await viewNow()).toEqual(expectedView(start));
  });

  it("writes nothing when one of several ids is wrong or was taken back already", async () => {
    reset();
    const [one] = await makeAll([{ from: 0, size: 2, what: "tools" }]);
    const top = await tipOf(workspace, branch);
    await expect(revertCompactions(workspace, [one!.id, "nothing"])).rejects.toMatchObject({ code: "unknown_id" });
    expect(await tipOf(workspace, branch)).toBe(top);
    await revertCompactions(workspace, [one!.id]);
    const reverted = await tipOf(workspace, branch);
    await expect(revertCompactions(workspace, [one!.id])).rejects.toMatchObject({ code: "already_reverted" });
    expect(await tipOf(workspace, branch)).toBe(reverted);
  });

  it("says so when a later summary keeps a revert from showing", async () => {
    reset();
    const [below, above] = await makeAll([
      { from: 1, size: 1, what: "tools" },
      { from: 0, size: 3, what: "summary" },
    ]);
    const before = await viewNow();
    const report = await revertCompactions(workspace, [below!.id]);
    expect(report.warnings?.join()).toContain(above!.id);
    expect(await viewNow()).toEqual(before);
  });
});
