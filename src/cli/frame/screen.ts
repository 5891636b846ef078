// The screen of a terminal for text that is redrawn: where to write, its current size, and a timer.
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import type { InputKind } from "../../app/conversation/runtime.ts";
import type { SafeText } from "../../core/safe-text.ts";
import type { Output } from "./output.ts";

export interface Screen {
  /** Writes text; of control sequences only colours pass. */
  write(text: SafeText): void;
  /** Writes control sequences; never text of others. */
  draw(sequences: string): void;
  /** Now. */
  columns(): number;
  rows(): number;
  /** Calls `tick` repeatedly until the returned function is called. */
  every(milliseconds: number, tick: () => void): () => void;
}

/** The screen of standard output, which must be a terminal. */
export function screenOf({ raw, control }: Pick<Output, "raw" | "control">): Screen {
  return {
    write: raw,
    draw: control,
    columns: () => process.stdout.columns || 80,
    rows: () => process.stdout.rows || 24,
    every: (milliseconds, tick) => {
      const timer = setInterval(tick, milliseconds);
      return () => clearInterval(timer);
    },
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the environment names a terminal that shows only ASCII: TERM=dumb or none, or a locale without UTF-8. */
export function isAsciiOnly(env: Environment): boolean {
  if (env["TERM"] === "dumb") return true;
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find((value) => value !== undefined && value !== "");
  return locale !== undefined && !/utf-?8/i.test(locale);
}

/** Returns what kind of file standard input is. */
export function inputKind(): InputKind {
  if (isatty(0)) return "terminal";
  try {
    const found = fstatSync(0);
    if (found.isFIFO() || found.isSocket()) return "open";
    return found.isFile() ? "file" : "none";
  } catch {
    return "none"; // closed
  }
}

/** Reads standard input to its end; null when nothing came, not even its end, within `firstByteMs`. */
export function readInput(firstByteMs: number): Promise<Uint8Array | null> {
  const { stdin } = process;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      stdin.destroy();
      resolve(null);
    }, firstByteMs);
    stdin.on("data", (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
    });
    stdin.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    stdin.on("end", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
  });
}
