// Reads and checks the options of `jpg compact`: contradictions, and options that have no effect without another.
import { requireSummary, type SummaryRequirement } from "../../app/compact/accepted-summary.ts";
import type { CompactRequest } from "../../app/compact/compact.ts";
import type { PartCount } from "../../app/compact/compact-parts.ts";
import { loadConversationConfig } from "../../app/conversation/marks.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import {
  type ChosenStrategies,
  choosePipelines,
  parseTarget,
  splitTangents,
} from "../../core/compact/strategies/pipelines.ts";
import type { OwnOptions } from "../../core/compact/strategies/strategy-list.ts";
import { TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import {
  readWrittenStrategies,
  saidTwice,
  type WholeSetting,
  withSizes,
} from "../../core/compact/strategies/written-strategies.ts";
import type { RangeRequest } from "../../core/conversation/bound-resolution.ts";
import type { TurnRange } from "../../core/conversation/event.ts";
import { parseBound, parseTurnList, type WrittenRange } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import { type CommandContext, count, flag, text, texts } from "../frame/command.ts";
import { refuseBoth } from "../frame/range-argument.ts";

/** The options of a call with those of single strategies taken out of `-s NAME:key=value`. */
interface CompactCall {
  readonly context: CommandContext;
  /** Options of single strategies. */
  readonly own: OwnOptions;
}

/** Options that count for the whole compaction, by the setting that says the same. */
const WHOLE: Readonly<Record<WholeSetting, string>> = { target: "target", protect: "protect", "min-gain": "minGain" };

/**
 * Reads what `-s NAME:key=value` says, and the older `--turns`. Throws what `readWrittenStrategies` throws, and `contradictory_flags`
 * where an older option says something else.
 */
export function readStrategyWords(context: CommandContext): CompactCall {
  const options: Record<string, unknown> = { ...context.options };
  const { names: written, own, whole } = readWrittenStrategies(texts(options, "strategy"));
  const names = [...written];
  for (const [setting, value] of whole) {
    const option = WHOLE[setting];
    if (options[option] !== undefined && options[option] !== value)
      throw saidTwice(setting, [String(options[option]), value]);
    options[option] = value;
  }
  if (options["tangents"] !== undefined && !names.includes(TANGENTS)) names.push(TANGENTS);
  options["tangents"] ??= options["turns"];
  if (names.length > 0) options["strategy"] = names;
  return { context: { ...context, options }, own };
}

/** Lists the given options, as typed, that only a summary uses. */
export function summaryOptions(options: CommandContext["options"]): readonly string[] {
  return ["model", "focus", "concise", "strict"]
    .filter((name) => options[name] !== undefined)
    .map((name) => `--${name}`);
}

/** Reads the options for a summary. */
export function readWish({ options }: CommandContext): Pick<CompactRequest, "model" | "focus" | "style"> {
  const [model, focus] = [text(options, "model"), texts(options, "focus")];
  return {
    model,
    ...(focus.length === 0 ? {} : { focus }),
    ...(flag(options, "concise") ? { style: "concise" as const } : {}),
  };
}

/** Refuses flags that have no effect without another. Throws `usage`. */
export function checkDependentFlags({ options }: CommandContext): void {
  if (options["suffix"] === true && options["emit"] === undefined)
    throw userError("usage", "jpg compact: --suffix has no effect without --emit.", {
      hints: [
        "`jpg compact --emit - --suffix` prints the message that asks for a summary of the conversation above it.",
      ],
    });
  for (const name of ["diff", "text"])
    if (options[name] === true && options["dryRun"] !== true)
      throw userError("usage", `jpg compact: --${name} has no effect without --dry-run.`, {
        hints: [`Add --dry-run: --${name} shows the view as it would be. \`jpg diff\` shows what was done.`],
      });
}

interface Place {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
}

/** Refuses `--no-activate` if neither the call nor the settings fork. Throws `usage`. */
export async function checkActivation({ options }: CommandContext, { workspace, tree }: Place): Promise<void> {
  if (options["activate"] !== false || options["fork"] === true) return;
  const { config } = await loadConversationConfig(workspace, tree);
  if (config.conversation.compaction.fork && options["inPlace"] !== true) return;
  throw userError("usage", "jpg compact: --no-activate has no effect without --fork.", {
    hints: ["`jpg compact --fork --no-activate` compacts a new fork and stays on the active conversation."],
  });
}

/** Reads the range: the turns named as an argument, or the options. Throws `bad_bound`, `bad_number`, `contradictory_flags`. */
export function readRange(
  { options, runtime }: CommandContext,
  turns: WrittenRange | undefined,
): Omit<RangeRequest, "keepLast"> {
  const from = text(options, "from");
  const to = text(options, "to");
  refuseBoth(turns, { "--from": from, "--to": to, "--tangents": text(options, "tangents") });
  const keep = count(options, "keep") ?? count(options, "keepLast");
  const protectTokens = count(options, "protect");
  return {
    from: from === undefined ? turns?.from : from === "" ? { type: "last" as const } : parseBound(from, runtime),
    to: to === undefined ? turns?.to : parseBound(to, runtime),
    keep,
    protectTokens,
  };
}

/** Refuses options for summaries if none can be written; `--model` is also for tangents. Throws `no_summary`. */
export async function checkSummaryOptions(
  { workspace, tree }: Place,
  given: readonly string[],
  { leavesTangents, strategies, profile }: Omit<SummaryRequirement, "options"> & { readonly leavesTangents: boolean },
): Promise<void> {
  const options = leavesTangents ? given.filter((name) => name !== "--model") : given;
  if (options.length === 0) return;
  const rules = leavesTangents && strategies === null ? choosePipelines([TANGENTS]) : strategies;
  await requireSummary(workspace, tree, { options, strategies: rules, profile });
}

export interface AskedStrategies {
  /** Whether to leave out tangents first. */
  readonly leavesTangents: boolean;
  /** The other strategies; null when none was named. */
  readonly chosen: ChosenStrategies | null;
}

/** Reads the strategies; `--strategy` without a name means the one in the settings. */
export async function readStrategies(
  { context: { options }, own }: CompactCall,
  { workspace, tree }: Place,
): Promise<AskedStrategies> {
  const given = texts(options, "strategy");
  const isOpen = given.includes("");
  const settings = isOpen ? (await loadConversationConfig(workspace, tree)).config.conversation.compaction : null;
  const names = given.map((name) => (name === "" && settings !== null ? settings.strategy : name));
  const { leavesTangents, others } = splitTangents(names);
  if (leavesTangents) refuseWithTangents(options);
  refuseUnused("--turns", TANGENTS, options["tangents"] !== undefined && !leavesTangents);
  refuseUnused("--yes", TANGENTS, flag(options, "yes") && !leavesTangents);
  const chosen = readSizes(others, options, own);
  return { leavesTangents, chosen: others.length === 0 ? null : chosen };
}

/** Refuses options for one contiguous range together with tangents, which may be anywhere. Throws `contradictory_flags`. */
function refuseWithTangents(options: CommandContext["options"]): void {
  const other = ["chunks", "diff", "text"].find((name) => options[name] !== undefined);
  if (other === undefined) return;
  throw userError(
    "contradictory_flags",
    `--${other} and --strategy ${TANGENTS} contradict each other; use only one of them.`,
    {
      hints: ["Afterwards, `jpg diff` shows what was left out and `jpg undo` undoes it."],
    },
  );
}

/** Adds the given sizes to the strategies; refuses sizes that none of them uses. */
function readSizes(names: readonly string[], options: CommandContext["options"], own: OwnOptions): ChosenStrategies {
  const target = text(options, "target");
  const [maxChars, newest, head] = [count(options, "maxChars"), count(options, "newest"), text(options, "head")];
  const given = {
    maxChars,
    newest,
    head: head === undefined ? undefined : head.trim() === "" ? Number.NaN : Number(head),
  };
  const chosen = choosePipelines(names, given, target === undefined ? undefined : parseTarget(target), own);
  return withGivenSizes(chosen, options);
}

/** Reads the turns named as tangents; null if a model is to propose them. Throws `bad_turns`. */
export function readTurns({ options }: CommandContext): readonly TurnRange[] | null {
  const turns = text(options, "tangents");
  return turns === undefined ? null : parseTurnList(turns);
}

/** Replaces the strategies' sizes by those that the user gave. */
function withGivenSizes(chosen: ChosenStrategies, options: CommandContext["options"]): ChosenStrategies {
  const [protectTokens, minGainTokens] = [count(options, "protect"), count(options, "minGain")];
  refuseUnused("--target", "tiered", options["target"] !== undefined && !chosen.names.includes("tiered"));
  refuseUnused(
    "--protect",
    "auto, tiered or mask-results",
    protectTokens !== undefined && chosen.protectTokens === undefined,
  );
  refuseUnused("--min-gain", "auto or mask-results", minGainTokens !== undefined && chosen.minGainTokens === undefined);
  return withSizes(chosen, { protectTokens, minGainTokens });
}

function refuseUnused(option: string, strategies: string, isUnused: boolean): void {
  if (!isUnused) return;
  throw userError("unused_option", `${option} has no effect without --strategy ${strategies}.`, {
    hints: [`Add the strategy, or leave ${option} out.`],
  });
}

/** Reads how to make and store the compaction. */
export function readManner({
  options,
}: CommandContext): Pick<
  CompactRequest,
  "profile" | "stubs" | "index" | "force" | "strict" | "dryRun" | "fork" | "activate"
> {
  const profile = text(options, "profile");
  return {
    profile,
    stubs: {
      ...(flag(options, "pointers") ? { pointers: true } : {}),
      ...(flag(options, "firstLine") ? { first_line: true } : {}),
    },
    ...(typeof options["index"] === "boolean" ? { index: options["index"] } : {}),
    force: flag(options, "force"),
    strict: flag(options, "strict"),
    dryRun: flag(options, "dryRun"),
    ...(flag(options, "fork") ? { fork: true } : flag(options, "inPlace") ? { fork: false } : {}),
    activate: options["activate"] !== false,
  };
}

/** Most parts of one call: each is a commit and a request to a model. */
const MOST_PARTS = 1000;

/** Reads `--chunks`; null if not given. Throws `bad_chunks`. */
export function readPartCount(options: CommandContext["options"]): PartCount | null {
  const word = text(options, "chunks");
  if (word === undefined) return null;
  if (word === "auto") return "auto";
  const count = /^\d{1,4}$/.test(word) ? Number(word) : 0;
  if (count >= 1 && count <= MOST_PARTS) return count;
  throw userError("bad_chunks", `--chunks takes auto, or a number of parts from 1 to ${MOST_PARTS}; got "${word}".`, {
    hints: ["`jpg compact --chunks auto` splits where the topic changes."],
  });
}
