// The input line as pure functions: its cells, the effect of each key, completion, history.
import { plainForm } from "../../core/look/search-words.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { Key, KeyName } from "./keys.ts";

// Completion: replaces the text before the cursor by the common beginning of all candidates. Pure.

/** Candidates for the text before the cursor, and the end of that text that they replace. */
export type LineCompletion = readonly [candidates: readonly string[], replaced: string];

/** The line after a completion, and the candidates if there are several. */
interface Completed {
  readonly state: EditState;
  readonly listed: readonly string[];
}

/** The text before the cursor, as typed; a paste is as long as its name. */
export function textBeforeCursor({ cells, cursor }: EditState): string {
  return cells
    .slice(0, cursor)
    .map(({ shown }) => shown)
    .join("");
}

/** Completes as far as all candidates agree. */
export function applyCompletion(state: EditState, [candidates, replaced]: LineCompletion): Completed {
  const [only, ...more] = candidates;
  if (only === undefined) return { state, listed: [] };
  const agreed = more.reduce(commonStart, only);
  if (agreed.length <= replaced.length && more.length > 0) return { state, listed: candidates };
  const cells = typedCells(replaced).length;
  const before = { ...state, cells: withoutCells(state, cells), cursor: state.cursor - cells };
  return { state: insertTyped(before, agreed), listed: [] };
}

