// Streamed Markdown as lines of a terminal: most are settled, the last ones still change.
import { stripVTControlCharacters } from "node:util";
import { lexer, type Token } from "marked";
import { appendAll } from "../../core/lists.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Screen } from "../frame/screen.ts";
import { displayWidth, onlyColors, type Paint } from "../frame/terminal.ts";
import {
  codeLabel,
  type MarkdownRendering,
  renderBlock,
  renderBlocks,
  renderCodeLine,
  wrapSpans,
} from "./markdown-blocks.ts";

// Streamed plain text as lines of a terminal: settled lines do not change any more, live ones do. Pure: text in, lines out.

interface StreamedLines {
  /** Lines that do not change any more. */
  readonly settled: readonly SafeText[];
  /** Lines that may still change; they replace the previous live ones. */
  readonly live: readonly SafeText[];
}

export interface LineStream {
  /** Takes a piece; the caller keeps back half a character at its end. */
  feed(text: string): StreamedLines;
  /** Ends the text and settles its live lines. The next piece begins a new text. */
  end(): readonly SafeText[];
}

/** Makes a piece safe, with line feeds and blanks only between its words. */
export function tidyPiece(text: string): SafeText {
  return forTerminal(text.replaceAll("\r\n", "\n").replaceAll("\t", "    "));
}

/** Streams text as it is, wrapped; `width` is called for each piece, as the terminal may be resized. */
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

// Streamed Markdown: finished blocks are settled, the last one is live and rendered again as it grows. Pure: text in, lines out.

/** Longest live block, characters; a longer one is settled as it comes. */
const LONGEST_LIVE = 16_384;
/** Blocks up to so many characters are parsed again with each piece, longer ones after growing by a share. */
const SHORT = 1024;
const GROWTH = 1 / 32;

/** Creates a stream; `rendering` is called for each piece, as the terminal may be resized. */
export function createMarkdownStream(rendering: () => MarkdownRendering): LineStream {
  return new BlockStream(rendering);
}

class BlockStream implements LineStream {
  readonly #rendering: () => MarkdownRendering;
  /** Text that is not settled yet. */
  #pending = "";
  #isFirst = true;
  /** The open code block; null = none. */
  #fence: RegExp | null = null;
  #live: readonly SafeText[] = [];
  /** Characters of `#pending` that `#live` shows. */
  #shown = 0;

  constructor(rendering: () => MarkdownRendering) {
    this.#rendering = rendering;
  }

