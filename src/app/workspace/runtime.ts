// What the outside world gives to the app: environment, clock and time zone, randomness, where things are. Made once in
// cli/main.ts.

import { isTurnNumber } from "../../core/conversation/name.ts";
import type { Calendar } from "../../core/conversation/range-bound.ts";
import type { Engine } from "../../store/store.ts";

/** What stands at standard input. `open`: a pipe or socket, whose writer may write, or never; `file`: it ends by itself; `none`: nothing to read. */
export type InputKind = "terminal" | "open" | "file" | "none";

export interface Runtime extends Calendar {
  /** Of this jpg, for those it talks to, e.g. `0.1.0`; `0.0.0` when run from source. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  /** The engine that the user asked for; absent = jpg chooses. */
  readonly engine?: Engine;
  /** Absolute paths that git hooks call. */
  readonly nodePath: string;
  readonly jpgPath: string;
  now(): Date;
  /** Random bytes, for ids and padding. */
  random(length: number): Uint8Array;
  inputKind(): Promise<InputKind>;
  /** The whole of standard input. */
  readStdin(): Promise<Uint8Array>;
  /** The same; null when nothing came, not even its end, within so many milliseconds. */
  readStdinWithin(firstByteMs: number): Promise<Uint8Array | null>;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS = 10;
const LETTERS = 22;

/**
 * Creates a random id of base-32 characters (no i, l, o, u), e.g. `k3f9q2`. There is a letter in it: digits alone would be the
 * number of a turn.
 */
export function randomId(runtime: Runtime, length = 6): string {
  const bytes = runtime.random(length);
  const id = [...bytes].map((byte) => ALPHABET[byte % 32]).join("");
  const [first = 0] = bytes;
  return isTurnNumber(id) ? `${ALPHABET[DIGITS + (first % LETTERS)]}${id.slice(1)}` : id;
}
