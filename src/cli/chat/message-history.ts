// Messages that were typed, for the arrow keys and Ctrl-R.
import type { MessageHistory } from "./chat-terminal.ts";

/** Messages that are remembered. */
const REMEMBERED = 500;

/** Creates a history of messages typed before, newest first; `keep` is given each new one. */
export function createHistory(
  earlier: readonly string[] = [],
  keep: (text: string) => void = () => undefined,
): MessageHistory {
  let texts = earlier.slice(0, REMEMBERED);
  return {
    list: () => texts,
    add(text) {
      if (text.trim() === "" || text === texts[0]) return;
      texts = [text, ...texts].slice(0, REMEMBERED);
      keep(text);
    },
  };
}
