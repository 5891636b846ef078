// A list on the terminal in which arrows choose a row and one key says what to do with it; `/` filters. @inquirer/core reads keys and
// draws; the terminal is left as it was, whatever ends the list.
import { createPrompt, isEnterKey, isTabKey, type KeypressEvent, useKeypress, useState } from "@inquirer/core";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Style } from "./terminal.ts";

/** What one key does with the chosen row. */
export interface RowKey<Action extends string> {
  /** A lower-case letter, or `tab`. */
  readonly key: string;
  readonly action: Action;
  /** Whether it needs a row. */
  readonly ofRow: boolean;
}

export interface RowList<Action extends string> {
  readonly heading: SafeText;
  /** One line each, no wider than the terminal less `MARK_WIDTH`. */
  readonly lines: readonly SafeText[];
  /** What the filter reads of each row, which may be more than its line has room for. */
  readonly texts: readonly string[];
  /** The first key is also that of Enter. */
  readonly keys: readonly RowKey<Action>[];
  readonly style: Style;
  /** Rows of the terminal. */
  readonly height: number;
  /** Said below the rows. */
  readonly notes: readonly SafeText[];
  /** What is chosen, and how the list is filtered, at first. */
  readonly start: { readonly row: number; readonly filter: string };
}

export interface PickedRow<Action extends string> {
  readonly action: Action;
  /** Position in `lines`, 0-based; null for a key that needs no row. */
  readonly row: number | null;
  /** The filter at that moment. */
  readonly filter: string;
}

/** Columns of the mark before each line. */
export const MARK_WIDTH = 2;
/** Lines that are not rows: heading, filter, two of keys, and room for the cursor. */
const OTHER_LINES = 6;

interface State {
  readonly at: number;
  readonly filter: string;
  readonly isFiltering: boolean;
}

const UNFILTERED: State = { at: 0, filter: "", isFiltering: false };

const prompt = createPrompt<PickedRow<string> | null, RowList<string>>((list, done) => {
  const [state, setState] = useState<State>(startOf(list));
  const shown = matching(list.texts, state.filter);
  const at = Math.max(0, Math.min(state.at, shown.length - 1));
  useKeypress((key, line) => {
    const next = stateAfter({ ...state, at }, key, { typed: line.line, count: shown.length });
    // What was typed is the filter; other keys leave nothing in the line.
    if (!(state.isFiltering && next?.isFiltering === true)) line.clearLine(0);
    if (next !== null) setState(next);
    else if (key.name === "escape" || key.name === "q") done(null);
    else choose(list, key, { row: shown[at] ?? null, filter: state.filter }, done);
  });
  return [draw(list, { shown, at, state }), drawKeys(list, state)];
});

function startOf({ texts, start: { row, filter } }: Pick<RowList<string>, "texts" | "start">): State {
  return { at: Math.max(0, matching(texts, filter).indexOf(row)), filter, isFiltering: false };
}

/** The state after a key that moves the choice or filters; null = the key does something else. `count`: rows that are shown. */
function stateAfter(
  state: State,
  key: KeypressEvent,
  { typed, count }: { readonly typed: string; readonly count: number },
): State | null {
  if (isArrow(key)) return { ...state, at: Math.max(0, Math.min(count - 1, state.at + (key.name === "up" ? -1 : 1))) };
  if (state.isFiltering) return whileFiltering(state, key, typed);
  if (typed === "/") return { ...state, isFiltering: true, filter: "" };
  return key.name === "escape" && state.filter !== "" ? UNFILTERED : null;
}

function whileFiltering(state: State, key: KeypressEvent, typed: string): State {
  if (isEnterKey(key)) return { ...state, isFiltering: false, at: 0 };
  if (key.name === "escape") return UNFILTERED;
  return { ...state, filter: typed, at: 0 };
}

/** Arrows move the choice; letters belong to the filter. */
function isArrow(key: KeypressEvent): boolean {
  return key.name === "up" || key.name === "down";
}

