// A streaming answer on a screen: Markdown rendered as it comes, reasoning faint, calls on lines of their own, and a spinner while
// nothing comes, with what jpg waits for and for how long.
import type { QueryObserver } from "../../app/talk/query.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo } from "../frame/ask.ts";
import type { Output } from "../frame/output.ts";
import type { Screen } from "../frame/screen.ts";
import { createCharacterJoiner, fitWidth, onlyColors, type Paint, type Style, unpainted } from "../frame/terminal.ts";
import { createLiveLines, createMarkdownStream, createPlainStream, type LineStream } from "./markdown.ts";

export interface AnswerLook {
  readonly style: Style;
  /** Draw with ASCII characters only. */
  readonly ascii: boolean;
  /** Render answers as Markdown. */
  readonly markdown: boolean;
}

/** Time between two frames of the spinner, milliseconds. */
const TICK_MS = 250;
/** Ticks without text after which the spinner appears below a begun text. */
const SILENT = 4;

/** Creates a printer; `plain` = the terminal cannot redraw. */
export function createAnswerPrinter(screen: Screen & { readonly plain: boolean }, look: AnswerLook): AnswerPrinter {
  return screen.plain ? plainPrinter(screen.write, look.style) : new LivePrinter(screen, look);
}

/** Prints text as it comes, and each wait once. */
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
  readonly #characters = createCharacterJoiner();
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

  /** The last column stays free: terminals disagree on where the cursor is after it. */
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

  /** Draws the spinner where text is expected, and below a text that has stopped. */
  #sign(): readonly SafeText[] {
    const isComing = this.#text !== null && this.#ticks - this.#lastDelta < SILENT;
    if (this.#waiting === null || isComing) return [];
    const { what, since } = this.#waiting;
    const ticks = this.#ticks - since;
    // No spinner for what is there at once.
    if (ticks === 0) return [];
    const seconds = Math.floor((ticks * TICK_MS) / 1000);
    const frames = this.#look.ascii ? ASCII_FRAMES : FRAMES;
    const text = `${frames[ticks % frames.length]} ${forTerminalLine(what)}${seconds > 0 ? ` (${seconds}s)` : ""}`;
    return [this.#look.style.faint(fitWidth(forTerminal(text), this.#width()))];
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
const ASCII_FRAMES = ["|", "/", "-", "\\"];

// Prints an answer while it streams: each piece at once and safe for a terminal, reasoning faint, calls on lines of their own.

export interface StreamPrinter {
  /** Prints a piece of the answer. */
  delta(kind: "message" | "reasoning", text: string): void;
  /** Prints a whole line; the streaming text continues below it. */
  line(text: SafeText): void;
  /** Ends an unfinished line. */
  end(): void;
}

/** A printer that also shows what jpg waits for. */
export interface AnswerPrinter extends StreamPrinter {
  /** Shows what jpg waits for, e.g. `running gauge`; null = nothing in particular. */
  waitFor(what: string | null): void;
  /** Like waitFor, for waits that are mostly short: a plain terminal does not print them. */
  mayWaitFor(what: string): void;
  /** Ends an unfinished line so that somebody else can write below it; the spinner comes back by itself. */
  pause(): void;
  /** Ends the printer and its spinner. */
  close(): void;
}

/** Creates a printer over a terminal. */
export function createStreamPrinter(write: (text: SafeText) => void, style: Style): StreamPrinter {
  let kind: "message" | "reasoning" | null = null;
  let atLineStart = true;
  const characters = createCharacterJoiner();
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

/** Creates the part of a query's observer that shows what jpg waits for. */
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

/** Renders the result of a call on one line. */
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

// Prints a turn of `jpg query`: the answer on standard output as it comes, everything else on standard error. On a screen the
// answer is rendered; elsewhere it is byte for byte what the model wrote.

export interface PrinterOptions {
  readonly output: Output;
  /** Print nothing: the caller prints one document at the end. */
  readonly json: boolean;
  /** Run tools without asking. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
  /** Prints the answer if standard output is a screen. */
  readonly screen: AnswerPrinter | null;
}

export interface QueryPrinter extends QueryObserver {
  /** Ends an unfinished line. */
  end(): void;
}

/** Creates the printer of one turn. */
export function createQueryPrinter({ output, json, yes, signal, screen }: PrinterOptions): QueryPrinter {
  const { errorStyle, verbose } = output;
  const answer =
    screen === null
      ? createTextWriter((text) => output.raw(text), output.width !== Number.POSITIVE_INFINITY)
      : screenWriter(screen, "message");
  const thought =
    screen === null || !output.seen
      ? createTextWriter((text) => output.prompt(errorStyle.faint(forTerminal(text))), true)
      : screenWriter(screen, "reasoning");
  const say = (line: SafeText): void => {
    answer.pause();
    thought.pause();
    screen?.pause();
    output.info(line);
  };
  return {
    ...(screen === null ? {} : observeWaiting(screen, errorStyle)),
    delta(kind, text) {
      if (kind === "message" && !json) {
        thought.pause();
        answer.write(text);
      } else if (kind === "reasoning" && verbose) {
        answer.pause();
        thought.write(text);
      }
    },
    toolCall: ({ name, arguments: args }) => {
      answer.part();
      say(renderCall(name, args, errorStyle));
      screen?.waitFor(`running ${name}`);
    },
    toolResult({ name, text, isError }) {
      say(renderResult(name, text, { isError, style: errorStyle }));
      screen?.waitFor(null);
    },
    notice: (text) => say(errorStyle.faint(forTerminal(text))),
    async confirm({ name, arguments: args, origin }) {
      if (yes) return true;
      answer.pause();
      screen?.end();
      const text = safe`Run ${forTerminalLine(name)} of ${forTerminalLine(origin)} with ${forTerminalLine(JSON.stringify(args))}?`;
      const instead = safe`--yes, or mcp.servers.${forTerminalLine(origin)}.confirm = false in your settings`;
      const allowed = await askYesNo({ text, otherwise: "no", instead }, { output, signal });
      if (allowed) screen?.waitFor(`running ${name}`);
      return allowed;
    },
    end() {
      answer.end();
      thought.end();
      screen?.close();
    },
  };
}

interface TextWriter {
  write(text: string): void;
  /** On a terminal, ends the line, because other lines follow. Elsewhere leaves the text untouched. */
  pause(): void;
  /** Begins another message. */
  part(): void;
  end(): void;
}

/** Writes to the printer, which itself separates kinds of text. */
function screenWriter(printer: AnswerPrinter, kind: "message" | "reasoning"): TextWriter {
  const nothing = (): void => undefined;
  return { write: (text) => printer.delta(kind, text), pause: nothing, part: nothing, end: printer.end };
}

function createTextWriter(put: (text: string) => void, isTerminal: boolean): TextWriter {
  let written = "";
  const characters = createCharacterJoiner();
  let isPart = false;
  const emit = (text: string): void => {
    if (text === "") return;
    put(isTerminal ? forTerminal(text) : text);
    written = text;
  };
  const endLine = (): void => {
    if (written !== "" && !written.endsWith("\n")) emit("\n");
  };
  return {
    write(text) {
      if (isPart && written !== "") emit(written.endsWith("\n") ? "\n" : "\n\n");
      isPart = false;
      emit(characters.take(text));
    },
    pause: () => (isTerminal ? endLine() : undefined),
    part() {
      isPart = true;
    },
    end() {
      emit(characters.end());
      endLine();
    },
  };
}
