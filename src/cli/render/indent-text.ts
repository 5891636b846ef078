// Text of others below a heading: safe for a terminal, each line that is not empty after four blanks.
import { linesForTerminal, type SafeText, safe } from "../../core/safe-text.ts";

/** Gives the lines of a text, indented. */
export function indentText(text: string): SafeText[] {
  return linesForTerminal(text).map((line) => (line === "" ? "" : safe`    ${line}`));
}
