// The text in a line of input, as cells: what is deleted and stepped over as one. A typed character is one; a paste of several
// lines is one, which stands in the line as `[pasted #1: 12 lines]`.
import { forTerminal } from "../../core/safe-text.ts";

/** One cell. */
export interface LineCell {
  /** What is shown for it: safe for a terminal, one line; a line feed is a cell of its own. */
  readonly shown: string;
  /** What it is in the text that is sent; of a paste every @ has a backslash before it, so that it names no file. */
  readonly text: string;
  readonly isPasted?: true;
}

export const LINE_FEED: LineCell = { shown: "\n", text: "\n" };

/** Longest paste that is shown as it is, in characters. */
const SHOWN_WHOLE = 500;

let segmenter: Intl.Segmenter | null = null;

/** Cells of typed text, one a character as people see it. */
export function typedCells(text: string): readonly LineCell[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return [...segmenter.segment(text)].map(({ segment }) =>
    segment === "\n" ? LINE_FEED : { shown: segment === "\t" ? "  " : forTerminal(segment), text: segment },
  );
}

/** Cells of a paste; `number` is how it is called when it cannot stand in the line as it is. */
export function pastedCells(pasted: string, number: number): readonly LineCell[] {
  const typedForm = (text: string): string => text.replaceAll("@", "\\@");
  if (/^[^\p{Cc}]*$/u.test(pasted) && pasted.length <= SHOWN_WHOLE)
    return typedCells(pasted).map(({ shown, text }) => ({ shown, text: typedForm(text), isPasted: true }));
  const lines = pasted.split("\n").length;
  const shown = `[pasted #${number}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
  return [{ shown, text: typedForm(pasted), isPasted: true }];
}

/** The text of cells, as it is sent. */
export function textOfCells(cells: readonly LineCell[]): string {
  return cells.map(({ text }) => text).join("");
}

/** Whether a cell belongs to a word, for keys that go by words. */
export function isWordCell({ shown, isPasted }: LineCell): boolean {
  return (isPasted === true && shown.length > 1) || /[\p{L}\p{N}_]/u.test(shown);
}
