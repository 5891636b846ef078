// Automatic compaction over a real store: windows of known models, made small by small ratios.

import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AutoSituation, autoCompact } from "../../../src/app/compact/auto.ts";
import { compact } from "../../../src/app/compact/compact.ts";
import type { CompactReport } from "../../../src/app/compact/compact-report.ts";
import { readTip, updateTip } from "../../../src/app/conversation/tip-cache.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { openWorkspace, type Workspace } from "../../../src/app/conversation/workspace.ts";
import { checkConversation } from "../../../src/app/integrity/check.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { toAnthropicThread } from "../../../src/core/model/anthropic-thread.ts";
import { toGoogleThread } from "../../../src/core/model/google-thread.ts";
import { toOpenAiChatThread } from "../../../src/core/model/openai-chat-thread.ts";
import { toOpenAiResponsesThread } from "../../../src/core/model/openai-responses-thread.ts";
import { createLongSession, type LongSession } from "../../helpers/long-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

/** Of the window of the session's model: 200,000 tokens. */
const SMALL = "auto.trigger_ratio=0.03";
const ON = ["auto.enabled=true", SMALL, "auto.warning_ratio=0.02"];

let base: GitWorkspace;
let session: LongSession;
let said: string[];
let warned: string[];
const opened: Workspace[] = [];
beforeEach(async () => {
  base = await createGitWorkspace();
  session = createLongSession();
  said = [];
  warned = [];
});
afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close();
  await removeWorkspace(base);
});

/** The store with settings of a call. */
async function withSettings(...overrides: string[]): Promise<Workspace> {
  const workspace = await openWorkspace(base.runtime, { store: base.temp.root, overrides });
  opened.push(workspace);
  return workspace;
}

async function grow(): Promise<string> {
  return (await importBytes(base, session.bytes())).branch;
}

function situation(changes: Partial<AutoSituation> = {}): AutoSituation {
  return {
    model: null,
    window: null,
    place: "between_turns",
    notice: (text) => said.push(text),
    warn: (text) => warned.push(text),
    ...changes,
  };
}

const treeOf = async (branch: string): Promise<BranchTree> =>
  loadBranchTree(base.store, branch, await tipOf(base, branch));
const run = async (branch: string, settings: readonly string[] = ON, changes: Partial<AutoSituation> = {}) =>
  autoCompact(await withSettings(...settings), branch, situation(changes));
const rangeOf = (report: CompactReport | null): readonly unknown[] => [report?.from_turn, report?.to_turn];