  feed(text: string): StreamedLines {
    const piece = tidyPiece(text);
    this.#pending += piece;
    const { length } = this.#pending;
    // A line of code is never parsed again.
    const isLine = this.#fence !== null && piece.includes("\n");
    if (length >= SHORT && length - this.#shown < GROWTH * length && !isLine) return { settled: [], live: this.#live };
    const settled = this.#pending.includes("\n", this.#shown) || length > LONGEST_LIVE ? this.#settle() : [];
    this.#live = this.#renderRest();
    this.#shown = this.#pending.length;
    return { settled, live: this.#live };
  }

  end(): readonly SafeText[] {
    const settled = this.#settle();
    const isClosed = this.#fence?.test(this.#pending) === true;
    const rest = isClosed ? [] : this.#renderRest();
    this.#pending = "";
    this.#isFirst = true;
    this.#fence = null;
    this.#live = [];
    this.#shown = 0;
    return [...settled, ...rest];
  }

  #settle(): readonly SafeText[] {
    const lines: SafeText[] = [];
    for (let before = -1; before !== this.#pending.length; ) {
      before = this.#pending.length;
      appendAll(lines, this.#fence === null ? this.#settleBlocks() : this.#settleCode(this.#fence));
    }
    return lines;
  }

  /** Settles finished blocks: those followed by others. */
  #settleBlocks(): readonly SafeText[] {
    const isLong = this.#pending.length > LONGEST_LIVE;
    const whole = isLong ? this.#pending : this.#pending.slice(0, this.#pending.lastIndexOf("\n") + 1);
    const tokens = lexer(whole);
    const last = tokens.findLastIndex(({ type }) => type !== "space");
    const open = fenceOf(tokens[last]);
    const over = isLong && open === null ? tokens : tokens.slice(0, Math.max(0, last));
    const lines = over
      .filter(({ type }) => type !== "space")
      .flatMap((token) => this.#apart(renderBlock(token, this.#rendering())));
    const settled = over.reduce((length, { raw }) => length + raw.length, 0);
    if (open === null) {
      this.#pending = this.#pending.slice(settled);
      return lines;
    }
    this.#fence = open.closing;
    this.#pending = this.#pending.slice(settled + open.length);
    return [...lines, ...this.#apart(codeLabel(open.language, this.#rendering()))];
  }

  /** Settles code line by line. */
  #settleCode(closing: RegExp): readonly SafeText[] {
    const lines: SafeText[] = [];
    for (let end = this.#pending.indexOf("\n"); end >= 0; end = this.#pending.indexOf("\n")) {
      const line = forTerminal(this.#pending.slice(0, end));
      this.#pending = this.#pending.slice(end + 1);
      if (closing.test(line)) {
        this.#fence = null;
        break;
      }
      appendAll(lines, renderCodeLine(line, this.#rendering()));
    }
    return lines;
  }

  #renderRest(): readonly SafeText[] {
    if (this.#fence === null) {
      const lines = renderBlocks(lexer(this.#pending), this.#rendering());
      return this.#isFirst || lines.length === 0 ? lines : ["", ...lines];
    }
    // It may become the fence that ends the code.
    return /^ {0,3}[`~]*$/.test(this.#pending) ? [] : renderCodeLine(forTerminal(this.#pending), this.#rendering());
  }

  /** Adds an empty line before a block, unless it is the first. */
  #apart(lines: readonly SafeText[]): readonly SafeText[] {
    const apart = this.#isFirst ? lines : (["", ...lines] as const);
    this.#isFirst = false;
    return apart;
  }
}

interface OpenFence {
  readonly language: string;
  readonly closing: RegExp;
  /** Characters of its first line. */
  readonly length: number;
}

/** A code block that was opened and not closed yet. */
function fenceOf(token: Token | undefined): OpenFence | null {
  const opening = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/.exec(token?.raw ?? "");
  if (token?.type !== "code" || opening === null) return null;
  const [line, mark = "", language = ""] = opening;
  const closing = new RegExp(`^ {0,3}${mark.charAt(0)}{${mark.length},} *$`);
  return { language: language.trim(), closing, length: line.length };
}

// Live lines at the end of a terminal's output: redrawn until they are settled. If they are taller than the screen, only the last
// rows are shown until they are settled.

interface LiveLines {
  /** Writes settled lines, and new live ones below them, in place of the old live ones. */
  show(settled: readonly SafeText[], live: readonly SafeText[]): void;
}

export function createLiveLines(screen: Screen): LiveLines {
  /** The live lines on the screen; the cursor is at the end of the last. */
  let drawn: readonly SafeText[] = [];
  return {
    show(settled, live) {
      const shown = live.slice(-Math.max(1, screen.rows() - 1));
      const lines = [...settled, ...shown];
      const same = sameStart(drawn, lines);
      const [old, next] = [drawn.slice(same), lines.slice(same)];
      const isOver = shown.length === 0 && lines.length > 0;
      drawn = shown;
      if (old.length === 1 && next[0]?.startsWith(old[0] ?? "") === true)
        screen.write(safe`${onlyColors(joinLines(next).slice(old[0]?.length))}${isOver ? "\n" : ""}`);
      else {
        if (old.length > 0) screen.draw(erasing(old, screen.columns()));
        screen.write(safe`${joinLines(next)}${isOver ? "\n" : ""}`);
      }
    },
  };
}

/** Counts the leading lines that need no redrawing; the cursor, in the last drawn line, must not be above them. */
function sameStart(drawn: readonly SafeText[], lines: readonly SafeText[]): number {
  const most = Math.min(drawn.length, lines.length) - 1;
  let same = 0;
  while (same < most && drawn[same] === lines[same]) same++;
  return same;
}

/**
 * Erases the last lines, which may take more rows on a terminal that became narrower. Row by row, because tmux keeps in its
 * history what is erased from the top of the screen to its end.
 */
function erasing(lines: readonly SafeText[], columns: number): string {
  const rows = lines.reduce((sum, line) => {
    const width = displayWidth(stripVTControlCharacters(line));
    return sum + 1 + Math.floor(Math.max(0, width - 1) / Math.max(1, columns));
  }, 0);
  return `${"\u001b[2K\u001b[A".repeat(rows - 1)}\r\u001b[2K`;
}
