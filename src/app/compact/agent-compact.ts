// Compacts at a model's request: tiers 1 and 2, then a summary, each only while the view is too large. Only complete, stored turns
// are compacted, not the turn in which the model asks.
import { type AgentVerdict, judgeAgentCompaction, LEAST_AGENT_TOKENS } from "../../core/compact/automatic.ts";
import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { USUAL_WINDOW } from "../../core/model/token-meter.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { type BranchTree, loadTip } from "../conversation/tree.ts";
import { type Workspace, withoutOverrides } from "../conversation/workspace.ts";
import { type MeasuredView, measureView } from "./auto.ts";
import { compact } from "./compact.ts";
import { describeNothing, type TokenChange } from "./compact-report.ts";

export interface AgentCompactOptions {
  /** What a summary should focus on, in the model's words. */
  readonly focus?: string;
  /** Context window of the asking model, tokens; absent or null = that of the model that answered last. */
  readonly window?: number | null;
  /** The asking model, as `provider/model`; absent = jpg does not talk to it. */
  readonly answering?: string;
  /** Tools that jpg offers it; absent like `answering`. */
  readonly tools?: readonly ToolDefinition[];
  /** Aborts the writing of a summary. */
  readonly signal?: AbortSignal;
}

/** The outcome. */
export interface AgentCompaction {
  /** `too_small` and `not_needed`: refused; `nothing`: nothing could be removed. */
  readonly outcome: "compacted" | "nothing" | "not_needed" | "too_small";
  readonly conversation: string;
  readonly branch: string;
  /** Newest commit made; null when none was. */
  readonly commit: string | null;
  /** Ids of the compactions made, oldest first. */
  readonly compactions: readonly string[];
  /** Of the view, estimated. */
  readonly tokens: TokenChange;
  /** The summary that replaces turns; null when there is none. */
  readonly summary: string | null;
  /** The answer to the asking model. */
  readonly text: string;
}

/** Compacts a branch for a model, or says why not. Throws the errors of `compact`, and the signal's when it aborts. */
export async function agentCompact(
  workspace: Workspace,
  branch: string,
  options: AgentCompactOptions = {},
): Promise<AgentCompaction> {
  const { focus, signal, answering } = options;
  const facts = { conversation: conversationOf(branch), branch };
  const tree = await loadTip(workspace.store, branch);
  if (tree === null) return { ...facts, ...NOTHING_STORED };
  const measured = await measure(workspace, tree, options);
  const { tokens } = measured;
  const verdict = judgeAgentCompaction(measured);
  const idle = { ...facts, commit: null, compactions: [], tokens: { before: tokens, after: tokens }, summary: null };
  if (verdict.type !== "compact") return { ...idle, outcome: verdict.type, text: refusal(verdict, measured) };
  const report = await compact(withoutOverrides(workspace), tree, {
    range: {},
    strategies: choosePipelines(["tiered"], {}, { tokens: Math.max(0, verdict.target + measured.uncounted) }),
    source: "agent",
    answering,
    focus: focus === undefined ? undefined : [focus],
    signal,
    dryRun: false,
    fork: false,
    activate: false,
  });
  signal?.throwIfAborted();
  const notes = report.warnings.map((warning) => `Note: ${warning}`);
  const now = (await loadTip(workspace.store, branch)) ?? tree;
  const after =
    now.commit === tree.commit
      ? measured
      : await measure(workspace, now, { ...options, window: measured.windowTokens });
  const made = madeSince(measured.live.all, after.live.all);
  if (made.length === 0) {
    const reason = report.reason ?? "everything that may be removed is already compacted";
    const { title, why, hints } = describeNothing({ ...report, reason });
    const advice = hints.map((hint) => `A hint for the user: ${hint}`);
    return { ...idle, outcome: "nothing", text: [`${title} ${why}`, ...advice, ...notes].join("\n") };
  }
  const change = { before: tokens, after: after.tokens };
  const summary = made.findLast((compaction) => compaction.summary !== undefined)?.summary?.summary ?? null;
  const ids = made.map(({ id }) => id);
  return {
    ...facts,
    outcome: "compacted",
    commit: now.commit,
    compactions: ids,
    tokens: change,
    summary,
    text: [
      `Compacted turns ${rangeOf(made)}: about ${formatTokens(tokens)} → ${formatTokens(change.after)} tokens. \`jpg revert ${ids.join(" ")}\` undoes it.`,
      ...notes,
      summary === null ? OUTPUTS_SHORTENED : `This summary now replaces what was said there:\n\n${summary}`,
    ].join("\n"),
  };
}

const OUTPUTS_SHORTENED =
  "There is no summary: long tool outputs were shortened or left out, requests and answers stay as they are.";

/** A conversation whose first turn is still open has no branch yet. */
const NOTHING_STORED: Omit<AgentCompaction, "conversation" | "branch"> = {
  outcome: "too_small",
  commit: null,
  compactions: [],
  tokens: { before: 0, after: 0 },
  summary: null,
  text: "Refused: no turn is complete yet.",
};

/** Measures the view; if no model's window is known, against the usual window. */
async function measure(
  workspace: Workspace,
  tree: BranchTree,
  { window = null, tools }: AgentCompactOptions,
): Promise<MeasuredView> {
  const offered = tools === undefined ? {} : { tools };
  const place = { tree, config: (await loadConversationConfig(workspace, tree)).config };
  const known = window === null ? await measureView(workspace, place, { ...offered, model: null, window: null }) : null;
  if (known !== null) return known;
  const taken = await measureView(workspace, place, { ...offered, model: "", window: window ?? USUAL_WINDOW });
  if (taken === null) throw new Error("a view before a window is always measured");
  return taken;
}

/** Lists the agent's compactions that a branch has gained, oldest first. */
function madeSince(before: readonly Compaction[], now: readonly Compaction[]): readonly Compaction[] {
  const known = new Set(before.map(({ id }) => id));
  return now.filter(({ id, source }) => source === "agent" && !known.has(id));
}

function rangeOf(made: readonly Compaction[]): string {
  const from = Math.min(...made.map(({ from_turn }) => from_turn));
  const to = Math.max(...made.map(({ to_turn }) => to_turn));
  return `${from}..${to}`;
}

function refusal(
  verdict: Exclude<AgentVerdict, { readonly type: "compact" }>,
  { tokens, overhead }: MeasuredView,
): string {
  const size = `the context has about ${formatTokens(tokens)} tokens`;
  return verdict.type === "too_small"
    ? `Refused: the conversation has about ${formatTokens(tokens - overhead)} tokens; nothing below ${formatTokens(LEAST_AGENT_TOKENS)} is compacted.`
    : `No compaction needed: ${size}, which is under the target of ${formatTokens(verdict.target)} already.`;
}
