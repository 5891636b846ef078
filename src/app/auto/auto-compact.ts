// Compacts a conversation on its own when its view comes near the window of the model. Nothing that goes wrong here stops
// the conversation: a failing summary leaves its place to tiers 1 and 2, all other trouble is said as a warning.
import type { Config } from "../../config/config.ts";
import { type AutoPlace, decideAutoCompaction, isWarningSize, triggerRatio } from "../../core/compact/automatic.ts";
import type { Event } from "../../core/conversation/event.ts";
import { estimateEvents } from "../../core/conversation/token-estimate.ts";
import { JpgError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { type BranchTree, loadBranchTree, loadTip } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { compact } from "../compact/compact.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import { type Workspace, withoutOverrides } from "../workspace/workspace.ts";
import { type AutoCache, readAutoCache, writeAutoCache } from "./auto-cache.ts";
import { type MeasuredView, measureView, type NextRequest } from "./auto-measure.ts";
import {
  type AutoRules,
  type AutoSizes,
  configuredRules,
  loopRules,
  mechanicalRules,
  pipelineOf,
  tierRules,
} from "./auto-rules.ts";
import { describeSize, freedShare, NOTHING_MORE, nextStep, tellCompaction } from "./auto-words.ts";

/** The turn that is being talked, as far as automatic compaction needs it. */
export interface OpenTurnPlace {
  /** 0-based. */
  readonly position: number;
  /** Those of its events that are not on the branch yet. */
  events(): readonly Event[];
  /** Commits it as far as it has come. */
  store(): Promise<void>;
}

/** Where a conversation stands when automatic compaction is considered. */
export interface AutoSituation extends Omit<NextRequest, "openEvents"> {
  readonly place: AutoPlace;
  /** In a loop: it counts, and where complete turns are not enough its answered calls are compacted, too. */
  readonly openTurn?: OpenTurnPlace;
  /** The model that this call talks to, which may write the summary; absent = none. */
  readonly answering?: string;
  readonly signal?: AbortSignal;
  /**
   * Asked for in this call, whatever the settings say of switching it on, and without a model. Told of each pass what share of the
   * context it took out, 0..1.
   */
  readonly guard?: (freed: number) => void;
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
    const tip = (await workspace.store.readBranch(branch)) ?? (await beginBranch(workspace, branch, situation));
    if (tip === null || situation.signal?.aborted === true) return null;
    const tree = await loadBranchTree(workspace.store, branch, tip);
    const { config } = await loadConversationConfig(workspace, tree);
    if (!config.conversation.compaction.auto.enabled && situation.guard === undefined) return null;
    return await consider(workspace, { tree, config, situation });
  } catch (error) {
    if (situation.signal?.aborted === true) return null;
    situation.warn(`not compacted automatically: ${sayTrouble(error)}`);
    return null;
  }
}

/** Commits the first turn of a conversation as far as it has come, where it alone is too large; null where it is not. */
async function beginBranch(
  workspace: Workspace,
  branch: string,
  { openTurn, window }: AutoSituation,
): Promise<string | null> {
  if (openTurn === undefined || window === null) return null;
  const { auto } = (await workspace.config()).config.conversation.compaction;
  const limit = window * triggerRatio({ settings: auto, place: "in_loop", isTiered: false });
  if (!auto.enabled || estimateEvents(openTurn.events()) < limit) return null;
  await openTurn.store();
  return workspace.store.readBranch(branch);
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
  const measured = await measure(workspace, candidate);
  if (measured === null) return null;
  const { tokens, windowTokens } = measured;
  const memory = await readAutoCache(workspace.store, tree.branch);
  const turns = completeTurns(candidate);
  const facts = {
    settings: { ...settings.auto, enabled: true },
    place: situation.place,
    isTiered: pipelineOf(settings) === "tiered",
    tokens,
    windowTokens,
    turns,
    triedAt: lastTry(memory.triedAt, measured, turns),
    leftTokens: memory.triedAt === turns ? memory.leftTokens : null,
    hasWarned: memory.hasWarned,
  };
  const decision = decideAutoCompaction(facts);
  const hasWarned = isWarningSize(tokens, windowTokens, settings.auto);
  // Remembered before it is tried: what fails, or is killed half-way, waits for a new turn too.
  const tried = decision?.type === "compact" ? { triedAt: turns, leftTokens: tokens } : memory;
  const remember = (changes: Partial<AutoCache> = {}): Promise<void> =>
    writeAutoCache(workspace.store, tree.branch, { ...tried, hasWarned, ...changes });
  if (tried !== memory || hasWarned !== memory.hasWarned) await remember();
  if (decision === null) return null;
  const ratio = triggerRatio(facts);
  if (decision.type === "warn") {
    situation.warn(`${describeSize(measured)}; ${nextStep(turns, ratio, settings.auto)}`);
    return null;
  }
  const sizes = { ...measured, triggerRatio: ratio };
  if (decision.by === "profile") {
    const report = await compactBetween(workspace, candidate, sizes);
    if (report === null && hasWarned) situation.warn(`${describeSize(measured)}, ${NOTHING_MORE}`);
    return report;
  }
  const { report, left } = await compactLoop(workspace, candidate, { sizes, turns });
  await remember({ leftTokens: left.tokens });
  if (report === null) situation.warn(`${describeSize(measured)}, ${NOTHING_MORE}`);
  return report;
}

