// Asks the person at the terminal: the question on standard error, one line of answer from standard input. Where nobody
// can be asked it is an error that names what to say beforehand; nothing is ever decided in silence.
import { createInterface } from "node:readline";
import type { AssumptionVoice } from "../../app/talk/chat-model.ts";
import { asSentence, type JpgError, userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { Output } from "./output.ts";

/** One answer that can be given. */
interface Choice<Value extends string> {
  /** What is typed for it, upper and lower case alike, e.g. `y`; its value in full is taken too. */
  readonly key: string;
  readonly value: Value;
  /** Shown beside the key, e.g. `Yes, compact now`. */
  readonly label: string;
}

/** A question with its answers. */
export interface Question<Value extends string> {
  readonly text: string;
  /** In the order shown, never empty. */
  readonly choices: readonly Choice<Value>[];
  /** Taken for an empty line and at the end of input. */
  readonly otherwise: Value;
  /** What answers it without a terminal, a clause: `--yes`, or `mcp.servers.NAME.confirm = false`. */
  readonly instead: string;
}

/** What is needed of process.stdin. */
export type AnswerSource = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Where a question is asked. */
export interface AskOptions {
  readonly output: Pick<Output, "prompt" | "seen">;
  /** Default: standard input. */
  readonly input?: AnswerSource;
  /** Reads one line; null at the end of input. Default: from `input`. A front with a line editor of its own hands it in. */
  readonly readLine?: (signal?: AbortSignal) => Promise<string | null>;
  /** Ends the waiting: the question is then answered with `otherwise`. */
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

/** Throws `needs_terminal` where nobody can be asked: also before work that would be in vain without an answer. */
export function requireTerminal(
  question: Pick<Question<string>, "text" | "instead">,
  { output, input = process.stdin }: Pick<AskOptions, "output" | "input">,
): void {
  if (!isTerminal(input, output)) throw needsTerminal(question);
}

/** Whether a person can be asked: what is typed is read, and what is asked is seen. */
export function isTerminal(input: AnswerSource, output: Pick<Output, "seen">): boolean {
  return input.isTTY === true && output.seen;
}

/** Reads one line of a stream; null at its end, and when the signal ends the waiting. */
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

/** `[y/N]`, or `[Y] Yes, compact now  [N] Not now`; the one that Enter takes is the capital one. */
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

/** Creates who says and asks it at the terminal. */
export function createAssumptionVoice(output: Output, signal?: AbortSignal): AssumptionVoice {
  return {
    say: (text) => output.info(forTerminalLine(text)),
    allow: (question) => askYesNo({ ...question, otherwise: "no" }, { output, signal }),
  };
}
