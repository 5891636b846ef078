// The screen of a terminal, as text that changes is drawn on it: where it is written, how large it is by now, and what ticks.
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import type { InputKind } from "../../app/conversation/runtime.ts";
import type { SafeText } from "../../core/safe-text.ts";
import type { Output } from "./output.ts";

/** A screen. */
export interface Screen {
  /** Writes text; of what steers the terminal only colours pass. */
  write(text: SafeText): void;
  /** Steers the terminal; never text of others. */
  draw(sequences: string): void;
  /** Now. */
  columns(): number;
  rows(): number;
  /** Calls back again and again, until it is called off. */
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

/** Whether a terminal shows ASCII only, as its environment says: no terminal worth the name, or a locale without UTF-8. */
export function isAsciiOnly(env: Environment): boolean {
  if (env["TERM"] === "dumb") return true;
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find((value) => value !== undefined && value !== "");
  return locale !== undefined && !/utf-?8/i.test(locale);
}

/** Tells what standard input is. */
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
