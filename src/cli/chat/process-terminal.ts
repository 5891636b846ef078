// The chat's terminal over the standard streams of this process, and the signals that a terminal sends.
import { CTRL_C } from "../editor/key.ts";
import type { Output } from "../frame/output.ts";
import { screenOf } from "../frame/screen.ts";
import { type ChatTerminal, type MessageHistory, openChatTerminal } from "./chat-terminal.ts";

/** Whether a person can type here and see what is written. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** How long nothing may follow an escape for it to be the key, milliseconds: sequences come faster, also over a network. */
const ESCAPE_MS = 50;

/** Opens the terminal of this process. Must be closed. `plain` = it is no screen (TERM=dumb). */
export function openProcessTerminal(
  output: Pick<Output, "raw" | "control">,
  { history, plain }: { readonly history: MessageHistory; readonly plain: boolean },
): ChatTerminal {
  const terminal = openChatTerminal({
    source: process.stdin,
    screen: screenOf(output),
    history,
    plain,
    stop: () =>
      new Promise((resolve) => {
        process.once("SIGCONT", () => resolve());
        process.kill(process.pid, "SIGTSTP");
      }),
    afterPause: (settled) => {
      const timer = setTimeout(settled, ESCAPE_MS);
      return () => clearTimeout(timer);
    },
    kill: () => {
      close();
      process.kill(process.pid, "SIGINT");
    },
  });
  // Sent by another program, or by a terminal that edits its lines itself: the same as typed.
  const interrupt = (): void => terminal.keys.type(CTRL_C);
  const resized = (): void => terminal.keys.redraw(false);
  const close = (): void => {
    process.off("SIGINT", interrupt);
    process.stdout.off("resize", resized);
    terminal.close();
  };
  process.on("SIGINT", interrupt);
  process.stdout.on("resize", resized);
  return { ...terminal, close };
}
