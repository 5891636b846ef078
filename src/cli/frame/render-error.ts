// An error as text for people and as the JSON document that `--json` prints.
import { asSentence, JpgError, messageOf } from "../../core/errors.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "./style.ts";

/** The JSON document of a failed command. */
export interface ErrorDocument {
  readonly error: {
    readonly kind: string;
    readonly code: string;
    readonly message: string;
    readonly hints: readonly string[];
    /** Present when there is any. */
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** Gives a thrown value as a JpgError; what is not one is a bug in jpg (`internal_error`). */
export function asJpgError(thrown: unknown): JpgError {
  if (thrown instanceof JpgError) return thrown;
  const message = messageOf(thrown);
  return new JpgError("internal", "internal_error", `Unexpected error: ${asSentence(message)}`, {
    cause: thrown,
    hints: ["This is a bug in jpg: please report it with the output of the same command and --verbose."],
  });
}

/** Gives the JSON document of an error. */
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

/** Causes, outermost first; at most ten, so that a ring of causes ends. */
function causesOf(error: JpgError): string[] {
  const causes: string[] = [];
  for (let cause = error.cause; cause != null && causes.length < 10; ) {
    if (!(cause instanceof Error)) return [...causes, String(cause)];
    causes.push(error.kind === "internal" ? (cause.stack ?? cause.message) : cause.message);
    cause = cause.cause;
  }
  return causes;
}
