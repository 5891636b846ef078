// Asks the person at the terminal: prints the question on standard error and reads one line from standard input. Without a
// terminal it throws an error that names the option to give instead; nothing is ever decided silently.
import { createInterface } from "node:readline";
import type { AssumptionVoice } from "../../app/talk/chat-model.ts";
import { asSentence, type JpgError, userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { Output } from "./output.ts";

interface Choice<Value extends string> {
  /** The key to type, in upper or lower case, e.g. `y`; the full value is accepted too. */
  readonly key: string;
  readonly value: Value;
  /** Shown after the key, e.g. `Yes, compact now`. */
  readonly label: string;
}

export interface Question<Value extends string> {
  readonly text: string;
  /** In the order shown, never empty. */
  readonly choices: readonly Choice<Value>[];
  /** The answer to an empty line and to the end of input. */
  readonly otherwise: Value;
  /** How to answer without a terminal, a clause: `--yes`, or `mcp.servers.NAME.confirm = false`. */
  readonly instead: string;
}

export type AnswerSource = NodeJS.ReadableStream & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};

export interface AskOptions {
  readonly output: Pick<Output, "prompt" | "seen">;
  /** Default: standard input. */
  readonly input?: AnswerSource;
  /** Reads one line; null at the end of input. Default: from `input`. A front end with its own line editor passes it in. */
  readonly readLine?: (signal?: AbortSignal) => Promise<string | null>;
  /** Stops the waiting: the answer is then `otherwise`. */
  readonly signal?: AbortSignal;
}

/** Asks until one of the choices is given. Throws `needs_terminal` (exit 2) when standard input or error is no terminal. */
export async function ask<Value extends string>(question: Question<Value>, options: AskOptions): Promise<Value> {
  const { output, input = process.stdin, signal } = options;
  const readLine = options.readLine ?? ((end?: AbortSignal) => readTerminalLine(input, end));
  requireTerminal(question, options);
  output.prompt(safe`${forTerminal(question.text)} ${renderChoices(question)} `);
  for (;;) {
    const line = await readLine(signal);
    if (line === null) output.prompt(safe`\n`);
    if (line === null || line.trim() === "") return question.otherwise;
    const word = line.trim().toLowerCase();
    const found = question.choices.find(({ key, value }) => word === key.toLowerCase() || word === value.toLowerCase());
    if (found !== undefined) return found.value;
    output.prompt(safe`Please type ${forTerminal(question.choices.map(({ key }) => key).join(" or "))}: `);
  }
}

/** Asks for yes or no. Throws `needs_terminal`. */
export async function askYesNo(
  question: { readonly text: string; readonly otherwise: "yes" | "no"; readonly instead: string },
  options: AskOptions,
): Promise<boolean> {
  const choices = [
    { key: "y", value: "yes", label: "yes" },
    { key: "n", value: "no", label: "no" },
  ] as const;
  return (await ask({ ...question, choices }, options)) === "yes";
}

/** Throws `needs_terminal` without a terminal. Commands also call it before work that is useless without an answer. */
export function requireTerminal(
  question: Pick<Question<string>, "text" | "instead">,
  { output, input = process.stdin }: Pick<AskOptions, "output" | "input">,
): void {
  if (!isTerminal(input, output)) throw needsTerminal(question);
}

/** Whether a person can be asked: input and output are both a terminal. */
export function isTerminal(input: AnswerSource, output: Pick<Output, "seen">): boolean {
  return input.isTTY === true && output.seen;
}

/** Time in which what was typed before arrives, milliseconds. */
const DROP_MS = 50;

/** Drops what was typed before, while something long was printed: it is no answer to a question that comes now. */
export function dropTyped(input: AnswerSource): Promise<void> {
  return new Promise((resolve) => {
    const drop = (): void => undefined;
    // A line without its end arrives only so.
    input.setRawMode?.(true);
    input.on("data", drop);
    setTimeout(() => {
      input.off("data", drop);
      input.pause();
      input.setRawMode?.(false);
      resolve();
    }, DROP_MS);
  });
}

/** Reads one line of a stream; null at its end, and when the signal aborts. */
export function readTerminalLine(input: AnswerSource, signal?: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = createInterface({ input, terminal: false });
    const finish = (line: string | null): void => {
      signal?.removeEventListener("abort", stop);
      resolve(line);
      reader.close();
    };
    const stop = (): void => finish(null);
    reader.once("line", finish);
    reader.once("close", stop);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
  });
}

/** `[y/N]`, or `[Y] Yes, compact now  [N] Not now`; the default is in capitals. */
function renderChoices<Value extends string>({ choices, otherwise }: Question<Value>): SafeText {
  const isPlain = choices.every(({ value, label }) => value === label);
  const keyOf = ({ key, value }: Choice<Value>): string =>
    value === otherwise ? key.toUpperCase() : key.toLowerCase();
  if (isPlain) return forTerminal(`[${choices.map(keyOf).join("/")}]`);
  return forTerminal(choices.map((choice) => `[${keyOf(choice)}] ${choice.label}`).join("  "));
}

function needsTerminal({ text, instead }: Pick<Question<string>, "text" | "instead">): JpgError {
  return userError("needs_terminal", `jpg cannot ask without a terminal: ${asSentence(forTerminal(text))}`, {
    hints: [`Answer in advance: ${instead}.`, "Or run jpg in a terminal."],
  });
}

/** Creates the functions that report and confirm an assumed model at the terminal. */
export function createAssumptionVoice(output: Output, signal?: AbortSignal): AssumptionVoice {
  return {
    say: (text) => output.info(forTerminalLine(text)),
    allow: (question) => askYesNo({ ...question, otherwise: "no" }, { output, signal }),
  };
}
