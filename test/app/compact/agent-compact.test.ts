// Compactions that a model asks for: what is refused, what each tier does, what the model is told.

import { afterEach, describe, expect, it } from "vitest";
import { agentCompact } from "../../../src/app/compact/agent-compact.ts";
import { createCompactTool } from "../../../src/app/compact/compact-tool.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions, loadView } from "../../../src/app/conversation/view.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { COMPACT_TOOL } from "../../../src/core/conversation/defined-tools.ts";
import { type SurveyedSession, surveyedSession } from "../../helpers/surveyed-session.ts";
import { createImportedWorkspace, type GitWorkspace, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const opened: GitWorkspace[] = [];
afterEach(async () => {
  for (const workspace of opened.splice(0)) await removeWorkspace(workspace);
});

interface Place {
  readonly workspace: GitWorkspace;
  readonly branch: string;
  compactions(): Promise<readonly Compaction[]>;
}

async function open(session: SurveyedSession): Promise<Place> {
  const { workspace, branch } = await createImportedWorkspace(surveyedSession(session));
  opened.push(workspace);
  const tree = async () => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  return { workspace, branch, compactions: async () => (await loadCompactions(workspace.store, await tree())).all };
}

/** Tool results make up most of it. */
const OUTPUTS: SurveyedSession = { turns: 12, resultChars: 50_000 };
/** Words make up most of it: no tool result can be shortened. */
const WORDS: SurveyedSession = { turns: 12, answerChars: 50_000 };

describe("agentCompact", () => {
  it("refuses a small conversation, whatever its agent sends before it", async () => {
    const { workspace, branch, compactions } = await open({ turns: 5 });
    const report = await agentCompact(workspace, branch);
    expect(report).toMatchObject({ outcome: "too_small", commit: null, compactions: [], summary: null });
    expect(report.text).toMatch(/^Refused: the conversation has about \d+ tokens; nothing below 10\.0k is compacted\./);
    expect(await compactions()).toEqual([]);
  });

  it("says that none is needed under the target", async () => {
    const { workspace, branch, compactions } = await open({ turns: 12, resultChars: 15_000 });
    const report = await agentCompact(workspace, branch);
    expect(report.outcome).toBe("not_needed");
    expect(report.text).toMatch(/^No compaction needed: .* under the target of 100\.0k already\.$/);
    expect(await compactions()).toEqual([]);
  });

  it("uses the window that it is given", async () => {
    const { workspace, branch } = await open({ turns: 12, resultChars: 15_000 });
    const report = await agentCompact(workspace, branch, { window: 80_000 });
    expect(report.outcome).toBe("compacted");
    expect(report.tokens.after).toBeLessThanOrEqual(40_000);
  });

  it("shortens tool outputs where that is enough, and leaves every word", async () => {
    const { workspace, branch, compactions } = await open(OUTPUTS);
    const report = await agentCompact(workspace, branch);
    const [made, ...more] = await compactions();
    expect(more).toEqual([]);
    expect(made).toMatchObject({ source: "agent", strategy: ["tiered"] });
    expect(report).toMatchObject({ outcome: "compacted", compactions: [made?.id], summary: null });
    expect(report.commit).toBe(await tipOf(workspace, branch));
    expect(report.tokens.after).toBeLessThanOrEqual(100_000);
    expect(report.text).toMatch(/^Compacted turns 0\.\.\d+: about .* → .* tokens\. `jpg revert \w+` undoes it\./);
    expect(report.text).toMatch(/There is no summary: long tool outputs/);
    expect((await agentCompact(workspace, branch)).outcome).toBe("not_needed");
  });

  it("continues with a summary if it is not, and returns it", { tags: ["slow"] }, async () => {
    const { workspace, branch, compactions } = await open(WORDS);
    const report = await agentCompact(workspace, branch, { focus: "the quay" });
    const made = await compactions();
    expect(made.at(-1)).toMatchObject({ source: "agent", summary: { source: "extractive", inject: "system" } });
    expect(report.outcome).toBe("compacted");
    expect(report.summary).toBe(made.at(-1)?.summary?.summary);
    expect(report.text).toContain(report.summary);
    expect(report.tokens.after).toBeLessThan(report.tokens.before);
    const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    const { view } = await loadView(workspace.store, tree);
    expect(JSON.stringify(view)).toContain("Request 11");
  });

  it("keeps the call that the agent is waiting for", async () => {
    const { workspace, branch, compactions } = await open({ ...OUTPUTS, isOpen: true });
    expect((await agentCompact(workspace, branch)).outcome).toBe("compacted");
    expect((await compactions()).every(({ to_turn }) => to_turn < 12)).toBe(true);
  });

  it("says why there is nothing to remove, and what the user may type", async () => {
    const { workspace, branch, compactions } = await open({ turns: 2, answerChars: 80_000 });
    const report = await agentCompact(workspace, branch, { window: 20_000 });
    expect(report).toMatchObject({ outcome: "nothing", commit: null, compactions: [] });
    expect(report.text).toMatch(/^Nothing to compact\. [A-Z].*\.\nA hint for the user: .*`jpg compact --keep 0`/);
    expect(await compactions()).toEqual([]);
  });

  it("says that nothing is complete yet where there is no branch", async () => {
    const { workspace } = await open({ turns: 1 });
    expect(await agentCompact(workspace, "new-k3f9/main")).toMatchObject({
      outcome: "too_small",
      tokens: { before: 0 },
    });
  });
});

/** A model without a key, whose window is not known. */
const OFFERED = {
  name: "anthropic/claude-x",
  facts: { contextWindow: null, maxOutput: null, price: null },
  others: [],
};

describe("compactTool", () => {
  const call = async ({ workspace, branch }: Place, args: Record<string, unknown>, signal?: AbortSignal) =>
    createCompactTool(workspace, branch, OFFERED).call(args, { signal: signal ?? new AbortController().signal });

  it("is described to the model and asks nobody", async () => {
    const { workspace, branch } = await open({ turns: 1 });
    const tool = createCompactTool(workspace, branch, OFFERED);
    expect(tool).toMatchObject({ origin: "jpg", confirm: false, definition: { name: COMPACT_TOOL } });
    expect(tool.definition.parameters).toMatchObject({ properties: { focus: { type: "string" } } });
  });

  it("gives the model the outcome", async () => {
    const small = await open({ turns: 1 });
    expect(await call(small, {})).toEqual({ content: expect.stringMatching(/^Refused/) as string, isError: true });
    const long = await open(OUTPUTS);
    expect(await call(long, { focus: " " })).toMatchObject({ isError: false });
    expect((await call(long, {})).content).toMatch(/^No compaction needed/);
  });

  it("refuses wrong arguments, and ends with its signal", async () => {
    const place = await open({ turns: 1 });
    expect(await call(place, { focus: 3 })).toMatchObject({ isError: true });
    expect(await call(place, { focuss: "x" })).toMatchObject({
      isError: true,
      content: expect.stringContaining('"focuss"'),
    });
    expect(await call(place, { focus: "x".repeat(3000) })).toMatchObject({ isError: true });
    await expect(call(place, {}, AbortSignal.abort())).rejects.toThrow(/abort/);
  });
});
