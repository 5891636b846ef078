// What was typed before, had again: line by line with the arrow keys, or searched with Ctrl-R. Pure.
import { plainForm } from "../../core/look/search-words.ts";
import { typedCells } from "./cells.ts";
import { type EditState, type HistorySearch, lineEnd, lineStart, withCells } from "./edit-state.ts";

/** The line above, at the same place; from the first one to what was typed earlier. */
export function goUp(state: EditState, history: readonly string[]): EditState {
  const start = lineStart(state);
  if (start === 0) return recall(state, history, (state.recalled?.at ?? -1) + 1);
  const column = state.cursor - start;
  const above = lineStart({ ...state, cursor: start - 1 });
  return { ...state, cursor: Math.min(above + column, start - 1) };
}

/** The line below; from the last one to what was typed later. */
export function goDown(state: EditState, history: readonly string[]): EditState {
  const end = lineEnd(state);
  if (end === state.cells.length)
    return state.recalled === null ? state : recall(state, history, state.recalled.at - 1);
  const column = state.cursor - lineStart(state);
  const below = lineEnd({ ...state, cursor: end + 1 });
  return { ...state, cursor: Math.min(end + 1 + column, below) };
}

function recall(state: EditState, history: readonly string[], at: number): EditState {
  const draft = state.recalled?.draft ?? state.cells;
  if (at < 0) return { ...withCells(state, draft), recalled: null };
  const text = history[at];
  return text === undefined ? state : { ...withCells(state, typedCells(text)), recalled: { at, draft } };
}

/** Shows what a search found, or what stood there before it. */
export function showFound(state: EditState, search: HistorySearch, history: readonly string[]): EditState {
  const found = search.at === null ? search.before : typedCells(history[search.at] ?? "");
  return { ...withCells(state, found), search };
}

/** Finds the newest text with a query, from a position of the history on; null when there is none. */
export function findIn(history: readonly string[], query: string, from: number): number | null {
  if (query === "") return null;
  const wanted = plainForm(query).toLowerCase();
  const at = history.findIndex((text, index) => index >= from && plainForm(text).toLowerCase().includes(wanted));
  return at < 0 ? null : at;
}
