// Options that are counts.
import { userError } from "../../core/errors.ts";
import { type OptionValues, text } from "./command.ts";

/** Reads a whole number, 0 or more; undefined when the option was not given. Throws `bad_number`. */
export function count(options: OptionValues, name: string): number | undefined {
  const word = text(options, name);
  if (word === undefined) return undefined;
  if (!/^\d{1,9}$/.test(word)) {
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw userError("bad_number", `--${dashed} takes a whole number, 0 or more; got ${word}.`, {
      hints: [`For example: --${dashed} 3`],
    });
  }
  return Number(word);
}
