// The exit codes, in one place (docs/cli.md lists them).
import { type ErrorKind, JpgError } from "../../core/errors.ts";

const EXIT_CODES: Readonly<Record<ErrorKind, number>> = {
  user: 2,
  config: 2,
  repository: 3,
  provider: 4,
  internal: 70,
};

/** A bug in jpg: anything thrown that is no JpgError. */
const BUG = 70;

/** What a shell gives for a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

/** The exit code of whatever was thrown. */
export function exitCodeOf(thrown: unknown): number {
  return thrown instanceof JpgError ? EXIT_CODES[thrown.kind] : BUG;
}
