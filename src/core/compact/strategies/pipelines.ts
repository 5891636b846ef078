// Pipelines: strategies in an order that has proved itself, with the sizes from which a step, or the whole, is worth it. All sizes are
// named here with their reason.
import { userError } from "../../errors.ts";
import { summarize } from "./hide-turns.ts";
import type { StrategyOptions, StrategyUse } from "./strategy.ts";
import { chooseStrategies, type OwnOptions } from "./strategy-list.ts";
import { type PipelineName, type StrategyName, TANGENTS } from "./strategy-names.ts";

/** Newest tokens of a conversation that are left alone, because the agent is working on them. Estimated. */
export const PROTECT_TOKENS = 10_000;
/** The same for `auto`, whose fade-tools leaves the newest calls whole anyway: what was said last. */
export const AUTO_PROTECT_TOKENS = 2000;
/**
 * Least saving of a batch in a large conversation, tokens a call. After every batch the provider's cache is rewritten from the first change
 * on: masking a result at each turn costs 40 % more than doing nothing, batches of this size save 32 to 52 % (measured over sessions of
 * coding agents with cache prices of 0.1 and 1.25).
 */
export const MIN_GAIN_TOKENS = 20_000;
/** Least saving of a batch in a small conversation, as a share of it. */
export const MIN_GAIN_SHARE = 0.15;
/** Default share of the context window that `tiered` brings a view down to: below it models still answer well. */
export const TARGET_SHARE = 0.5;
/** Longest tool output that tier 1 leaves whole, characters: an error with its trace, a page of code. */
export const TIER_1_CHARS = 2000;

interface Pipeline {
  readonly name: PipelineName;
  /** What it does, a clause for people. */
  readonly summary: string;
}

const PIPELINES: readonly Pipeline[] = [
  {
    name: "auto",
    summary: "strip-reasoning, dedup-tools, supersede, fade-tools, prune-tools; in batches",
  },
  {
    name: "tiered",
    summary: "truncate large outputs, then strip outputs, each only while the view is over its target",
  },
];

/** Strategies that are worth it only in batches: they leave the newest tokens alone and have a least gain. */
const BATCHED: ReadonlySet<string> = new Set(["auto", "mask-results"]);
/** How many of the newest tokens some strategies leave alone, in addition to the newest turns. */
const PROTECTED: Readonly<Record<string, number>> = {
  auto: AUTO_PROTECT_TOKENS,
  "mask-results": PROTECT_TOKENS,
  tiered: PROTECT_TOKENS,
};

const AUTO: readonly StrategyName[] = ["strip-reasoning", "dedup-tools", "supersede", "fade-tools", "prune-tools"];

/** A size as a person writes it: tokens, or a share of the model's context window. */
type SizeTarget = { readonly tokens: number } | { readonly share: number };

/** The steps of a list of names, and how they run. */
export interface ChosenStrategies {
  readonly uses: readonly StrategyUse[];
  /** The names as given, each once. */
  readonly names: readonly string[];
  /** Newest tokens to leave alone when no end of the range is given; absent = turns are left alone. */
  readonly protectTokens?: number;
  /** A batch that saves fewer tokens is not worth it; absent = any gain is. */
  readonly minGainTokens?: number;
  /** The same as a share of the conversation, 0..1; the smaller of both counts. */
  readonly minGainShare?: number;
  /**
   * Size above which it continues with a summary: the configured threshold, a target; `always`: `summarize` was named, too; absent = never.
   */
  readonly summarizeAbove?: "threshold" | "always" | SizeTarget;
}

/**
 * Turns the names of strategies and pipelines into steps; a summary comes after all others. Throws what chooseStrategies throws, and
 * `contradictory_strategies` for two pipelines.
 */
export function choosePipelines(
  names: readonly string[],
  options: StrategyOptions = {},
  target: SizeTarget = { share: TARGET_SHARE },
  own: OwnOptions = new Map(),
): ChosenStrategies {
  const named = [...new Set(names)];
  const isSummarized = named.length > 1 && named.includes(summarize.name);
  const given = isSummarized ? named.filter((name) => name !== summarize.name) : named;
  const pipelines = PIPELINES.filter(({ name }) => given.includes(name));
  if (pipelines.length > 1) {
    throw userError("contradictory_strategies", "The pipelines auto and tiered cannot be combined.", {
      data: { strategies: given },
      hints: ["Run one, look at `jpg diff`, then run the other."],
    });
  }
  const expanded = given.flatMap(stepsOf);
  const isOver: StrategyUse["isWanted"] = ({ viewTokens, windowTokens }) => viewTokens > tokensOf(target, windowTokens);
  const tier = (use: StrategyUse): StrategyUse => ({
    ...use,
    options:
      use.strategy.takes?.includes("maxChars") === true
        ? { ...use.options, maxChars: use.options.maxChars ?? TIER_1_CHARS }
        : use.options,
    isWanted: isOver,
  });
  const isTiered = pipelines.some(({ name }) => name === "tiered");
  const uses = chooseStrategies(expanded, options, ownOfSteps(given, own)).map((use) =>
    isTiered && TIERS.includes(use.strategy.name) && !given.includes(use.strategy.name) ? tier(use) : use,
  );
  return {
    uses,
    names: given,
    ...protectionOf(given),
    ...(given.some((name) => BATCHED.has(name))
      ? { minGainTokens: MIN_GAIN_TOKENS, minGainShare: MIN_GAIN_SHARE }
      : {}),
    ...summaryOf(isSummarized ? "always" : (pipelines[0]?.name ?? null), target),
  };
}

