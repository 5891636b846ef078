// Ranges of turns as tests write them.
import type { CutRange } from "../../src/core/conversation/event.ts";

/** Reads `0..12` and `3:EVENT..12:EVENT`. */
export function parseTurnRange(text: string): CutRange {
  const [, from, fromEvent, to, toEvent] = /^(\d+)(?::(\S+?))?\.\.(\d+)(?::(\S+))?$/.exec(text)!;
  return {
    from: Number(from),
    ...(fromEvent === undefined ? {} : { fromEvent }),
    to: Number(to),
    ...(toEvent === undefined ? {} : { toEvent }),
  };
}
