// Compacts a conversation on its own when its view comes near the window of the model. Nothing that goes wrong here stops
// the conversation: a failing summary leaves its place to tiers 1 and 2, all other trouble is said as a warning.
import type { Config } from "../../config/config.ts";
import { JpgError } from "../../core/errors.ts";
import { type AutoPlace, decideAutoCompaction, isWarningSize, triggerRatio } from "../../core/plan/auto-compaction.ts";
import { renderCompacted } from "../../core/tokens/compacted-notice.ts";
import { formatTokens } from "../../core/tokens/token-estimate.ts";
import type { ToolDefinition } from "../../llm/llm-client.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { compact } from "../compact/compact.ts";
import { type CompactReport, overallTokens } from "../plan/compact-report.ts";
import { type Workspace, withoutOverrides } from "../workspace/workspace.ts";
import { readAutoCache, writeAutoCache } from "./auto-cache.ts";
import { type MeasuredView, measureView, type NextRequest } from "./auto-measure.ts";
import { type AutoRules, configuredRules, pipelineOf, tierRules } from "./auto-rules.ts";

/**
 * Where a conversation stands when automatic compaction is considered. In a loop, `openEvents` are those of the open turn,
 * which is not on the branch yet: they count, and are never compacted.
 */
export interface AutoSituation extends NextRequest {
  readonly place: AutoPlace;
  readonly signal?: AbortSignal;
  /** Tools that the conversation's requests offer. */
  readonly tools?: readonly ToolDefinition[];
  /** Told what was done, a line at a time. Like warnings it may hold words of the conversation: not safe for a terminal yet. */
  notice(text: string): void;
  warn(text: string): void;
}

/** Compacts the branch when its settings say so and its view is large enough. Null when nothing was done. Throws for bugs only. */
export async function autoCompact(
  workspace: Workspace,
  branch: string,
  situation: AutoSituation,
): Promise<CompactReport | null> {
  try {
    const tip = await workspace.store.readBranch(branch);
    if (tip === null || situation.signal?.aborted === true) return null;
    const tree = await loadBranchTree(workspace.store, branch, tip);
    const { config } = await loadConversationConfig(workspace, tree);
    if (!config.conversation.compaction.auto.enabled) return null;
    return await consider(workspace, { tree, config, situation });
  } catch (error) {
    if (situation.signal?.aborted === true) return null;
    situation.warn(`not compacted automatically: ${sayTrouble(error)}`);
    return null;
  }
}

/** A branch that is compacted automatically. */
interface Candidate {
  readonly tree: BranchTree;
  readonly config: Config;
  readonly situation: AutoSituation;
}

async function consider(workspace: Workspace, candidate: Candidate): Promise<CompactReport | null> {
  const { tree, config, situation } = candidate;
  const settings = config.conversation.compaction;
  const measured = await measureView(workspace, candidate, situation);
  if (measured === null) return null;
  const { tokens, windowTokens } = measured;
  const memory = await readAutoCache(workspace.store, tree.branch);
  const turns = tree.turnOids.length;
  const facts = {
    settings: settings.auto,
    place: situation.place,
    isTiered: pipelineOf(settings) === "tiered",
    tokens,
    windowTokens,
    turns,
    triedAt: lastTry(memory.triedAt, measured, turns),
    hasWarned: memory.hasWarned,
  };
  const decision = decideAutoCompaction(facts);
  // Remembered before it is tried: what fails, or is killed half-way, waits for a new turn too.
  const triedAt = decision?.type === "compact" ? turns : memory.triedAt;
  const hasWarned = isWarningSize(tokens, windowTokens, settings.auto);
  if (triedAt !== memory.triedAt || hasWarned !== memory.hasWarned)
    await writeAutoCache(workspace.store, tree.branch, { triedAt, hasWarned });
  if (decision === null) return null;
  const ratio = triggerRatio(facts);
  const sizes = { ...measured, triggerRatio: ratio };
  if (decision.type === "warn") {
    const { min_turns: most } = settings.auto;
    const next =
      turns > most
        ? `above ${Math.round(ratio * 100)} % it is compacted`
        : `conversations of up to ${most} turns are left alone`;
    situation.warn(`${describeSize(measured)}; ${next}`);
    return null;
  }
  const tiers = tierRules(sizes);
  const rules = decision.by === "tiers" ? ([tiers] as const) : ([configuredRules(settings, sizes), tiers] as const);
  const report = await compactBy(workspace, candidate, rules);
  if (report === null && hasWarned && !memory.hasWarned)
    situation.warn(`${describeSize(measured)}, and nothing more can be taken out automatically`);
  return report;
}

/** How many turns there were at the newest try, by what is remembered and by the compactions, which clones bring along. */
function lastTry(remembered: number | null, { live }: MeasuredView, turns: number): number | null {
  const made = live.all.some(
    ({ source, to_turn, stats }) =>
      source === "auto" && to_turn + 1 + (stats?.kept_turns ?? stats?.keep_recent ?? 0) === turns,
  );
  return made ? turns : remembered;
}

/** Compacts by the first rules; by the second when the first need a summary and it fails. Null when nothing was gained. */
async function compactBy(
  workspace: Workspace,
  candidate: Candidate,
  [rules, instead]: readonly [AutoRules, AutoRules?],
): Promise<CompactReport | null> {
  const { tree, situation } = candidate;
  const { signal, tools, model } = situation;
  try {
    const report = await compact(withoutOverrides(workspace), tree, {
      ...rules.request,
      source: "auto",
      dryRun: false,
      fork: false,
      activate: false,
      ...(model === null ? {} : { answering: model }),
      ...(signal === undefined ? {} : { signal }),
      ...(tools === undefined ? {} : { tools }),
    });
    for (const warning of report.warnings) situation.warn(warning);
    if (report.compaction === null) return null;
    tell(report, rules, situation);
    return report;
  } catch (error) {
    if (error instanceof JpgError && error.code === "view_grows" && !rules.needsSummary) return null;
    if (!rules.needsSummary || instead === undefined || signal?.aborted === true || isOfStore(error)) throw error;
    situation.warn(`${sayTrouble(error)} Tool outputs are shortened in place of the summary of ${rules.name}.`);
    return compactBy(workspace, candidate, [instead]);
  }
}

function isOfStore(error: unknown): boolean {
  return error instanceof JpgError && error.kind === "repository";
}

function tell(report: CompactReport, { name }: AutoRules, to: AutoSituation): void {
  to.notice(renderCompacted(overallTokens(report)));
  for (const { compaction, from_turn, to_turn, policies } of [report, ...(report.further ? [report.further] : [])])
    to.notice(`turns ${from_turn}..${to_turn} by ${name}: ${policies}; \`jpg revert ${compaction?.id}\` takes it back`);
}

function describeSize({ tokens, windowTokens, model }: MeasuredView): string {
  return `the context has ${formatTokens(tokens)} tokens, ${Math.round((tokens / windowTokens) * 100)} % of the window of ${model}`;
}

/** What went wrong, as a sentence. Throws what is a bug. */
function sayTrouble(error: unknown): string {
  if (error instanceof JpgError && error.kind !== "internal") return error.message;
  // The operating system's refusals, such as a full disk.
  if (error instanceof Error && "syscall" in error) return `${error.message}.`;
  throw error;
}
