// Text that comes in pieces, as lines of a terminal: some do not change any more, the others still do. Here for text that is no
// Markdown. Pure: text in, lines out.
import { forTerminal, type SafeText } from "../../core/safe-text.ts";
import type { Paint } from "../frame/style.ts";
import { wrapSpans } from "./spans.ts";

/** What a piece came to. */
export interface StreamedLines {
  /** Lines that do not change any more. */
  readonly settled: readonly SafeText[];
  /** Lines that may, in the place of those before. */
  readonly live: readonly SafeText[];
}

/** A text while it comes. */
export interface LineStream {
  /** Takes a piece; half a character at its end is the caller's to keep. */
  feed(text: string): StreamedLines;
  /** Ends the text: what was live is settled. The next piece begins another one. */
  end(): readonly SafeText[];
}

/** Makes a piece safe, with line feeds and blanks only between its words. */
export function tidyPiece(text: string): SafeText {
  return forTerminal(text.replaceAll("\r\n", "\n").replaceAll("\t", "    "));
}

/** Streams text as it is, wrapped; `width` is asked at each piece, for the terminal may have another one by then. */
export function createPlainStream(width: () => number, paint: Paint): LineStream {
  let pending = "";
  const wrapped = (text: string): readonly SafeText[] => wrapSpans([{ text: forTerminal(text), paint }], width());
  const rest = (): readonly SafeText[] => (pending === "" ? [] : wrapped(pending));
  return {
    feed(text) {
      pending += tidyPiece(text);
      const end = pending.lastIndexOf("\n");
      const settled = end < 0 ? [] : wrapped(pending.slice(0, end));
      pending = pending.slice(end + 1);
      return { settled, live: rest() };
    },
    end() {
      const settled = rest();
      pending = "";
      return settled;
    },
  };
}
