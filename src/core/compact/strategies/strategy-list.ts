// All strategies, and how the names a person types become steps.
import { type JpgError, nearestName, userError } from "../../errors.ts";
import { dedupTools } from "./dedup-tools.ts";
import { fadeTools } from "./fade-tools.ts";
import { classifyTangents, summarize } from "./hide-turns.ts";
import { pruneTools } from "./prune-tools.ts";
import { maskResults, truncateResults } from "./shorten-results.ts";
import type { Strategy, StrategyOptions, StrategyUse } from "./strategy.ts";
import { FORMER_STRATEGIES, PIPELINE_NAMES, STRATEGY_NAMES } from "./strategy-names.ts";
import { stripAttachments, stripImages, stripReasoning } from "./strip-content.ts";
import { stripToolResults, stripTools } from "./strip-tools.ts";
import { supersede } from "./supersede.ts";

/** All strategies, those that take least first. */
export const STRATEGIES: readonly Strategy[] = [
  stripReasoning,
  dedupTools,
  supersede,
  truncateResults,
  maskResults,
  stripToolResults,
  stripTools,
  fadeTools,
  stripImages,
  stripAttachments,
  pruneTools,
  classifyTangents,
  summarize,
];

/**
 * Turns names into steps, in order, each name once. Throws `unknown_strategy`, `contradictory_strategies` when an exclusive one is combined
 * with others, `unused_option` for an option that none of them reads, and `bad_option` for a value out of bounds.
 */
export function chooseStrategies(
  names: readonly string[],
  options: StrategyOptions = {},
  own: OwnOptions = new Map(),
): readonly StrategyUse[] {
  const chosen = [...new Set(names)].map((name) => findStrategy(name));
  const alone = chosen.find(({ isExclusive }) => isExclusive === true);
  if (alone !== undefined && chosen.length > 1) {
    throw userError("contradictory_strategies", `The strategy ${alone.name} makes a compaction of its own.`, {
      data: { strategies: names },
      hints: [`Run \`jpg compact --strategy ${alone.name}\` and the others one after the other.`],
    });
  }
  checkOptions(chosen, options);
  return chosen.map((strategy) => {
    const named = own.get(strategy.name) ?? {};
    checkValues(named);
    return { strategy, options: { ...options, ...named } };
  });
}

/** Options of single strategies, by name; they come before those of the call. */
export type OwnOptions = ReadonlyMap<string, StrategyOptions>;

/** Finds a strategy by name. Throws `unknown_strategy` with the nearest name and the list. */
function findStrategy(name: string): Strategy {
  return STRATEGIES.find((strategy) => strategy.name === name) ?? throwError(unknownStrategy(name));
}

function unknownStrategy(name: string): JpgError {
  const known = [...STRATEGY_NAMES, ...PIPELINE_NAMES];
  const instead = Object.hasOwn(FORMER_STRATEGIES, name) ? FORMER_STRATEGIES[name] : undefined;
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? "`jpg compact --help` lists what can be given." : `Did you mean ${nearest}?`;
  return userError("unknown_strategy", `There is no strategy "${name}": expected one of ${known.join(", ")}.`, {
    data: { name, known },
    hints: [instead ?? hint],
  });
}

function checkOptions(chosen: readonly Strategy[], options: StrategyOptions): void {
  const given = (Object.keys(options) as (keyof StrategyOptions)[]).filter((option) => options[option] !== undefined);
  for (const option of given) {
    const takers = STRATEGIES.filter(({ takes }) => takes?.includes(option)).map(({ name }) => name);
    if (chosen.some(({ name }) => takers.includes(name))) continue;
    throw userError("unused_option", `${FLAGS[option]} has no effect without --strategy ${takers.join(" or ")}.`, {
      hints: [`Add the strategy, or leave ${FLAGS[option]} out.`],
    });
  }
  checkValues(options);
}

function checkValues({ maxChars = 1, head = 0, newest = 0 }: StrategyOptions): void {
  if (!Number.isSafeInteger(maxChars) || maxChars < 1) throw badOption("maxChars", "a whole number above 0");
  if (!(head >= 0 && head <= 1)) throw badOption("head", "a share from 0 to 1");
  if (!Number.isSafeInteger(newest) || newest < 0) throw badOption("newest", "a whole number, 0 or more");
}

const FLAGS: Readonly<Record<keyof StrategyOptions, string>> = {
  maxChars: "--max-chars",
  head: "--head",
  newest: "--newest",
};

function badOption(option: keyof StrategyOptions, expected: string): JpgError {
  return userError("bad_option", `${FLAGS[option].slice(2)}: expected ${expected}.`);
}

function throwError(error: JpgError): never {
  throw error;
}
