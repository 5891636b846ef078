// Markdown that comes in pieces: blocks that are over are settled, the last one is live and rendered anew as it grows. Pure: text
// in, lines out.
import { lexer, type Token } from "marked";
import { appendAll } from "../../core/lists.ts";
import { forTerminal, type SafeText } from "../../core/safe-text.ts";
import type { MarkdownRendering } from "./inline-spans.ts";
import { type LineStream, type StreamedLines, tidyPiece } from "./line-stream.ts";
import { codeLabel, renderBlock, renderBlocks, renderCodeLine } from "./render-blocks.ts";

/** Longest block that is kept live, characters; of a longer one what came is settled. */
const LONGEST_LIVE = 16_384;
/** Blocks up to so many characters are read anew with each piece, longer ones when they have grown by a share. */
const SHORT = 1024;
const GROWTH = 1 / 32;

/** Creates a stream; `rendering` is asked at each piece, for the terminal may have another width by then. */
export function createMarkdownStream(rendering: () => MarkdownRendering): LineStream {
  return new BlockStream(rendering);
}

class BlockStream implements LineStream {
  readonly #rendering: () => MarkdownRendering;
  /** Text of which nothing is settled. */
  #pending = "";
  #isFirst = true;
  /** What closes the code that is open; null = none is. */
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
    // A line of code is never read again.
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

  /** Settles the blocks of whole lines that others follow. */
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

  /** Code is settled line by line. */
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
    // It may be the end of the code.
    return /^ {0,3}[`~]*$/.test(this.#pending) ? [] : renderCodeLine(forTerminal(this.#pending), this.#rendering());
  }

  /** With an empty line before it, unless it is the first block. */
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

/** Code whose first line is there. */
function fenceOf(token: Token | undefined): OpenFence | null {
  const opening = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/.exec(token?.raw ?? "");
  if (token?.type !== "code" || opening === null) return null;
  const [line, mark = "", language = ""] = opening;
  const closing = new RegExp(`^ {0,3}${mark.charAt(0)}{${mark.length},} *$`);
  return { language: language.trim(), closing, length: line.length };
}