describe("automatic compaction", () => {
  it("does nothing unless it is turned on", async () => {
    session.turns(10);
    const branch = await grow();
    const tip = await tipOf(base, branch);
    expect(await run(branch, [SMALL])).toBeNull();
    expect(await tipOf(base, branch)).toBe(tip);
    expect([...said, ...warned]).toEqual([]);
  });

  it("compacts to keep_last with the profile of the settings, says so, and is in the log as automatic", async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch);
    expect(rangeOf(report)).toEqual([0, 6]);
    expect(report?.compaction).toMatchObject({ source: "auto", profile: "default", reasoning: "strip" });
    expect(said).toEqual([
      expect.stringMatching(/^— context compacted \([\d.]+k → [\d.]+k tokens\) —$/),
      `turns 0..6 by profile default: reasoning + tools stripped; \`jpg revert ${report?.compaction?.id}\` undoes it`,
    ]);
    expect(warned).toEqual([]);
    const [row] = await readCompactionLog(base, await treeOf(branch));
    expect(row).toMatchObject({ source: "auto", from_turn: 0, to_turn: 6, live: true });
  });

  it("continues after the last compaction, and only when there is a new turn", async () => {
    session.turns(10);
    const branch = await grow();
    await run(branch);
    expect(await run(branch)).toBeNull();
    session.turns(4);
    await grow();
    expect(rangeOf(await run(branch))).toEqual([7, 10]);
    expect(await run(branch)).toBeNull();
    const { live } = await loadView(base.store, await treeOf(branch));
    expect(live.applied.map(({ from_turn, to_turn }) => [from_turn, to_turn])).toEqual([
      [0, 6],
      [7, 10],
    ]);
    expect((await checkConversation(base, await treeOf(branch), {})).ok).toBe(true);
  });

  it("does not compact again at once what was reverted, also in a clone, which knows it by the compaction", {
    tags: ["slow"],
  }, async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch);
    const { auto } = readTip(base.store, branch);
    await base.store.dropCaches();
    expect(await run(branch)).toBeNull();
    await updateTip(base.store, branch, auto === undefined ? {} : { auto });
    await revertCompactions(base, [report!.compaction!.id]);
    expect(await run(branch)).toBeNull();
    session.turns(1);
    await grow();
    expect(rangeOf(await run(branch))).toEqual([0, 7]);
  });

  it("treats a damaged cache as none", async () => {
    session.turns(10);
    const branch = await grow();
    await updateTip(base.store, branch, { auto: { triedAt: 10, leftTokens: 9, hasWarned: true } });
    const folder = join(base.store.gitDir, "jpg-cache");
    const name = readdirSync(folder).find((file) => file.startsWith("tip-")) ?? "";
    appendFileSync(join(folder, name), " ");
    expect(rangeOf(await run(branch))).toEqual([0, 6]);
  });

  it("keeps the newest, protected messages, in whole turns", async () => {
    session.turns(10);
    const branch = await grow();
    expect(rangeOf(await run(branch, [...ON, "protected_messages=9"]))).toEqual([0, 4]);
  });

  it("keeps as many turns as its profile says, rather than the settings", async () => {
    session.turns(10);
    const branch = await grow();
    const own = ["profiles.own.reasoning=strip", "profiles.own.tool_calls=strip", "profiles.own.keep_last=1"];
    expect(rangeOf(await run(branch, [...ON, ...own, "keep_last=5", "auto.profile=own"]))).toEqual([0, 8]);
  });

  it("leaves a conversation of min_turns alone, and warns of it once until it is smaller", async () => {
    session.turns(5);
    const branch = await grow();
    for (let times = 0; times < 2; times++) expect(await run(branch)).toBeNull();
    expect(warned).toEqual([
      expect.stringMatching(
        /^the context has [\d.]+k tokens, 15 % of the window of anthropic\/claude-.*; conversations of up to 5 turns are left/,
      ),
    ]);
    expect(await run(branch, ["auto.enabled=true", "auto.warning_ratio=0.5"])).toBeNull();
    await run(branch, ["auto.enabled=true", "auto.warning_ratio=0.02"]);
    expect(warned).toHaveLength(2);
  });

  it("is silent if the window is unknown", async () => {
    session.turns(10);
    const branch = await grow();
    expect(await run(branch, ON, { model: "ollama/harbour-7b", window: null })).toBeNull();
    expect([...said, ...warned]).toEqual([]);
  });

  it("uses the window that it is given", async () => {
    session.turns(10);
    const branch = await grow();
    expect(await run(branch, ["auto.enabled=true"], { model: "ollama/harbour-7b", window: 1_000_000 })).toBeNull();
    expect(rangeOf(await run(branch, ["auto.enabled=true"], { model: "ollama/harbour-7b", window: 10_000 }))).toEqual([
      0, 6,
    ]);
  });

  it("stores none of the settings of the call that it works under", async () => {
    session.turns(10);
    const branch = await grow();
    expect(await run(branch)).not.toBeNull();
    expect((await treeOf(branch)).configs).toEqual([]);
  });

  it("warns of a missing profile and continues", async () => {
    session.turns(10);
    const branch = await grow();
    expect(await run(branch, [...ON, "auto.profile=hevy"])).toBeNull();
    expect(warned).toEqual([expect.stringContaining("There is no compaction profile hevy")]);
  });

  it("warns of a damaged conversation and continues", async () => {
    session.turns(10);
    const branch = await grow();
    const readBranch = (): Promise<string> => Promise.resolve("0123456789012345678901234567890123456789");
    const store = Object.create(base.store, { readBranch: { value: readBranch } }) as typeof base.store;
    expect(await autoCompact({ ...base, store }, branch, situation())).toBeNull();
    expect(warned).toHaveLength(1);
  });

  it("writes nothing when it is ended meanwhile", async () => {
    session.turns(10);
    const branch = await grow();
    const tip = await tipOf(base, branch);
    const signal = AbortSignal.abort();
    await run(branch, [...ON, ...HEAVY], { signal });
    expect(await tipOf(base, branch)).toBe(tip);
    expect(warned).toEqual([]);
  });
});

