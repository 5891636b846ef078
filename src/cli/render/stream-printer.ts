// Prints an answer while it streams: each piece at once and safe for a terminal, reasoning faint, calls on lines of their own.
import type { QueryObserver } from "../../app/talk/query.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { fitWidth } from "../frame/display-width.ts";
import { type Paint, type Style, unpainted } from "../frame/style.ts";
import { createWholeCharacters } from "../frame/whole-characters.ts";

export interface StreamPrinter {
  /** Prints a piece of the answer. */
  delta(kind: "message" | "reasoning", text: string): void;
  /** Prints a whole line; what streams meanwhile goes on below it. `text` is safe for a terminal. */
  line(text: SafeText): void;
  /** Ends the line that was begun, if one was. */
  end(): void;
}

/** A printer that also says what is waited for. */
export interface AnswerPrinter extends StreamPrinter {
  /** From now on this is waited for, e.g. `running gauge`; null = for nothing that is worth a word. */
  waitFor(what: string | null): void;
  /** The same for what mostly is over at once: a terminal that is no screen is not told. */
  mayWaitFor(what: string): void;
  /** Ends the line that was begun, for somebody else writes below it; the sign of life comes back by itself. */
  pause(): void;
  /** Ends it, and its sign of life. */
  close(): void;
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
    put(forTerminal(characters.end()), unpainted);
    if (!atLineStart) put(safe`\n`, unpainted);
    kind = null;
  };
  return {
    delta(next, text) {
      if (kind !== null && kind !== next) end();
      kind = next;
      put(forTerminal(characters.take(text)), next === "reasoning" ? style.faint : unpainted);
    },
    line(text) {
      end();
      put(safe`${text}\n`, unpainted);
    },
    end,
  };
}

/** The part of a query's observer that says what is waited for. */
export function observeWaiting(
  printer: AnswerPrinter,
  style: Style,
): Required<Pick<QueryObserver, "asked" | "retrying" | "compacting">> {
  return {
    asked: (model) => printer.waitFor(`waiting for ${model}`),
    compacting: () => printer.mayWaitFor("compacting, if it is time"),
    retrying(model, { error, waitMs }) {
      const seconds = Math.ceil(waitMs / 1000);
      printer.line(style.faint(safe`${forTerminalLine(error.message)}; asking again in ${seconds} s`));
      printer.waitFor(`waiting for ${model}`);
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
