// The question before a tool is called: its arguments whole, in a pager where they are longer than the screen; a no may say why,
// which the model is told.
import type { ShownCall } from "../../app/talk/talk.ts";
import {
  forTerminal,
  forTerminalLine,
  joinLines,
  joinSafe,
  linesForTerminal,
  type SafeText,
  safe,
} from "../../core/safe-text.ts";
import type { Output } from "../frame/output.ts";
import type { Style } from "../frame/style.ts";
import type { ChatTerminal } from "./chat-terminal.ts";

/** What the user says to a call; `reason` is empty when they gave none. */
export type CallAnswer =
  | { readonly kind: "yes" }
  /** For the rest of the chat. */
  | { readonly kind: "always" }
  | { readonly kind: "no"; readonly reason: string };

interface Asking {
  readonly terminal: ChatTerminal;
  readonly output: Output;
}

/** Asks. A whole line is wanted: a letter of a message that is being typed meanwhile must not allow a call. */
export async function askAboutCall(call: ShownCall, { terminal, output }: Asking): Promise<CallAnswer> {
  const shown = renderArguments(call.arguments, output.style);
  const show = async (): Promise<void> => {
    if (shown !== "") await terminal.lend(() => output.page(shown));
  };
  await show();
  terminal.write(
    safe`Run ${forTerminalLine(call.name)} of ${forTerminalLine(call.origin)}? [y]es, [n]o (a reason may follow), [a]lways in this chat, [v]iew\n`,
  );
  for (;;) {
    const line = await terminal.readAnswer("? ");
    if (line === null) return { kind: "no", reason: "" };
    const answer = parseCallAnswer(line);
    if (answer === "view") await show();
    else if (answer !== null) return answer;
  }
}

/** Reads an answer; null when it is none. */
export function parseCallAnswer(line: string): CallAnswer | "view" | null {
  const [, word = "", rest = ""] = /^\s*([a-z]+)[,:.]?\s*(.*)$/is.exec(line) ?? [];
  const reason = rest.trim();
  const named = word.toLowerCase();
  if (named === "n" || named === "no") return { kind: "no", reason };
  if (reason !== "") return null;
  if (named === "y" || named === "yes") return { kind: "yes" };
  if (named === "a" || named === "always") return { kind: "always" };
  return named === "v" || named === "view" ? "view" : null;
}

/** Renders arguments, all of them: one to a line, texts of several lines as they are, marked at the margin. */
export function renderArguments(args: unknown, style: Style): SafeText {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return safe`  ${renderValue(args, style)}`;
  return joinLines(
    Object.entries(args).map(
      ([name, value]) => safe`  ${style.heading(safe`${forTerminalLine(name)}:`)} ${renderValue(value, style)}`,
    ),
  );
}

function renderValue(value: unknown, style: Style): SafeText {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  if (!text.includes("\n")) return forTerminal(text);
  const mark = style.faint(safe`|`);
  return joinSafe(
    linesForTerminal(text).map((line) => safe`\n    ${mark} ${line}`),
    "",
  );
}
