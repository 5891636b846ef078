// What a person writes for a strategy: a name or the beginning of one, with settings after it: `truncate:head=0.7,max-chars=500`.
import { type JpgError, nearestName, userError } from "../../errors.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES } from "./strategy-names.ts";

/** Settings by the names of strategies and pipelines that read them. */
const SETTINGS: Readonly<Record<string, readonly StrategySetting[]>> = {
  auto: ["protect", "min-gain", "max-chars"],
  tiered: ["target", "protect", "max-chars", "head"],
  "truncate-results": ["max-chars", "head"],
  supersede: ["max-chars"],
  "mask-results": ["newest", "protect", "min-gain"],
};

/** What each says, for help. */
const STRATEGY_SETTINGS = {
  "max-chars": "longest text that is left whole",
  head: "share of a truncated result kept at its start, 0 to 1, default 0.5",
  newest: "results left alone, default 10",
  target: "size to reduce the view to, 60k or a share of the window, default 0.5",
  protect: "newest tokens left alone in addition to keep_last, default 10000, for auto 2000",
  "min-gain": "fewest tokens to save, default 15 % of the conversation, at most 20000",
} as const;

export type StrategySetting = keyof typeof STRATEGY_SETTINGS;

interface StrategyWord {
  readonly name: string;
  /** As written. */
  readonly settings: ReadonlyMap<StrategySetting, string>;
}

/**
 * Parses a word. A name that is none stays as it is, for the error of whoever looks it up. Throws `ambiguous_strategy` for a
 * beginning of several, `bad_option` for a setting that the strategy does not read, or one without a value.
 */
export function parseStrategyWord(word: string): StrategyWord {
  const colon = word.indexOf(":");
  const name = wholeName(colon < 0 ? word : word.slice(0, colon));
  const settings = new Map<StrategySetting, string>();
  const written = colon < 0 ? "" : word.slice(colon + 1);
  for (const part of written.split(",")) {
    if (part.trim() === "" && colon < 0) continue;
    const [key = "", value = ""] = splitAt(part, "=").map((text) => text.trim());
    const known = settingsOf(name).find((one) => one === key);
    if (known === undefined) throw unknownSetting(name, key);
    if (value === "" || settings.has(known)) throw badSetting(name, known);
    settings.set(known, value);
  }
  return { name, settings };
}

/** Says which settings there are, one clause a setting, for help. */
export function describeSettings(): string {
  return (Object.keys(STRATEGY_SETTINGS) as StrategySetting[])
    .map((setting) => `${setting} (${readersOf(setting).join(", ")}): ${STRATEGY_SETTINGS[setting]}`)
    .join("; ");
}

function settingsOf(name: string): readonly StrategySetting[] {
  return Object.hasOwn(SETTINGS, name) ? (SETTINGS[name] ?? []) : [];
}

function readersOf(setting: StrategySetting): readonly string[] {
  return Object.keys(SETTINGS).filter((name) => settingsOf(name).includes(setting));
}

/** The only name that a word begins, or the word. Throws `ambiguous_strategy`. */
function wholeName(word: string): string {
  const names: readonly string[] = [...PIPELINE_NAMES, ...STRATEGY_NAMES];
  if (word === "" || names.includes(word)) return word;
  const begun = names.filter((name) => name.startsWith(word));
  if (begun.length > 1)
    throw userError("ambiguous_strategy", `"${word}" begins several strategies: ${begun.join(", ")}.`, {
      data: { name: word, candidates: begun },
      hints: [`For example: \`jpg compact -s ${begun[0]}\``],
    });
  return begun[0] ?? word;
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function unknownSetting(name: string, key: string): JpgError {
  const own = settingsOf(name);
  const takes = own.length === 0 ? "takes no settings" : `takes ${own.join(", ").replace(/, ([^,]*)$/, " and $1")}`;
  const nearest = nearestName(key, own);
  return userError("bad_option", `The strategy ${name} ${takes}; got "${key}".`, {
    data: { name, setting: key },
    hints: [
      ...(nearest === undefined ? [] : [`Did you mean ${name}:${nearest}=…?`]),
      "`jpg help compact --all` says what each setting does.",
    ],
  });
}

function badSetting(name: string, setting: StrategySetting): JpgError {
  return userError("bad_option", `${name}:${setting} takes one value: ${STRATEGY_SETTINGS[setting]}.`, {
    hints: [`For example: \`jpg compact -s ${name}:${setting}=${EXAMPLES[setting]}\``],
  });
}

const EXAMPLES: Readonly<Record<StrategySetting, string>> = {
  "max-chars": "500",
  head: "0.7",
  newest: "5",
  target: "60k",
  protect: "5000",
  "min-gain": "1000",
};
