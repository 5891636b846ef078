// What went wrong with `/compact`, with hints that can be typed in the chat: those of the command line name options that it has not.
import { JpgError } from "../../core/errors.ts";

/** An option of the command line, or another command of jpg. */
const ELSEWHERE = /(?:^|[\s`])(?:--[a-z]|jpg [a-z])/;

const HERE = [
  "/compact --model NAME lets another model write the summary; /compact N leaves more or fewer messages alone",
  "/compact strip removes reasoning and tool calls without asking a model",
];

/** What to type where there is nothing to compact: what the chat has in place of `jpg compact`, and other commands of jpg. */
export function chatHints(hints: readonly string[]): readonly string[] {
  return [
    ...hints.filter((hint) => !hint.includes("jpg compact")),
    "/compact N keeps N messages, /compact strip N strips the others.",
  ];
}

/** Gives an error the hints of the chat; what is no JpgError stays as it is. */
export function compactFailure(thrown: unknown): unknown {
  if (!(thrown instanceof JpgError) || thrown.code === "bad_slash_argument") return thrown;
  const { kind, code, message, data, cause, hints } = thrown;
  const kept = hints.filter((hint) => !ELSEWHERE.test(hint));
  const here = code === "nothing_to_undo" ? ["/log shows the compactions and what was reverted"] : HERE;
  return new JpgError(kind, code, message, { data, cause, hints: [...kept, ...(code === "no_turn_yet" ? [] : here)] });
}
