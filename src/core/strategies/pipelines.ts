// Pipelines: strategies in an order that has proved itself, with the sizes from which a step, or the whole, is worth it. All
// sizes are named here with their reason.
import { userError } from "../errors.ts";
import type { StrategyOptions, StrategyUse } from "./strategy.ts";
import { chooseStrategies, type PIPELINE_NAMES } from "./strategy-list.ts";

/** What the newest tokens of a conversation are left alone: the agent is at work on them. Tokens, estimated. */
export const PROTECT_TOKENS = 10_000;
/**
 * The least a batch must save, tokens a call. Every batch makes the provider's cache write anew what follows the first change:
 * masking a result at each turn costs 40 % more than doing nothing, batches of this size save 32 to 52 % (measured over
 * sessions of coding agents with cache prices of 0.1 and 1.25).
 */
export const MIN_GAIN_TOKENS = 20_000;
/** Share of the context window that `tiered` brings a view down to, unless told: below it models still answer well. */
export const TARGET_SHARE = 0.5;
/** Longest tool output that tier 1 leaves whole, characters: an error with its trace, a page of code. */
export const TIER_1_CHARS = 2000;

/** A pipeline by its name. */
export interface Pipeline {
  readonly name: (typeof PIPELINE_NAMES)[number];
  /** What it does, a clause for people. */
  readonly summary: string;
}

export const PIPELINES: readonly Pipeline[] = [
  {
    name: "auto",
    summary: "strip-reasoning, dedup-tools, supersede, strip-tool-results, prune-tools; in batches",
  },
  {
    name: "tiered",
    summary: "truncate large outputs, then strip outputs, each only while the view is over --target",
  },
];

/** Strategies that are worth it only in batches: they leave the newest tokens alone and have a least gain. */
const BATCHED: ReadonlySet<string> = new Set(["auto", "mask-results"]);
/** Those that leave the newest tokens alone instead of the newest turns. */
const PROTECTED: ReadonlySet<string> = new Set(["auto", "mask-results", "tiered"]);

const AUTO = ["strip-reasoning", "dedup-tools", "supersede", "strip-tool-results", "prune-tools"] as const;

/** A size as a person writes it: tokens, or a share of the model's context window. */
export type SizeTarget = { readonly tokens: number } | { readonly share: number };

/** How a list of names runs. */
export interface ChosenStrategies {
  readonly uses: readonly StrategyUse[];
  /** The names as they were given, each once. */
  readonly names: readonly string[];
  /** Newest tokens to leave alone where no end of the range is given; absent = turns are left alone. */
  readonly protectTokens?: number;
  /** Fewer tokens saved are not worth a batch; absent = any gain is. */
  readonly minGainTokens?: number;
  /** Size above which the pipeline would go on to a summary: the configured threshold, or its target; absent = it never would. */
  readonly summarizeAbove?: "threshold" | SizeTarget;
}

/**
 * Turns the names of strategies and pipelines into steps. Throws what chooseStrategies throws, and
 * `contradictory_strategies` for two pipelines, or a pipeline with a strategy that stands alone.
 */
export function choosePipelines(
  names: readonly string[],
  options: StrategyOptions = {},
  target: SizeTarget = { share: TARGET_SHARE },
): ChosenStrategies {
  const given = [...new Set(names)];
  const pipelines = PIPELINES.filter(({ name }) => given.includes(name));
  if (pipelines.length > 1) {
    throw userError("contradictory_strategies", "The pipelines auto and tiered cannot be combined.", {
      data: { strategies: given },
      hints: ["Run one, look at `jpg diff`, then the other."],
    });
  }
  const expanded = given.flatMap((name): readonly string[] =>
    name === "auto" ? AUTO : name === "tiered" ? TIERS : [name],
  );
  const isOver: StrategyUse["isWanted"] = ({ viewTokens, windowTokens }) => viewTokens > tokensOf(target, windowTokens);
  const tier = (use: StrategyUse): StrategyUse => ({
    ...use,
    options:
      use.strategy.takes?.includes("maxChars") === true ? { maxChars: TIER_1_CHARS, ...use.options } : use.options,
    isWanted: isOver,
  });
  const isTiered = pipelines.some(({ name }) => name === "tiered");
  const uses = chooseStrategies(expanded, options).map((use) =>
    isTiered && TIERS.includes(use.strategy.name) && !given.includes(use.strategy.name) ? tier(use) : use,
  );
  return {
    uses,
    names: given,
    ...(given.some((name) => PROTECTED.has(name)) ? { protectTokens: PROTECT_TOKENS } : {}),
    ...(given.some((name) => BATCHED.has(name)) ? { minGainTokens: MIN_GAIN_TOKENS } : {}),
    ...(pipelines.length === 0 ? {} : { summarizeAbove: isTiered ? target : ("threshold" as const) }),
  };
}

const TIERS: readonly string[] = ["truncate-results", "strip-tool-results"];

/** Gives a size in tokens. */
export function tokensOf(size: SizeTarget, windowTokens: number): number {
  return "tokens" in size ? size.tokens : Math.round(size.share * windowTokens);
}

/** Parses `--target`: tokens (`60000`, `60k`), or a share of the window (`0.5`, `50%`). Throws `bad_target`. */
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
  throw userError("bad_target", `--target ${text}: expected tokens or a share of the model's window.`, {
    hints: ["--target 60000 · --target 60k · --target 0.5 · --target 50%"],
  });
}