/** A profile whose summary cannot be written: its model has no key here. */
const HEAVY = [
  "auto.profile=worded",
  "profiles.worded.summary.policy=summarize",
  "profiles.worded.summary.model=anthropic/claude-haiku",
];

describe("a summary that fails", () => {
  it("is replaced by tiers 1 and 2, with a warning", async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch, [...ON, ...HEAVY]);
    expect(rangeOf(report)).toEqual([0, 6]);
    expect(report?.compaction).toMatchObject({ source: "auto", strategy: ["tiered"] });
    expect(report?.compaction?.summary).toBeUndefined();
    expect(warned[0]).toContain("Tool outputs are shortened instead of writing the summary of profile worded.");
    expect(said[1]).toContain("by tiers 1 and 2");
  });
});

describe("a summary after failed tries", () => {
  it("also replaces the bulk, whatever was shortened instead", { tags: ["slow"] }, async () => {
    session.turns(10);
    const branch = await grow();
    await run(branch, [...ON, ...HEAVY]);
    session.turns(1);
    await grow();
    const report = await run(branch, [...ON, ...HEAVY, "profiles.worded.summary.model=extractive"]);
    expect(rangeOf(report)).toEqual([0, 7]);
    expect(report?.compaction?.summary).toMatchObject({ source: "extractive", inject: "system" });
    session.turns(6);
    await grow();
    expect(rangeOf(await run(branch, [...ON, ...HEAVY, "profiles.worded.summary.model=extractive"]))).toEqual([8, 13]);
  });
});

describe("an automatic summary", () => {
  const SUMMARIES = [...ON, ...HEAVY, "profiles.worded.summary.model=extractive"];

  it.each([["openai-chat"], ["openai-responses"]] as const)(
    "is one System message for %s",
    { tags: ["slow"] },
    async (provider) => {
      session.turns(10);
      const branch = await grow();
      await run(branch, SUMMARIES);
      const { view } = await loadView(base.store, await treeOf(branch));
      const render = provider === "openai-chat" ? toOpenAiChatThread : toOpenAiResponsesThread;
      const roles = render(view, {}).items.map(({ item }) => item["role"]);
      expect([roles[0], roles.filter((role) => role === "system")]).toEqual(["system", ["system"]]);
    },
  );

  it("is a reminder in the user's message for Anthropic and Google, which have no such role there", async () => {
    session.turns(10);
    const branch = await grow();
    await run(branch, SUMMARIES);
    const { view } = await loadView(base.store, await treeOf(branch));
    for (const render of [toAnthropicThread, toGoogleThread]) {
      const [first, ...others] = render(view, { model: "claude-opus-4-8" }).messages;
      expect(first?.role).toBe("user");
      expect(JSON.stringify(first)).toContain("<system-reminder>\\n[CONVERSATION HISTORY SUMMARY - ");
      expect(others.map(({ role }) => role)).not.toContain("system");
    }
  });

  it("is what the setting says, where there is one", async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch, [...SUMMARIES, "inject=pair"]);
    expect(report?.compaction?.summary).toMatchObject({ source: "extractive" });
    expect(report?.compaction?.summary?.inject).toBeUndefined();
  });
});

