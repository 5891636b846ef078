// An answer on a screen while it streams: Markdown rendered as it comes, reasoning faint, calls on lines of their own, and a sign
// of life while nothing comes: what is waited for, and how long already.
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { fitWidth } from "../frame/display-width.ts";
import type { Screen } from "../frame/screen.ts";
import { onlyColors, type Style, unpainted } from "../frame/style.ts";
import { createWholeCharacters } from "../frame/whole-characters.ts";
import { createPlainStream, type LineStream } from "../markdown/line-stream.ts";
import { createLiveLines } from "../markdown/live-lines.ts";
import { createMarkdownStream } from "../markdown/markdown-stream.ts";
import { type AnswerPrinter, createStreamPrinter } from "./stream-printer.ts";

/** What it prints with. */
export interface AnswerLook {
  readonly style: Style;
  /** Without characters beyond ASCII of jpg's own. */
  readonly ascii: boolean;
  /** Answers are read as Markdown. */
  readonly markdown: boolean;
}

/** Time between two drawings of the sign of life, milliseconds. */
const TICK_MS = 250;
/** Ticks without a word after which the sign stands below a text that has begun. */
const SILENT = 4;

/** Creates a printer; `plain` = the terminal is no screen. */
export function createAnswerPrinter(screen: Screen & { readonly plain: boolean }, look: AnswerLook): AnswerPrinter {
  return screen.plain ? plainPrinter(screen.write, look.style) : new LivePrinter(screen, look);
}

/** Text is printed as it comes, and what is waited for once. */
function plainPrinter(write: (text: SafeText) => void, style: Style): AnswerPrinter {
  const printer = createStreamPrinter(write, style);
  return {
    ...printer,
    waitFor: (what) => (what === null ? undefined : printer.line(style.faint(safe`... ${forTerminalLine(what)}`))),
    mayWaitFor: () => undefined,
    pause: printer.end,
    close: printer.end,
  };
}

type TextKind = "message" | "reasoning";

class LivePrinter implements AnswerPrinter {
  readonly #screen: Screen;
  readonly #look: AnswerLook;
  readonly #lines: ReturnType<typeof createLiveLines>;
  readonly #characters = createWholeCharacters();
  readonly #stopTicking: () => void;
  /** The text that streams. */
  #text: { readonly kind: TextKind; readonly stream: LineStream } | null = null;
  #live: readonly SafeText[] = [];
  #waiting: { readonly what: string; readonly since: number } | null = null;
  #ticks = 0;
  #lastDelta = 0;

  constructor(screen: Screen, look: AnswerLook) {
    this.#screen = screen;
    this.#look = look;
    this.#lines = createLiveLines(screen);
    this.#stopTicking = screen.every(TICK_MS, () => this.#tick());
  }

  readonly delta = (kind: TextKind, text: string): void => {
    const before = this.#text?.kind === kind ? [] : this.#endText();
    this.#text ??= { kind, stream: this.#streamOf(kind) };
    const { settled, live } = this.#text.stream.feed(this.#characters.take(text));
    this.#live = live;
    this.#lastDelta = this.#ticks;
    this.#show([...before, ...settled]);
  };

  readonly line = (text: SafeText): void => {
    this.#show([...this.#endText(), ...text.split("\n").map(onlyColors)]);
  };

  readonly waitFor = (what: string | null): void => {
    this.#waiting = what === null ? null : { what, since: this.#ticks };
    this.#show([]);
  };

  readonly mayWaitFor = (what: string): void => this.waitFor(what);

  readonly pause = (): void => {
    this.#lines.show(this.#endText(), []);
  };

  readonly end = (): void => {
    this.#waiting = null;
    this.pause();
  };

  readonly close = (): void => {
    this.end();
    this.#stopTicking();
  };

  #streamOf(kind: TextKind): LineStream {
    const { style, ascii, markdown } = this.#look;
    if (kind === "message" && markdown) return createMarkdownStream(() => ({ style, ascii, width: this.#width() }));
    return createPlainStream(() => this.#width(), kind === "reasoning" ? style.faint : unpainted);
  }

  /** The last column stays free: terminals do not agree on where the cursor is after it. */
  #width(): number {
    return Math.max(2, this.#screen.columns() - 1);
  }

  #endText(): readonly SafeText[] {
    if (this.#text === null) return [];
    const { stream } = this.#text;
    const { settled } = stream.feed(this.#characters.end());
    const rest = stream.end();
    this.#text = null;
    this.#live = [];
    return [...settled, ...rest];
  }

  #tick(): void {
    this.#ticks++;
    if (this.#waiting !== null) this.#show([]);
  }

  #show(settled: readonly SafeText[]): void {
    this.#lines.show(settled, [...this.#live, ...this.#sign()]);
  }

  /** Stands where text is to come, and below one that has stopped coming. */
  #sign(): readonly SafeText[] {
    const isComing = this.#text !== null && this.#ticks - this.#lastDelta < SILENT;
    if (this.#waiting === null || isComing) return [];
    const { what, since } = this.#waiting;
    const ticks = this.#ticks - since;
    // What is there at once needs no sign.
    if (ticks === 0) return [];
    const seconds = Math.floor((ticks * TICK_MS) / 1000);
    const frames = this.#look.ascii ? ASCII_FRAMES : FRAMES;
    const text = `${frames[ticks % frames.length]} ${forTerminalLine(what)}${seconds > 0 ? ` (${seconds}s)` : ""}`;
    return [this.#look.style.faint(fitWidth(forTerminal(text), this.#width()))];
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
const ASCII_FRAMES = ["|", "/", "-", "\\"];
