// Shows a turn while it is talked: the answer on standard output as it comes, everything else on standard error. On a screen the
// answer is rendered; elsewhere it is what the model wrote, to the byte.
import type { QueryObserver } from "../../app/talk/query.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo } from "../frame/ask.ts";
import type { Output } from "../frame/output.ts";
import { createWholeCharacters } from "../frame/whole-characters.ts";
import { type AnswerPrinter, observeWaiting, renderCall, renderResult } from "./stream-printer.ts";

export interface PrinterOptions {
  readonly output: Output;
  /** The answer is printed at the end, in one document. */
  readonly json: boolean;
  /** Calls are made without asking. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
  /** Prints the answer where standard output is a screen. */
  readonly screen: AnswerPrinter | null;
}

export interface QueryPrinter extends QueryObserver {
  /** Ends the line that was begun. */
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
  /** On a terminal, where other lines are to be seen between: ends the line. Elsewhere the text goes on untouched. */
  pause(): void;
  /** What is written next is another message. */
  part(): void;
  end(): void;
}

/** The printer itself parts one kind of text from another. */
function screenWriter(printer: AnswerPrinter, kind: "message" | "reasoning"): TextWriter {
  const nothing = (): void => undefined;
  return { write: (text) => printer.delta(kind, text), pause: nothing, part: nothing, end: printer.end };
}

function createTextWriter(put: (text: string) => void, isTerminal: boolean): TextWriter {
  let written = "";
  const characters = createWholeCharacters();
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
