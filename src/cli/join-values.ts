// Joins option words with their values by `=` where the parser would guess wrong: negative bounds (`--to -3`), and optional
// values, which take the next word only when it fits (`--from 5h`, but not `--from fix-parser`).
import type { OptionSpec } from "./frame/command.ts";

/** Gives the words with such values joined; words after `--` stay as they are. */
export function joinValues(options: readonly OptionSpec[], words: readonly string[]): string[] {
  const named = (word: string): OptionSpec | undefined =>
    options.find(({ flags }) => new Set<string>(flags.match(/--?[\w-]+/g)).has(word));
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const joined: string[] = [];
  for (let index = 0; index < own.length; index++) {
    const word = own[index] ?? "";
    const option = named(word);
    const next = own[index + 1];
    const takes = option !== undefined && next !== undefined && takesNext(option, word, next);
    if (takes) joined.push(`${word}=${next}`);
    else joined.push(option?.optionalValue === undefined ? word : `${word}=`);
    if (takes) index++;
  }
  return [...joined, ...words.slice(own.length)];
}

/** Whether the next word must be joined to the option, not left to the parser. */
function takesNext(option: OptionSpec, word: string, next: string): boolean {
  if (option.optionalValue !== undefined) return option.optionalValue(next);
  return option.flags.includes("<") && /^-\d/.test(next) && word.startsWith("--");
}
