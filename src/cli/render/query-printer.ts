// Shows a turn while it is talked: the answer on standard output as it comes, everything else on standard error. On a terminal
// the text is made safe for it; elsewhere it is what the model wrote, to the byte.
import type { QueryObserver } from "../../app/query/query.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo } from "../frame/ask.ts";
import type { Output } from "../frame/output.ts";
import { createWholeCharacters } from "../frame/whole-characters.ts";
import { renderCall, renderResult } from "./stream-printer.ts";

export interface PrinterOptions {
  readonly output: Output;
  /** The answer is printed at the end, in one document. */
  readonly json: boolean;
  /** Calls are made without asking. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
}

export interface QueryPrinter extends QueryObserver {
  /** Ends the line that was begun. */
  end(): void;
}

/** Creates the printer of one turn. */
export function createQueryPrinter({ output, json, yes, signal }: PrinterOptions): QueryPrinter {
  const { errorStyle, verbose } = output;
  const answer = createTextWriter((text) => output.raw(text), output.width !== Number.POSITIVE_INFINITY);
  const thought = createTextWriter((text) => output.prompt(errorStyle.faint(forTerminal(text))), true);
  const say = (line: SafeText): void => {
    answer.pause();
    thought.pause();
    output.info(line);
  };
  return {
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
    },
    toolResult: ({ name, text, isError }) => say(renderResult(name, text, { isError, style: errorStyle })),
    notice: (text) => say(errorStyle.faint(forTerminal(text))),
    async confirm({ name, arguments: args, origin }) {
      if (yes) return true;
      answer.pause();
      const text = safe`Run ${forTerminalLine(name)} of ${forTerminalLine(origin)} with ${forTerminalLine(JSON.stringify(args))}?`;
      const instead = safe`--yes, or mcp.servers.${forTerminalLine(origin)}.confirm = false in your settings`;
      return askYesNo({ text, otherwise: "no", instead }, { output, signal });
    },
    end() {
      answer.end();
      thought.end();
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