function choose(
  { keys }: RowList<string>,
  key: KeypressEvent,
  { row, filter }: Pick<PickedRow<string>, "row" | "filter">,
  done: (picked: PickedRow<string>) => void,
): void {
  const name = isTabKey(key) ? "tab" : key.name;
  const meant = isEnterKey(key) ? keys[0] : keys.find((one) => one.key === name);
  if (meant === undefined || (meant.ofRow && row === null)) return;
  done({ action: meant.action, row: meant.ofRow ? row : null, filter });
}

/** Positions of the texts that have all words, in any case. */
export function matching(texts: readonly string[], filter: string): readonly number[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return [...texts.keys()].filter((at) => words.every((word) => texts[at]?.toLowerCase().includes(word)));
}

interface Shown {
  readonly shown: readonly number[];
  readonly at: number;
  readonly state: State;
}

function draw({ heading, lines, style, height, notes }: RowList<string>, { shown, at, state }: Shown): string {
  const room = Math.max(3, height - OTHER_LINES - notes.length);
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), shown.length - room));
  const rows = shown.slice(from, from + room).map((position, index) => {
    const line = lines[position] ?? "";
    return from + index === at ? safe`${style.good(safe`>`)} ${style.heading(line)}` : safe`  ${line}`;
  });
  const none = shown.length === 0 ? [safe`  Nothing has ${forTerminalLine(state.filter)}.`] : [];
  const filter = state.isFiltering || state.filter !== "" ? safe`/${forTerminalLine(state.filter)}` : "";
  return joinLines([
    safe`  ${style.faint(heading)}`,
    ...rows,
    ...none,
    ...notes.map((note) => safe`  ${style.faint(note)}`),
    filter,
  ]);
}

/** What the keys do now: those of the chosen row, then the others. */
function drawKeys({ keys, style }: RowList<string>, { isFiltering }: State): string {
  const lines: readonly (readonly (readonly [string, string])[])[] = isFiltering
    ? [FILTER_KEYS]
    : [
        // Enter does what the first key does.
        keys.flatMap(({ key, action, ofRow }, at) => (ofRow ? [[at === 0 ? "enter" : key, action] as const] : [])),
        [
          ...keys.flatMap(({ key, action, ofRow }) => (ofRow ? [] : [[key, action] as const])),
          ["/", "filter"],
          ["q", "quit"],
        ],
      ];
  const partOf = ([key, action]: readonly [string, string]): SafeText =>
    safe`${style.id(forTerminalLine(key))} ${forTerminalLine(action)}`;
  return joinLines(lines.map((line) => joinSafe(line.map(partOf), "  ")));
}

/** While the filter is typed. */
const FILTER_KEYS = [
  ["type", "words of a row"],
  ["enter", "keep the filter"],
  ["esc", "all rows"],
] as const;

const keyPrompt = createPrompt<true, { readonly text: SafeText }>(({ text }, done) => {
  useKeypress(() => done(true));
  return text;
});

/** Waits for any key. False = Ctrl-C, or the signal. */
export async function waitForKey(text: SafeText, signal: AbortSignal): Promise<boolean> {
  return (await untilEnded(keyPrompt({ text }, { signal, clearPromptOnDone: true }))) ?? false;
}

/** Lets a person pick a row. Null = none was picked: Esc, q, Ctrl-C, or the signal. */
export async function pickRow<Action extends string>(
  list: RowList<Action>,
  signal: AbortSignal,
): Promise<PickedRow<Action> | null> {
  return (await untilEnded(prompt(list, { signal, clearPromptOnDone: true }))) as PickedRow<Action> | null;
}

async function untilEnded<Value>(answer: Promise<Value>): Promise<Value | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && ENDED.has(error.name)) return null;
    throw error;
  }
}

/** Names of the errors with which @inquirer/core ends a prompt: the signal, and Ctrl-C. */
const ENDED: ReadonlySet<string> = new Set(["AbortPromptError", "ExitPromptError"]);
