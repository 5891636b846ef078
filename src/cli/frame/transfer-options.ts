// How a transfer is watched from a terminal: git may ask for a name and a password there, and says how far it is.
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { isTerminal } from "./ask.ts";
import type { Output } from "./output.ts";

/** How far git is, there or here. */
const PROGRESS = /^(?:remote: +)?[A-Z][A-Za-z ]+: +\d+(?:%|,|$)/;
/** Git's own count of what it sent, at the end. */
const TOTAL = /^remote: Total \d+ \(delta /;
/** What the other side says; what became of which ref is reported by the commands. */
const SAID = /^remote: .*\S/;

/** What a transfer is told of the terminal. */
interface Watched {
  readonly interactive: boolean;
  readonly progress?: (line: string, stands: boolean) => void;
}

/** The options of a transfer; git's lines are shown only where a person sees them, its progress on one that moves. */
export function watchTransfer(output: Pick<Output, "info" | "moving" | "seen" | "errorStyle">): Watched {
  const interactive = isTerminal(process.stdin, output);
  if (!output.seen) return { interactive };
  const show = (line: string, stands: boolean): void => {
    if ((line === "" && !stands) || TOTAL.test(line)) output.moving("");
    else if (PROGRESS.test(line) || (!stands && SAID.test(line))) output.moving(line);
    else if (SAID.test(line)) output.info(output.errorStyle.faint(safe`  ${forTerminalLine(line)}`));
  };
  return { interactive, progress: show };
}
