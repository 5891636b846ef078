// The screen of a terminal, as text that changes is drawn on it: where it is written, how large it is by now, and what ticks.
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
