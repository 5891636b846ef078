// What a person writes for several strategies, as `-s` takes them: names with settings. Some settings are of one strategy, others
// of the whole compaction.
import { userError } from "../../errors.ts";
import { type ChosenStrategies, choosePipelines, parseTarget, splitTangents } from "./pipelines.ts";
import type { StrategyOptions } from "./strategy.ts";
import type { OwnOptions } from "./strategy-list.ts";
import { TANGENTS } from "./strategy-names.ts";
import { parseStrategyWord, type StrategySetting } from "./strategy-words.ts";

/** Settings that count for the whole compaction. */
const WHOLE = ["target", "protect", "min-gain"] as const;
export type WholeSetting = (typeof WHOLE)[number];

interface WrittenStrategies {
  readonly names: readonly string[];
  /** Options of single strategies. */
  readonly own: OwnOptions;
  /** As written. */
  readonly whole: ReadonlyMap<WholeSetting, string>;
}

/** Reads the words. Throws what `parseStrategyWord` throws, and `contradictory_flags` where two say something else. */
export function readWrittenStrategies(words: readonly string[]): WrittenStrategies {
  const own = new Map<string, StrategyOptions>();
  const whole = new Map<WholeSetting, string>();
  const names: string[] = [];
  for (const word of words) {
    const { name, settings } = parseStrategyWord(word);
    names.push(name);
    for (const [setting, value] of settings) {
      const ofWhole = WHOLE.find((one) => one === setting);
      if (ofWhole === undefined) own.set(name, { ...own.get(name), ...optionOf(setting, value) });
      else if ((whole.get(ofWhole) ?? value) === value) whole.set(ofWhole, value);
      else throw saidTwice(setting, [whole.get(ofWhole) ?? "", value]);
    }
  }
  return { names, own, whole };
}

/** Values that are no numbers become NaN, which is out of every option's bounds. */
function optionOf(setting: StrategySetting, value: string): StrategyOptions {
  const number = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (setting === "max-chars") return { maxChars: number };
  return setting === "head" ? { head: number } : { newest: number };
}

/** The error of a setting with two values. */
export function saidTwice(setting: string, values: readonly string[]): Error {
  return userError("contradictory_flags", `jpg compact: ${setting} was given ${values.join(" and ")}.`, {
    hints: ["Leave all but one of them out."],
  });
}

/** Sizes that replace those of the strategies, tokens. */
export interface StrategySizes {
  readonly protectTokens?: number;
  readonly minGainTokens?: number;
}

/** Replaces the strategies' sizes by those that were given. */
export function withSizes(chosen: ChosenStrategies, { protectTokens, minGainTokens }: StrategySizes): ChosenStrategies {
  const { minGainShare: _, ...asGiven } = chosen;
  return {
    ...(minGainTokens === undefined ? chosen : asGiven),
    protectTokens: protectTokens ?? chosen.protectTokens,
    minGainTokens: minGainTokens ?? chosen.minGainTokens,
  };
}

/** Strategies for a caller who answers no questions, and the newest tokens that were said to stay, if they were. */
interface ChosenWords extends Pick<StrategySizes, "protectTokens"> {
  readonly strategies: ChosenStrategies;
}

/** Chooses strategies by words alone. Throws like `readWrittenStrategies`, and `asks_a_person` for one that asks. */
export function chooseWritten(words: readonly string[]): ChosenWords {
  const { names, own, whole } = readWrittenStrategies(words);
  if (splitTangents(names).leavesTangents)
    throw userError("asks_a_person", `The strategy ${TANGENTS} asks a person about each proposal.`, {
      hints: [`\`jpg compact -s ${TANGENTS}\` does, on a terminal.`],
    });
  const target = whole.get("target");
  const chosen = choosePipelines(names, {}, target === undefined ? undefined : parseTarget(target), own);
  const [protectTokens, minGainTokens] = [tokensIn(whole, "protect"), tokensIn(whole, "min-gain")];
  return { strategies: withSizes(chosen, { protectTokens, minGainTokens }), protectTokens };
}

function tokensIn(whole: ReadonlyMap<WholeSetting, string>, setting: WholeSetting): number | undefined {
  const value = whole.get(setting);
  if (value === undefined || /^\d{1,9}$/.test(value)) return value === undefined ? undefined : Number(value);
  throw userError("bad_number", `${setting} takes a whole number, 0 or more; got ${value}.`, {
    hints: [`For example: ${setting}=3000`],
  });
}
