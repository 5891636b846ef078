// The command line that starts a batch file (`claude.cmd`, as npm installs agents on Windows). cmd.exe reads it by rules of its own,
// then the batch file passes `%*` on to a program that splits it by other rules: a word must survive both, and start nothing.
import { userError } from "./errors.ts";

/** Words that neither cmd.exe nor a C program changes. Not one that ends in a backslash: it could escape a quote put after it. */
const PLAIN = /^[\w./:@+\\-]*[\w./:@+-]$/;
/** What no quoting hides from cmd.exe: it ends the line there. */
const ENDS_LINE = /[\0\r\n]/;
/** Expands to one `%`: `%cd:~,%` is no characters of a variable that always exists, so `%NAME%` cannot form. */
const PERCENT = "%%cd:~,%";

/**
 * Formats what follows `cmd.exe /e:ON /v:OFF /d /s /c` for a batch file and its arguments, as Rust's library does since
 * CVE-2024-24576. Throws `argument_unfit` for a line break or a null character.
 */
export function formatBatchLine(script: string, args: readonly string[]): string {
  for (const word of [script, ...args])
    if (ENDS_LINE.test(word))
      throw userError(
        "argument_unfit",
        `${script} is a batch file, and an argument with a line break cannot be passed to one.`,
        {
          hints: ["Name a program that is no .cmd or .bat file."],
        },
      );
  return `"${[quoteForBatch(script), ...args.map((word) => (PLAIN.test(word) ? word : quoteForBatch(word)))].join(" ")}"`;
}

function quoteForBatch(word: string): string {
  const inside = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/\\+$/, "$&$&")
    .replaceAll("%", () => PERCENT);
  return `"${inside}"`;
}
