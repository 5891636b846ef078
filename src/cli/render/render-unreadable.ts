// A branch that cannot be read beside others that can.
import type { JpgError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";

/** Renders which branch cannot be read, why, and what helps. */
export function renderUnreadable({ branch, error }: { readonly branch: string; readonly error: JpgError }): SafeText {
  const why = safe`${forTerminalLine(branch)} cannot be read: ${forTerminal(error.message)}`;
  return joinLines([why, ...error.hints.map((hint) => forTerminal(hint))]);
}
