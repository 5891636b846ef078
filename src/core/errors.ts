// The one error type of jpg. `kind` decides the exit code, `code` is stable for programs, hints say what to type next.

/** Where the fault lies; decides the exit code. */
export type ErrorKind = "user" | "config" | "repository" | "provider" | "internal";

/** What an error holds besides its message. */
interface ErrorDetails {
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

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Ends text from elsewhere with a full stop, for the end of a message. */
export function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The code of an error of Node or the operating system, such as `ENOENT`; "" when it has none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

const STARTING: Readonly<Record<string, string>> = { ENOENT: "no such program", EACCES: "permission denied" };

/**
 * Why reading, writing or starting something failed, for a message that names it already: `no such file or directory`, without
 * the code, call and path that Node adds. Other errors keep their message.
 */
export function reasonOf(thrown: unknown): string {
  const message = messageOf(thrown);
  const code = codeOf(thrown);
  if (message.startsWith("spawn ")) return STARTING[code] ?? message;
  const words = code === "" ? undefined : new RegExp(`^(?:listen )?${code}: ([^,]+)`).exec(message)?.[1];
  return words ?? message;
}

// Suggests the name a person probably meant, for errors about unknown names. Deterministic: ties go to the first name.

/** Longest distance at which a suggestion still helps: a third of the word's length, at least 1, at most 3 edits. */
function tolerance(word: string): number {
  return Math.min(3, Math.max(1, Math.floor(word.length / 3)));
}

/** Finds the name closest to a word (edit distance, letter case ignored), or undefined when none is close. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = tolerance(word) + 1;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Counts the insertions, deletions, replacements and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let cell = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, at(previous, column - 1) + cost);
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cell = Math.min(cell, at(beforePrevious, column - 2) + 1);
      current.push(cell);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] as number;
}