describe("a pipeline after the last compaction", () => {
  it("continues with a summary of the same turns", async () => {
    session.turns(10);
    const branch = await grow();
    const { protectTokens: _, ...strategies } = choosePipelines(["tiered"], {}, { tokens: 1000 });
    const ask = async () =>
      compact(await withSettings("model=extractive"), await treeOf(branch), {
        range: { from: { type: "last" } },
        strategies,
        dryRun: false,
        activate: false,
      });
    const first = await ask();
    expect([rangeOf(first), rangeOf(first.further ?? null)]).toEqual([
      [0, 6],
      [0, 6],
    ]);
    session.turns(4);
    await grow();
    expect(rangeOf((await ask()).further ?? null)).toEqual([7, 10]);
  });
});

describe("a strategy of the settings", () => {
  it.each([
    ["tiered", "pipeline tiered", ["tiered"]],
    ["strip-tools", "strategy strip-tools", ["strip-tools"]],
  ])("compacts where no profile was set: %s", async (strategy, name, made) => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch, [...ON, `strategy=${strategy}`]);
    expect(report?.compaction).toMatchObject({ source: "auto", strategy: made });
    expect(said[1]).toContain(` by ${name}: `);
  });

  it("has summaries written one after another", async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch, [...ON, "strategy=summarize", "model=extractive"]);
    expect(rangeOf(report)).toEqual([0, 6]);
    expect(report?.compaction?.summary).toMatchObject({ source: "extractive" });
    session.turns(6);
    await grow();
    expect(rangeOf(await run(branch, [...ON, "strategy=summarize", "model=extractive"]))).toEqual([7, 12]);
  });

  it("is beaten by a profile that was set", async () => {
    session.turns(10);
    const report = await run(await grow(), [...ON, "strategy=tiered", "auto.profile=default"]);
    expect(report?.compaction).toMatchObject({ profile: "default" });
  });

  it("that asks a person changes nothing, and says so", async () => {
    session.turns(10);
    const branch = await grow();
    const tip = await tipOf(base, branch);
    expect(await run(branch, [...ON, "strategy=classify-tangents"])).toBeNull();
    expect(warned).toEqual([expect.stringContaining("classify-tangents asks a person")]);
    expect(await tipOf(base, branch)).toBe(tip);
  });
});

