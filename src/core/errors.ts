// The one error type of jpg. `kind` decides the exit code, `code` is stable for programs, hints say what to type next.

/** Where the fault lies; decides the exit code. */
export type ErrorKind = "user" | "config" | "repository" | "provider" | "internal";

/** What can be added to an error beside its message. */
export interface ErrorDetails {
  /** What to type or change next, most helpful first. */
  readonly hints?: readonly string[];
  /** Values a program may want, JSON-safe and free of secrets. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An error with a kind, a stable code and hints. The message names what failed, on what, what was expected and received. */
export class JpgError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly hints: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;

  constructor(kind: ErrorKind, code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "JpgError";
    this.kind = kind;
    this.code = code;
    this.hints = details.hints ?? [];
    this.data = details.data ?? {};
  }
}

/** Creates the error of a wrong argument or input (exit 2). */
export function userError(code: string, message: string, details?: ErrorDetails): JpgError {
  return new JpgError("user", code, message, details);
}

/** Creates the error of a broken or unreachable store or git (exit 3). */
export function repositoryError(code: string, message: string, details?: ErrorDetails): JpgError {
  return new JpgError("repository", code, message, details);
}

/** What was thrown, in its own words. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Ends somebody else's words, with which a message ends, as a sentence ends. */
export function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The code of an error of Node or the operating system, `ENOENT` or the like; "" when it has none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

const STARTING: Readonly<Record<string, string>> = { ENOENT: "no such program", EACCES: "permission denied" };

/**
 * Why reading, writing or starting something failed, for a message that names it already: `no such file or directory`, without
 * the code, the call and the path that Node says around it. Anything else in its own words.
 */
export function reasonOf(thrown: unknown): string {
  const message = messageOf(thrown);
  const code = codeOf(thrown);
  if (message.startsWith("spawn ")) return STARTING[code] ?? message;
  const words = code === "" ? undefined : new RegExp(`^(?:listen )?${code}: ([^,]+)`).exec(message)?.[1];
  return words ?? message;
}
