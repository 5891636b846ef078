// What each key makes of the line: pure, (state, key) → state. Keys that the line alone cannot answer come back as an effect:
// the text is sent, completed, opened in an editor.
import { LINE_FEED } from "./cells.ts";
import { findIn, goDown, goUp, showFound } from "./edit-history.ts";
import {
  type EditState,
  type HistorySearch,
  insertCells,
  insertPaste,
  insertTyped,
  lineEnd,
  lineStart,
  withCells,
  wordEnd,
  wordStart,
} from "./edit-state.ts";
import type { Key, KeyName } from "./key.ts";

/** What a key asks of whoever reads the line. */
export type EditEffect = "submit" | "interrupt" | "leave" | "complete" | "external" | "clear" | "escape";

/** The line after a key. */
export interface Pressed {
  readonly state: EditState;
  readonly effect?: EditEffect;
}

/** Presses a key. `history` = earlier texts, newest first. */
export function pressKey(state: EditState, key: Key, history: readonly string[] = []): Pressed {
  if (state.search !== null) return pressInSearch(state, state.search, { key, history });
  if (key.kind === "named") return KEYS[key.name](state, history);
  return { state: key.kind === "paste" ? insertPaste(state, key.text) : insertTyped(state, key.text) };
}

type Press = (state: EditState, history: readonly string[]) => Pressed;

const moved =
  (to: (state: EditState) => number): Press =>
  (state) => ({ state: { ...state, cursor: Math.max(0, Math.min(state.cells.length, to(state))) } });

/** Deletes between the cursor and another place; `kept` can be had again. */
const deleted =
  (to: (state: EditState) => number, kept: boolean): Press =>
  (state) => {
    const { cells, cursor } = state;
    const other = Math.max(0, Math.min(cells.length, to(state)));
    const [from, end] = other < cursor ? [other, cursor] : [cursor, other];
    const killed = kept && end > from ? cells.slice(from, end) : state.killed;
    return { state: { ...state, cells: [...cells.slice(0, from), ...cells.slice(end)], cursor: from, killed } };
  };

const asks =
  (effect: EditEffect): Press =>
  (state) => ({ state, effect });

const previous = ({ cursor }: EditState): number => cursor - 1;
const next = ({ cursor }: EditState): number => cursor + 1;

const KEYS: Readonly<Record<KeyName, Press>> = {
  enter: pressEnter,
  newline: (state) => ({ state: insertCells(state, [LINE_FEED]) }),
  escape: asks("escape"),
  interrupt: asks("interrupt"),
  "end-of-input": (state, history) =>
    state.cells.length === 0 ? { state, effect: "leave" } : KEYS.delete(state, history),
  left: moved(previous),
  right: moved(next),
  up: (state, history) => ({ state: goUp(state, history) }),
  down: (state, history) => ({ state: goDown(state, history) }),
  home: moved(lineStart),
  end: moved(lineEnd),
  "word-left": moved(wordStart),
  "word-right": moved(wordEnd),
  backspace: deleted(previous, false),
  delete: deleted(next, false),
  "delete-word-left": deleted(wordStart, true),
  "delete-word-right": deleted(wordEnd, true),
  "delete-to-start": deleted(lineStart, true),
  "delete-to-end": deleted(lineEnd, true),
  yank: (state) => ({ state: insertCells(state, state.killed) }),
  tab: asks("complete"),
  search: (state) => ({ state: { ...state, search: { query: "", at: null, before: state.cells } } }),
  external: asks("external"),
  clear: asks("clear"),
  ignored: (state) => ({ state }),
};

/** A text that ends in a backslash goes on in the next line; two stand for themselves, and so does a pasted one. */
function pressEnter(state: EditState): Pressed {
  const { cells } = state;
  const others = cells.findLastIndex(({ text, isPasted }) => text !== "\\" || isPasted === true);
  if ((cells.length - 1 - others) % 2 === 0) return { state, effect: "submit" };
  return { state: withCells(state, [...cells.slice(0, -1), LINE_FEED]) };
}

interface SearchPress {
  readonly key: Key;
  readonly history: readonly string[];
}

/** Letters narrow the search, Ctrl-R looks further back, Enter sends what was found; other keys go on editing it. */
function pressInSearch(state: EditState, search: HistorySearch, { key, history }: SearchPress): Pressed {
  const { query, at, before } = search;
  const look = (text: string, from: number): Pressed => ({
    state: showFound(state, { query: text, at: findIn(history, text, from), before }, history),
  });
  if (key.kind !== "named") return look(query + key.text.replaceAll("\n", " "), at ?? 0);
  switch (key.name) {
    case "search": {
      const older = findIn(history, query, at === null ? 0 : at + 1);
      return older === null ? { state } : look(query, older);
    }
    case "backspace":
      return look([...query].slice(0, -1).join(""), 0);
    case "interrupt":
    case "external":
      return { state: { ...withCells(state, before), search: null } };
    case "escape":
    case "tab":
      return { state: { ...state, search: null } };
    default:
      return pressKey({ ...state, search: null }, key, history);
  }
}
