// Prints an answer while it streams: each piece at once and safe for a terminal, reasoning faint, calls on lines of their own.
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { fitWidth } from "../frame/display-width.ts";
import type { Paint, Style } from "../frame/style.ts";
import { createWholeCharacters } from "../frame/whole-characters.ts";

export interface StreamPrinter {
  /** Prints a piece of the answer. */
  delta(kind: "message" | "reasoning", text: string): void;
  /** Prints a whole line; what streams meanwhile goes on below it. `text` is safe for a terminal. */
  line(text: SafeText): void;
  /** Ends the line that was begun, if one was. */
  end(): void;
  /** Somebody else ended it. */
  lineEnded(): void;
}

/** Creates a printer over a terminal. */
export function createStreamPrinter(write: (text: SafeText) => void, style: Style): StreamPrinter {
  let kind: "message" | "reasoning" | null = null;
  let atLineStart = true;
  const characters = createWholeCharacters();
  const put = (text: SafeText, paint: Paint): void => {
    if (text === "") return;
    write(paint(text));
    atLineStart = text.endsWith("\n");
  };
  const end = (): void => {
    put(forTerminal(characters.end()), (text) => text);
    if (!atLineStart) put(safe`\n`, (text) => text);
    kind = null;
  };
  return {
    delta(next, text) {
      if (kind !== null && kind !== next) end();
      kind = next;
      put(forTerminal(characters.take(text)), next === "reasoning" ? style.faint : (piece) => piece);
    },
    line(text) {
      end();
      put(safe`${text}\n`, (line) => line);
    },
    end,
    lineEnded() {
      characters.end();
      kind = null;
      atLineStart = true;
    },
  };
}

/** Longest arguments or result shown of a call, in columns. */
const SHOWN = 120;

/** Renders a call on one line, e.g. `→ shell {"command":"ls"}`. */
export function renderCall(name: string, args: unknown, style: Style): SafeText {
  return safe`${style.id(safe`→ ${forTerminalLine(name)}`)} ${style.faint(shorten(JSON.stringify(args) ?? ""))}`;
}

/** Renders what a call gave on one line. */
export function renderResult(
  name: string,
  text: string,
  { isError, style }: { isError: boolean; style: Style },
): SafeText {
  const mark = isError ? style.bad(safe`✗ ${forTerminalLine(name)}`) : style.good(safe`✓ ${forTerminalLine(name)}`);
  return safe`${mark} ${style.faint(shorten(text))}`;
}

function shorten(text: string): SafeText {
  return fitWidth(forTerminalLine(text.slice(0, 4 * SHOWN)), SHOWN);
}
