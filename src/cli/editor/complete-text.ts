// Completion in a line of input: what stands before the cursor is replaced as far as the candidates agree. Pure.
import { typedCells } from "./cells.ts";
import { type EditState, insertTyped } from "./edit-state.ts";

/** What a text before the cursor may go on as: the candidates, and the end of the text that they replace. */
export type LineCompletion = readonly [candidates: readonly string[], replaced: string];

/** A line after a completion, and the candidates to choose among where there are several. */
export interface Completed {
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