/** How many turns of the branch are complete. */
function completeTurns({ tree, situation }: Candidate): number {
  const { length } = tree.turnOids;
  return Math.min(length, situation.openTurn?.position ?? length);
}

function measure(workspace: Workspace, candidate: Candidate): Promise<MeasuredView | null> {
  const { openTurn, ...next } = candidate.situation;
  return measureView(workspace, candidate, { ...next, openEvents: openTurn?.events() ?? [] });
}

/** Compacts complete turns by tiers, and where that is not enough the answered calls of the turn that goes on. */
async function compactLoop(
  workspace: Workspace,
  candidate: Candidate,
  { sizes, turns }: { readonly sizes: MeasuredView & AutoSizes; readonly turns: number },
): Promise<{ readonly report: CompactReport | null; readonly left: MeasuredView }> {
  const { config, situation } = candidate;
  const isLong = turns > config.conversation.compaction.auto.min_turns;
  const report = isLong ? await compactBy(workspace, candidate, { measured: sizes, rules: [tierRules(sizes)] }) : null;
  const again = async (): Promise<{ readonly at: Candidate; readonly left: MeasuredView }> => {
    const tree = (await loadTip(workspace.store, candidate.tree.branch)) ?? candidate.tree;
    const at = { ...candidate, tree };
    return { at, left: (await measure(workspace, at)) ?? sizes };
  };
  const first = await again();
  const isSmall = first.left.tokens < sizes.triggerRatio * sizes.windowTokens;
  if (isSmall || situation.openTurn === undefined) return { report, left: first.left };
  await situation.openTurn.store();
  const { at, left } = await again();
  const rules = loopRules({ ...left, triggerRatio: sizes.triggerRatio }, situation.openTurn.position);
  const second = await compactBy(workspace, at, { measured: left, rules: [rules] });
  if (second === null) return { report, left };
  return { report: report === null ? second : { ...report, further: second }, left: (await again()).left };
}

/** How many turns there were at the newest try, by what is remembered and by the compactions, which clones bring along. */
function lastTry(remembered: number | null, { live, lastEvent }: MeasuredView, turns: number): number | null {
  const made = live.all.some(({ source, to_turn, to_event, stats }) => {
    // One made inside a turn that went on since says nothing of its end.
    const isCutShort = to_turn === turns - 1 && to_event !== undefined && to_event !== lastEvent;
    return source === "auto" && to_turn + 1 + (stats?.kept_turns ?? stats?.keep_recent ?? 0) === turns && !isCutShort;
  });
  return made ? turns : remembered;
}

/** Compacts by the first rules; by the second when the first need a summary and it fails. Null when nothing was gained. */
async function compactBy(
  workspace: Workspace,
  candidate: Candidate,
  {
    measured,
    rules: [rules, instead],
  }: { readonly measured: MeasuredView; readonly rules: readonly [AutoRules, AutoRules?] },
): Promise<CompactReport | null> {
  const { tree, situation } = candidate;
  const { signal, tools, answering } = situation;
  try {
    const report = await compact(withoutOverrides(workspace), tree, {
      ...rules.request,
      source: "auto",
      dryRun: false,
      fork: false,
      activate: false,
      ...defined({ answering, signal, tools }),
    });
    for (const warning of report.warnings) situation.warn(warning);
    // A summary may find nothing to stand for, or come out longer than what it replaces.
    if (report.compaction === null)
      return rules.needsSummary && instead !== undefined
        ? compactBy(workspace, candidate, { measured, rules: [instead] })
        : null;
    tellCompaction(report, { name: rules.name, measured }, situation);
    return report;
  } catch (error) {
    if (!rules.needsSummary || instead === undefined || signal?.aborted === true || isOfStore(error)) throw error;
    situation.warn(`${sayTrouble(error)} Tool outputs are shortened instead of writing the summary of ${rules.name}.`);
    return compactBy(workspace, candidate, { measured, rules: [instead] });
  }
}

function isOfStore(error: unknown): boolean {
  return error instanceof JpgError && error.kind === "repository";
}

/** Compacts by the rules of the settings, for a guard by those of them that need no model. */
async function compactBetween(
  workspace: Workspace,
  candidate: Candidate,
  sizes: MeasuredView & AutoSizes,
): Promise<CompactReport | null> {
  const { guard } = candidate.situation;
  const settings = candidate.config.conversation.compaction;
  const rules = (guard === undefined ? configuredRules : mechanicalRules)(settings, sizes);
  const report = await compactBy(workspace, candidate, { measured: sizes, rules: [rules, tierRules(sizes)] });
  guard?.(report === null ? 0 : freedShare(report));
  return report;
}

/** What went wrong, as a sentence. Throws what is a bug. */
function sayTrouble(error: unknown): string {
  if (error instanceof JpgError && error.kind !== "internal") return error.message;
  // The operating system's refusals, such as a full disk.
  if (error instanceof Error && "syscall" in error) return `${error.message}.`;
  throw error;
}
