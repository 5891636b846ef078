// A line that moves: what is being done now, written over itself on the last line of a terminal. It is drawn now and then only,
// never wider than the terminal is by then, and is gone before anything else is written.

import { forTerminalLine, type SafeText } from "../../core/safe-text.ts";
import { fitWidth } from "./display-width.ts";
import type { Style } from "./style.ts";

/** Between two drawings, milliseconds. */
const PAUSE_MS = 100;
const ERASE = "\r\u001b[K";

/** A terminal that a line moves on. */
export interface MovingLinePlace {
  /** Now. */
  readonly columns: () => number;
  readonly style: Pick<Style, "faint">;
  /** Writes what steers the terminal, too. */
  readonly write: (sequences: string) => void;
}

/** The line; nothing stands there at first. */
export interface MovingLine {
  /** Shows a text, anybody's, in place of the one before; only the newest is drawn where many come at once. */
  show(text: string): void;
  /** Takes the line away. */
  erase(): void;
}

/** Makes the moving line of a terminal. */
export function createMovingLine({ columns, style, write }: MovingLinePlace): MovingLine {
  let pause: ReturnType<typeof setTimeout> | null = null;
  let waiting: string | null = null;
  let isShown = false;
  const draw = (text: string): void => {
    // The last column stays free: many terminals begin a new line there.
    const fitted: SafeText = fitWidth(forTerminalLine(text), Math.max(1, columns() - 1));
    write(`${ERASE}${style.faint(fitted)}`);
    waiting = null;
    isShown = true;
    pause = setTimeout(() => {
      pause = null;
      if (waiting !== null) draw(waiting);
    }, PAUSE_MS);
    pause.unref();
  };
  return {
    show: (text) => {
      if (pause === null) draw(text);
      else waiting = text;
    },
    erase: () => {
      waiting = null;
      if (isShown) write(ERASE);
      isShown = false;
    },
  };
}
