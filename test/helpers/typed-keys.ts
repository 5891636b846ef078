// A line of input after some keys, without a terminal.
import { createEditState, type EditEffect, type EditState, pressKey } from "../../src/cli/chat/edit-line.ts";
import { readKey } from "../../src/cli/chat/keys.ts";

export interface TypedKeys {
  readonly state: EditState;
  /** What the keys asked for, in order. */
  readonly effects: readonly EditEffect[];
}

/** Types keys, as a terminal sends them, into a line. */
export function typeKeys(typed: string, history: readonly string[] = [], begin = createEditState()): TypedKeys {
  const effects: EditEffect[] = [];
  let state = begin;
  for (let rest = typed; rest !== ""; ) {
    const first = readKey(rest, true);
    if (first === null) break;
    rest = rest.slice(first.length);
    const pressed = pressKey(state, first.key, history);
    state = pressed.state;
    if (pressed.effect !== undefined) effects.push(pressed.effect);
  }
  return { state, effects };
}
