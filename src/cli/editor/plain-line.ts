// Reads a line where the terminal is no screen (TERM=dumb): it edits its lines itself and hands them over whole.

import { CTRL_C } from "./key.ts";
import type { KeyReader } from "./key-queue.ts";
import type { LineInput, TypedLine } from "./read-line.ts";

/** Reads one line; a line that ends in a backslash goes on in the next one. */
export function readPlainLine({ keys, screen }: LineInput, prompt: string): Promise<TypedLine> {
  return new Promise((resolve) => {
    let text = "";
    const finish = (typed: TypedLine): void => {
      resolve(typed);
      keys.drop(reader);
    };
    const reader: KeyReader = {
      take(typed) {
        const end = typed.search(/[\n\u0003]/);
        if (end < 0) return typed;
        text += typed.slice(0, end);
        const rest = typed.slice(end + 1);
        if (typed[end] === CTRL_C) {
          screen.write("\n");
          finish({ kind: "interrupted", text });
        } else if (isContinued(text)) {
          text = `${text.slice(0, -1)}\n`;
          screen.write("... ");
        } else finish({ kind: "line", text });
        return rest;
      },
      end: () => finish({ kind: "end" }),
    };
    screen.write(prompt);
    keys.push(reader);
  });
}

/** An odd number of backslashes at the end: two stand for themselves. */
function isContinued(text: string): boolean {
  return (/\\*$/.exec(text)?.[0].length ?? 0) % 2 === 1;
}
