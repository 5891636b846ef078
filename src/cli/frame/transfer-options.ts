// How a transfer is watched from a terminal: git may ask for a name and a password there, and says how far it is.
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { isTerminal } from "./ask.ts";
import type { Output } from "./output.ts";

/** How far git is, and what the other side says; what became of which ref is reported by the commands. */
const PROGRESS = /^remote: .*\S|^[A-Z][a-z ]+: +\d+%/;

/** What a transfer is told of the terminal. */
interface Watched {
  readonly interactive: boolean;
  readonly progress?: (line: string) => void;
}

/** The options of a transfer; git's lines are shown only where a person sees them. */
export function watchTransfer(output: Pick<Output, "info" | "seen" | "errorStyle">): Watched {
  const interactive = isTerminal(process.stdin, output);
  if (!output.seen) return { interactive };
  const show = (line: string): void => {
    if (PROGRESS.test(line)) output.info(output.errorStyle.faint(safe`  ${forTerminalLine(line)}`));
  };
  return { interactive, progress: show };
}
