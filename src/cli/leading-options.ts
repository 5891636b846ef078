// Global options that stand before the command, as in `jpg --store DIR ls`: they mean the same there.
import { GLOBAL_OPTIONS } from "./frame/command.ts";

export interface LeadingOptions {
  /** The options with their values, as given; never the command's name. */
  readonly options: readonly string[];
  /** The command and all that follows. */
  readonly rest: readonly string[];
}

/** Splits off the global options before the command. An option that is not global ends them. */
export function splitLeadingOptions(words: readonly string[]): LeadingOptions {
  let index = 0;
  while (index < words.length) {
    const width = widthOf(words[index] ?? "");
    if (width === 0) break;
    index += width;
  }
  return { options: words.slice(0, index), rest: words.slice(index) };
}

/** How many words an option takes, itself included; 0 when it is no global option. */
function widthOf(word: string): number {
  const [name = "", value] = word.split("=", 2);
  const option = GLOBAL_OPTIONS.find(({ flags }) => new Set<string>(flags.match(/--?[\w-]+/g)).has(name));
  if (option === undefined) return 0;
  return option.flags.includes("<") && value === undefined ? 2 : 1;
}
