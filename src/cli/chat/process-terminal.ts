// The chat's terminal over the standard streams of this process, and the signals that a terminal sends.
import type { Output } from "../frame/output.ts";
import { type ChatTerminal, openChatTerminal } from "./chat-terminal.ts";
import { CTRL_C } from "./key-input.ts";

/** Whether a person can type here and see what is written. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Opens the terminal of this process. Must be closed. */
export function openProcessTerminal(output: Pick<Output, "raw" | "control">): ChatTerminal {
  const terminal = openChatTerminal({
    source: process.stdin,
    screen: { write: output.raw, draw: output.control, columns: () => process.stdout.columns || 80 },
    stop: () =>
      new Promise((resolve) => {
        process.once("SIGCONT", () => resolve());
        process.kill(process.pid, "SIGTSTP");
      }),
    kill: () => {
      close();
      process.kill(process.pid, "SIGINT");
    },
  });
  // Sent by another program: the same as typed.
  const interrupt = (): void => terminal.keys.type(CTRL_C);
  const close = (): void => {
    process.off("SIGINT", interrupt);
    terminal.close();
  };
  process.on("SIGINT", interrupt);
  return { ...terminal, close };
}
