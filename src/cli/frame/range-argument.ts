// The arguments `[id] [turns]` of a command: a number and a range are always turns, never the beginning of an id.

import type { Runtime } from "../../app/conversation/runtime.ts";
import {
  type Calendar,
  isRange,
  isTurnsOrRange,
  parseRange,
  parseSince,
  type WrittenRange,
} from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import type { ArgumentSpec } from "./command.ts";

/** The two arguments as a command declares them; `what` happens to the turns. */
export function idAndTurns(what: string): readonly ArgumentSpec[] {
  return [
    { name: "[id]", description: "conversation; default @" },
    { name: "[turns]", description: `${what}: 3..7, ..7, 3.., 5 (that one), 5h..1h` },
  ];
}

interface IdAndTurns {
  readonly id: string | undefined;
  readonly turns: WrittenRange | undefined;
}

/** Reads `[id] [turns]`, where either may be left out. Throws `bad_bound`. */
export function readIdAndTurns(args: readonly string[], calendar: Calendar): IdAndTurns {
  const [first, second] = args;
  if (second !== undefined) return { id: first, turns: parseRange(second, calendar) };
  if (first !== undefined && isTurnsOrRange(first)) return { id: undefined, turns: parseRange(first, calendar) };
  return { id: first, turns: undefined };
}

/** Takes the first range, `A..B`, out of arguments that are something else. */
export function takeRange(
  args: readonly string[],
  calendar: Calendar,
): { readonly rest: readonly string[]; readonly turns: WrittenRange | undefined } {
  const at = args.findIndex(isRange);
  if (at < 0) return { rest: args, turns: undefined };
  return { rest: args.filter((_, index) => index !== at), turns: parseRange(args[at] ?? "", calendar) };
}

/** Refuses a range together with an option that says the same. Throws `contradictory_flags`. */
export function refuseBoth(turns: WrittenRange | undefined, given: Readonly<Record<string, unknown>>): void {
  if (turns === undefined) return;
  const other = Object.keys(given).find((option) => given[option] !== undefined);
  if (other === undefined) return;
  throw userError("contradictory_flags", `${turns.text} and ${other} contradict each other; use only one of them.`, {
    hints: ["A range A..B says both ends."],
  });
}

/** Reads the value of `--since`, milliseconds since 1970. Throws `bad_time`. */
export function readSince(since: string, runtime: Runtime): number {
  const sinceMs = parseSince(since, runtime, runtime.now().getTime());
  if (sinceMs !== null) return sinceMs;
  throw userError("bad_time", `"${since}" is not a time: expected how long ago, a day or a moment.`, {
    hints: ["--since 7d · --since 5h · --since yesterday · --since 2026-11-22"],
  });
}