describe("the pipelines in place of a profile", () => {
  it("continues with a summary of the older turns when shortening outputs is not enough", async () => {
    session.turns(10);
    const branch = await grow();
    const low = ["auto.enabled=true", "auto.trigger_ratio=0.015", "auto.profile=tiered", "model=extractive"];
    const report = await run(branch, low);
    expect(rangeOf(report)).toEqual([0, 6]);
    expect(rangeOf(report?.further ?? null)).toEqual([0, 6]);
    expect(report?.further?.compaction?.summary).toMatchObject({ source: "extractive", inject: "system" });
    expect(said.filter((line) => line.startsWith("turns"))).toEqual([
      expect.stringMatching(/^turns 0\.\.6 by pipeline tiered: tool results stripped; /),
      expect.stringMatching(/^turns 0\.\.6 by pipeline tiered: summary \(extract\); /),
    ]);
    session.turns(4);
    await grow();
    const next = await run(branch, low);
    expect(rangeOf(next?.further ?? next)).toEqual([7, 10]);
  });

  it("writes one summary of everything when several would fill the window", {
    tags: ["slow"],
  }, async () => {
    session.turns(10);
    const branch = await grow();
    const low = ["auto.enabled=true", "auto.trigger_ratio=0.015", "auto.profile=tiered", "model=extractive"];
    const ranges: ReturnType<typeof rangeOf>[] = [];
    for (let round = 0; round < 5; round += 1) {
      const report = await run(branch, low);
      ranges.push(rangeOf(report?.further ?? report));
      session.turns(4);
      await grow();
    }
    expect(ranges).toEqual([
      [0, 6],
      [7, 10],
      [11, 14],
      [0, 18],
      [19, 22],
    ]);
  });

  it.each([
    ["a profile with a summary", [...HEAVY, "profiles.worded.summary.model=extractive"]],
    ["the strategy summarize", ["strategy=summarize", "model=extractive"]],
  ])("keeps summaries bounded for %s, too", { tags: ["slow"] }, async (_, rules) => {
    session.turns(10);
    const branch = await grow();
    const low = ["auto.enabled=true", "auto.trigger_ratio=0.01", ...rules];
    const ranges: ReturnType<typeof rangeOf>[] = [];
    for (let round = 0; round < 7; round += 1) {
      ranges.push(rangeOf(await run(branch, low)));
      session.turns(4);
      await grow();
    }
    expect(ranges.filter(([from]) => from === 0).length).toBeGreaterThan(1);
    expect(ranges.filter(([from]) => from !== 0).length).toBeGreaterThan(2);
    expect(warned.filter((line) => !line.includes("of the window"))).toEqual([]);
  });

  it("compacts by tiers with keep_last, whatever their own protection", async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch, [...ON, "auto.profile=tiered"]);
    expect(rangeOf(report)).toEqual([0, 6]);
    expect(report?.compaction).toMatchObject({ source: "auto", strategy: ["tiered"] });
  });

  it("finds a batch of `auto` that saves too little not worth it, and warns when that leaves a large view", async () => {
    session.turns(10);
    const branch = await grow();
    expect(await run(branch, [...ON, "auto.profile=auto"])).toBeNull();
    expect(warned).toEqual([expect.stringContaining("nothing more can be removed")]);
    expect(await run(branch, [...ON, "auto.profile=auto"])).toBeNull();
    expect(warned).toHaveLength(1);
  });

  it("prefers a profile of the same name", async () => {
    session.turns(10);
    const branch = await grow();
    const report = await run(branch, [...ON, "auto.profile=tiered", "profiles.tiered.tool_calls=strip"]);
    expect(report?.compaction).toMatchObject({ profile: "tiered", tool_calls: { policy: "strip" } });
  });
});

describe("inside a tool loop", () => {
  const openEvents: readonly Event[] = [
    { type: "chat_request", id: "o1", timestamp: "2026-05-01T12:00:00Z", content: "x".repeat(40_000) },
  ];

  const openTurn = { position: 10, events: () => openEvents, store: () => Promise.resolve() };

  it("counts the open turn and compacts complete turns by tiers, once", async () => {
    session.turns(10);
    const branch = await grow();
    const loop = { place: "in_loop" as const, model: "local/harbour", window: 55_000 };
    expect(await run(branch, ["auto.enabled=true", "auto.warning_ratio=1"], loop)).toBeNull();
    const report = await run(branch, ["auto.enabled=true"], { ...loop, openTurn });
    expect(rangeOf(report)).toEqual([0, 6]);
    expect(report?.compaction).toMatchObject({ source: "auto", strategy: ["tiered"] });
    // The reported size is that of the request: both sides include the open turn's 10,000 tokens and more.
    const told = /compacted \(([\d.]+)k → ([\d.]+)k tokens\)/
      .exec(said[0] ?? "")
      ?.slice(1)
      .map((k) => 1000 * Number(k));
    const open =
      report === null ? [] : [report.tokens.before, report.tokens.after].map((size, at) => (told?.[at] ?? 0) - size);
    expect(open.every((tokens) => tokens > 9900)).toBe(true);
    expect(open).toHaveLength(2);
    expect(await run(branch, ["auto.enabled=true"], { ...loop, openTurn })).toBeNull();
  });

  it("asks no model for a summary there", async () => {
    session.turns(10);
    const branch = await grow();
    const loop = { place: "in_loop" as const, model: "local/harbour", window: 20_000, openTurn };
    const report = await run(branch, ["auto.enabled=true", ...HEAVY], loop);
    expect(report?.compaction).toMatchObject({ strategy: ["tiered"] });
    expect(warned).toEqual([]);
  });
});