function withoutCells({ cells, cursor }: EditState, count: number): EditState["cells"] {
  return [...cells.slice(0, cursor - count), ...cells.slice(cursor)];
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

// The text of a line as cells, which keys delete and skip as a whole. A typed character is a cell; so is a paste of several
// lines, shown as `[pasted #1: 12 lines]`.

export interface LineCell {
  /** Shown on the screen: safe for a terminal, one line; a line feed is a cell of its own. */
  readonly shown: string;
  /** The text to send; in a paste every @ gets a backslash, so that it names no file. */
  readonly text: string;
  readonly isPasted?: true;
}

export const LINE_FEED: LineCell = { shown: "\n", text: "\n" };

/** Longest paste that is shown as it is, in characters. */
const SHOWN_WHOLE = 500;

let segmenter: Intl.Segmenter | null = null;

/** Cells of typed text, one a character as people see it. */
function typedCells(text: string): readonly LineCell[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return [...segmenter.segment(text)].map(({ segment }) =>
    segment === "\n" ? LINE_FEED : { shown: segment === "\t" ? "  " : forTerminal(segment), text: segment },
  );
}

/** Cells of a paste; `number` names it if it is too long to be shown. */
function pastedCells(pasted: string, number: number): readonly LineCell[] {
  const typedForm = (text: string): string => text.replaceAll("@", "\\@");
  if (/^[^\p{Cc}]*$/u.test(pasted) && pasted.length <= SHOWN_WHOLE)
    return typedCells(pasted).map(({ shown, text }) => ({ shown, text: typedForm(text), isPasted: true }));
  const lines = pasted.split("\n").length;
  const shown = `[pasted #${number}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
  return [{ shown, text: typedForm(pasted), isPasted: true }];
}

/** The text of cells, as it is sent. */
function textOfCells(cells: readonly LineCell[]): string {
  return cells.map(({ text }) => text).join("");
}

/** Whether a cell belongs to a word, for keys that go by words. */
function isWordCell({ shown, isPasted }: LineCell): boolean {
  return (isPasted === true && shown.length > 1) || /[\p{L}\p{N}_]/u.test(shown);
}

// The state of the line: its text as cells, the cursor, the place in the history. Values only.

/** A line of input, of one or more lines of text. */
export interface EditState {
  readonly cells: readonly LineCell[];
  /** Cells before the cursor. */
  readonly cursor: number;
  /** The text deleted last; Ctrl-Y inserts it. */
  readonly killed: readonly LineCell[];
  /** Pastes that were given a number so far. */
  readonly pastes: number;
  /** Place in the history; null = the text is new. */
  readonly recalled: Recalled | null;
  /** The current search in the history. */
  readonly search: HistorySearch | null;
}

interface Recalled {
  /** Position in the history, 0 = newest. */
  readonly at: number;
  /** What was typed before. */
  readonly draft: readonly LineCell[];
}

/** A search with Ctrl-R. */
interface HistorySearch {
  readonly query: string;
  /** Position of the text found, 0 = newest; null = none. */
  readonly at: number | null;
  /** The text of the line before the search. */
  readonly before: readonly LineCell[];
}

/** A line that holds a text, the cursor at its end. */
export function createEditState(text = "", pastes = 0): EditState {
  const cells = typedCells(text);
  return { cells, cursor: cells.length, killed: [], pastes, recalled: null, search: null };
}

/** The line with another text, the cursor at its end. */
function withCells(state: EditState, cells: readonly LineCell[]): EditState {
  return { ...state, cells, cursor: cells.length };
}

/** Inserts text as if it were typed. */
export function insertTyped(state: EditState, text: string): EditState {
  const { cells, cursor } = state;
  const before = cells[cursor - 1];
  // A mark may belong to the character before it.
  const joins = before !== undefined && before.isPasted !== true && before !== LINE_FEED && /^\P{ASCII}/u.test(text);
  const from = joins ? cursor - 1 : cursor;
  const inserted = typedCells(joins ? before.text + text : text);
  return {
    ...state,
    cells: [...cells.slice(0, from), ...inserted, ...cells.slice(cursor)],
    cursor: from + inserted.length,
  };
}

/** Inserts a paste. */
function insertPaste(state: EditState, text: string): EditState {
  const inserted = pastedCells(text, state.pastes + 1);
  const [first] = inserted;
  const pastes =
    first !== undefined && first.text !== first.shown && first.shown.startsWith("[pasted #")
      ? state.pastes + 1
      : state.pastes;
  return { ...insertCells(state, inserted), pastes };
}

/** Inserts cells. */
function insertCells(state: EditState, inserted: readonly LineCell[]): EditState {
  const { cells, cursor } = state;
  return {
    ...state,
    cells: [...cells.slice(0, cursor), ...inserted, ...cells.slice(cursor)],
    cursor: cursor + inserted.length,
  };
}

/** Where the line of the cursor begins. */
function lineStart({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at > 0 && cells[at - 1] !== LINE_FEED) at--;
  return at;
}

/** Where the line of the cursor ends. */
function lineEnd({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at < cells.length && cells[at] !== LINE_FEED) at++;
  return at;
}

/** Where the word before the cursor begins. */
function wordStart({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at > 0 && !isWordCell(cells[at - 1] as LineCell)) at--;
  while (at > 0 && isWordCell(cells[at - 1] as LineCell)) at--;
  return at;
}

/** Where the word after the cursor ends. */
function wordEnd({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at < cells.length && !isWordCell(cells[at] as LineCell)) at++;
  while (at < cells.length && isWordCell(cells[at] as LineCell)) at++;
  return at;
}

/** The text of a line as it is sent. */
export function textOf({ cells }: EditState): string {
  return textOfCells(cells);
}

// The effect of each key: pure, (state, key) → state. What needs more than the line is returned as an effect: send the text,
// complete it, open it in an editor.

/** What a key asks the reader of the line to do. */
export type EditEffect = "submit" | "interrupt" | "leave" | "complete" | "external" | "clear" | "escape";

/** The line after a key. */
interface Pressed {
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

/** Deletes between the cursor and another place; if `kept`, Ctrl-Y can insert it again. */
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

/** A backslash at the end continues the text in the next line; two are literal, and so is a pasted one. */
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

/** Letters narrow the search, Ctrl-R searches further back, Enter sends the text found; other keys edit it. */
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

// The history: line by line with the arrow keys, or searched with Ctrl-R. Pure.

/** Moves to the line above; from the first one to an earlier text. */
function goUp(state: EditState, history: readonly string[]): EditState {
  const start = lineStart(state);
  if (start === 0) return recall(state, history, (state.recalled?.at ?? -1) + 1);
  const column = state.cursor - start;
  const above = lineStart({ ...state, cursor: start - 1 });
  return { ...state, cursor: Math.min(above + column, start - 1) };
}

/** Moves to the line below; from the last one to a later text. */
function goDown(state: EditState, history: readonly string[]): EditState {
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

/** Shows the text that a search found, or the text before the search. */
function showFound(state: EditState, search: HistorySearch, history: readonly string[]): EditState {
  const found = search.at === null ? search.before : typedCells(history[search.at] ?? "");
  return { ...withCells(state, found), search };
}

/** Finds the newest text with a query, from a position of the history on; null if there is none. */
function findIn(history: readonly string[], query: string, from: number): number | null {
  if (query === "") return null;
  const wanted = plainForm(query).toLowerCase();
  const at = history.findIndex((text, index) => index >= from && plainForm(text).toLowerCase().includes(wanted));
  return at < 0 ? null : at;
}
