// An error as text for people and as the JSON document that `--json` prints.
import { asSentence, JpgError, messageOf, repositoryError } from "../../core/errors.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "./terminal.ts";

/** The JSON document of a failed command. */
interface ErrorDocument {
  readonly error: {
    readonly kind: string;
    readonly code: string;
    readonly message: string;
    readonly hints: readonly string[];
    /** Present when there is any. */
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** Converts a thrown value to a JpgError; anything else is a bug in jpg (`internal_error`). */
export function asJpgError(thrown: unknown): JpgError {
  if (thrown instanceof JpgError) return thrown;
  const message = messageOf(thrown);
  return new JpgError("internal", "internal_error", `Unexpected error: ${asSentence(message)}`, {
    cause: thrown,
    hints: ["This is a bug in jpg: please report it with the output of the same command and --verbose."],
  });
}

/** Returns the JSON document of an error. */
export function errorDocument({ kind, code, message, hints, data }: JpgError): ErrorDocument {
  return { error: { kind, code, message, hints, ...(Object.keys(data).length === 0 ? {} : { data }) } };
}

/** Renders an error: the message, its hints, and with `verbose` its code, causes and, for a bug, the stack. */
export function renderError(error: JpgError, { style }: Rendering, verbose = false): SafeText {
  const lines = [labelled(style.bad(safe`error:`), "error: ", error.message)];
  for (const hint of error.hints) lines.push(labelled(style.caution(safe`hint:`), "hint: ", hint));
  if (verbose) {
    lines.push(style.faint(forTerminal(`code: ${error.kind}/${error.code}`)));
    for (const cause of causesOf(error)) lines.push(style.faint(forTerminal(`cause: ${cause}`)));
  }
  return joinLines(lines);
}

function labelled(label: SafeText, unpainted: string, text: string): SafeText {
  return safe`${label} ${forTerminal(text.replaceAll("\n", `\n${" ".repeat(unpainted.length)}`))}`;
}

/** Causes, outermost first; at most ten, in case they form a cycle. */
function causesOf(error: JpgError): string[] {
  const causes: string[] = [];
  for (let cause = error.cause; cause != null && causes.length < 10; ) {
    if (!(cause instanceof Error)) return [...causes, String(cause)];
    causes.push(error.kind === "internal" ? (cause.stack ?? cause.message) : cause.message);
    cause = cause.cause;
  }
  return causes;
}

// Errors of the operating system (a full disk, a read-only folder) as errors of kind `repository`, so that they are never
// reported as bugs in jpg.

interface Refusal {
  readonly code: string;
  readonly says: string;
  readonly hint: string;
}

const FULL: Refusal = { code: "disk_full", says: "the disk is full", hint: "Free space and run the command again." };
const FORBIDDEN: Refusal = {
  code: "not_writable",
  says: "permission was denied",
  hint: "Give yourself access, or name another place.",
};
const IN_THE_WAY: Refusal = {
  code: "file_in_the_way",
  says: "a file or folder is in the way",
  hint: "Move it away, or name another place.",
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: { ...FORBIDDEN, says: "the file system is read-only" },
  ENOTDIR: IN_THE_WAY,
  EISDIR: IN_THE_WAY,
  EEXIST: IN_THE_WAY,
  ENAMETOOLONG: { code: "name_too_long", says: "a file name is too long", hint: "Name a shorter place." },
  EMFILE: { code: "too_many_files", says: "too many files are open", hint: "Raise the limit: `ulimit -n 4096`." },
  EFBIG: { code: "file_too_large", says: "a file may not grow that large", hint: "Look at `ulimit -f`." },
  EIO: { code: "read_failed", says: "the disk failed", hint: "Check the disk." },
};

/** Converts an error of the operating system to one of kind `repository`; returns anything else unchanged. */
export function fromSystemError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { code = "", syscall, path } = thrown as NodeJS.ErrnoException;
  const refusal = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  return refusal === undefined || syscall === undefined
    ? thrown
    : systemError(refusal, { code, syscall, path }, thrown);
}

function systemError(
  refusal: Refusal,
  call: { readonly code: string; readonly syscall: string; readonly path: string | undefined },
  cause: Error,
): JpgError {
  const where = call.path === undefined ? "" : ` on ${call.path}`;
  return repositoryError(refusal.code, `${refusal.says}: ${call.syscall}${where} failed (${call.code}).`, {
    hints: [refusal.hint],
    data: { ...call },
    cause,
  });
}