/** The steps that a name stands for. */
function stepsOf(name: string): readonly string[] {
  return name === "auto" ? AUTO : name === "tiered" ? TIERS : [name];
}

/** Gives the options of a pipeline to its steps; those of a step that is named, too, come first. */
function ownOfSteps(names: readonly string[], own: OwnOptions): OwnOptions {
  const ofSteps = new Map<string, StrategyOptions>();
  for (const name of names)
    for (const step of stepsOf(name)) ofSteps.set(step, { ...own.get(name), ...ofSteps.get(step), ...own.get(step) });
  return ofSteps;
}

/** The most that any of them leaves alone. */
function protectionOf(names: readonly string[]): Pick<ChosenStrategies, "protectTokens"> {
  const tokens = names.flatMap((name) => (Object.hasOwn(PROTECTED, name) ? [PROTECTED[name] as number] : []));
  return tokens.length === 0 ? {} : { protectTokens: Math.max(...tokens) };
}

function summaryOf(wish: PipelineName | "always" | null, target: SizeTarget): Pick<ChosenStrategies, "summarizeAbove"> {
  if (wish === null) return {};
  return { summarizeAbove: wish === "always" ? "always" : wish === "tiered" ? target : "threshold" };
}

/** The names of a call, separated from the strategy which asks a person: that one runs first, on its own. */
interface SplitNames {
  readonly leavesTangents: boolean;
  readonly others: readonly string[];
}

/** Splits them. Throws `contradictory_strategies` for tangents with a summary, which would replace the tangents, too. */
export function splitTangents(names: readonly string[]): SplitNames {
  const leavesTangents = names.includes(TANGENTS);
  const others = names.filter((name) => name !== TANGENTS);
  if (!leavesTangents || !others.includes(summarize.name)) return { leavesTangents, others };
  throw userError(
    "contradictory_strategies",
    `${TANGENTS} and ${summarize.name} contradict each other: the summary would cover the tangents too.`,
    { data: { strategies: names }, hints: [`Leave one of them out; \`--focus\` says what a summary should focus on.`] },
  );
}

const TIERS: readonly string[] = ["truncate-results", "strip-tool-results"];

/**
 * Least saving with which a compaction is worth the rewritten cache, tokens a call. `tokens` = the conversation as it is sent, without
 * system prompt and tools: they come before every change, so they stay cached.
 */
export function leastGain(
  tokens: number,
  { minGainTokens = MIN_GAIN_TOKENS, minGainShare }: Pick<ChosenStrategies, "minGainTokens" | "minGainShare"> = {
    minGainShare: MIN_GAIN_SHARE,
  },
): number {
  return minGainShare === undefined ? minGainTokens : Math.min(minGainTokens, Math.ceil(minGainShare * tokens));
}

/** Converts a size to tokens. */
export function tokensOf(size: SizeTarget, windowTokens: number): number {
  return "tokens" in size ? size.tokens : Math.round(size.share * windowTokens);
}

/** Parses a target: tokens (`60000`, `60k`), or a share of the window (`0.5`, `50%`). Throws `bad_target`. */
export function parseTarget(text: string): SizeTarget {
  const match = /^(\d{1,9}(?:\.\d{1,6})?)(k|m|%)?$/i.exec(text.trim());
  const amount = Number(match?.[1]);
  const unit = match?.[2]?.toLowerCase();
  const isShare = unit === "%" || (unit === undefined && amount <= 1);
  const share = unit === "%" ? amount / 100 : amount;
  const tokens = amount * (unit === "k" ? 1000 : unit === "m" ? 1_000_000 : 1);
  if (match !== null && amount > 0 && (isShare ? share <= 1 : Number.isInteger(tokens))) {
    return isShare ? { share } : { tokens };
  }
  throw userError("bad_target", `A target of ${text}: expected tokens or a share of the model's window.`, {
    hints: ["`-s tiered:target=60k`, or 60000, 0.5, 50%"],
  });
}
