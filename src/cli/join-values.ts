// Joins option words with their values by `=` where the parser would guess wrong: negative bounds (`--to -3`), and optional
// values, which take the next word only when it fits (`--from 5h`, but not `--from fix-parser`).
import type { OptionSpec } from "./frame/command.ts";

/** Gives the words with such values joined; words after `--` stay as they are. */
export function joinValues(options: readonly OptionSpec[], words: readonly string[]): string[] {
  const own = ownWords(words);
  const joined: string[] = [];
  for (let index = 0; index < own.length; index++) {
    const word = own[index] ?? "";
    const option = optionNamed(options, word);
    const next = own[index + 1];
    const takes = option !== undefined && next !== undefined && takesNext(option, word, next);
    if (takes) joined.push(`${longName(option, word)}=${next}`);
    else joined.push(option?.optionalValue === undefined ? word : `${longName(option, word)}=`);
    if (takes) index++;
  }
  return [...joined, ...words.slice(own.length)];
}

/** A word behind an option that did not take it, and the error of taking it. */
export interface Untaken {
  readonly word: string;
  readonly error: Error;
}

/** Finds the word that an optional value was refused for: it is an argument, if anything; null when there is none. */
export function findUntaken(options: readonly OptionSpec[], words: readonly string[]): Untaken | null {
  const own = ownWords(words);
  for (const [index, word] of own.slice(1).entries()) {
    const option = optionNamed(options, own[index] ?? "");
    if (option?.refuse === undefined || word.startsWith("-") || option.optionalValue?.(word) !== false) continue;
    return { word, error: option.refuse(word) };
  }
  return null;
}

/** The words before `--`. */
function ownWords(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

function optionNamed(options: readonly OptionSpec[], word: string): OptionSpec | undefined {
  return options.find(({ flags }) => new Set<string>(flags.match(/--?[\w-]+/g)).has(word));
}

/** A short name takes no value by `=`. */
function longName({ flags }: OptionSpec, word: string): string {
  return word.startsWith("--") ? word : (/--[\w-]+/.exec(flags)?.[0] ?? word);
}

/** Whether the next word must be joined to the option, not left to the parser. */
function takesNext(option: OptionSpec, word: string, next: string): boolean {
  if (option.optionalValue !== undefined) return option.optionalValue(next);
  return option.flags.includes("<") && /^-\d/.test(next) && word.startsWith("--");
}
