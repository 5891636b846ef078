// Carries MCP messages to and from a running program: one JSON object a line. What is no message is passed over and its
// beginning kept, so that an error can say what the program printed instead; no line may grow without end.
import { deserializeMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import type { RunningProgram } from "./running-program.ts";

/** Longest line read, bytes: a result with some images in it. */
export const MAX_LINE_BYTES: number = 32 * 1024 * 1024;
/** How much of a line that is no message is kept, characters. */
const EXCERPT_LENGTH = 120;
const LINE_FEED = 10;

/** A transport that says why it came to nothing. */
export interface ProgramTransport extends Transport {
  /** The beginning of the first line that was no message; null when there was none. */
  rubbish(): string | null;
  /** Why the connection was given up from this side; null when it was not. */
  givenUp(): string | null;
}

/** Creates the transport over a program that was started; closing it ends the program. */
export function createProgramTransport(
  program: RunningProgram,
  maxLineBytes: number = MAX_LINE_BYTES,
): ProgramTransport {
  let firstRubbish: string | null = null;
  let reason: string | null = null;
  const takeLine = (line: string): void => {
    if (line.trim() === "") return;
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch {
      firstRubbish ??= line.slice(0, EXCERPT_LENGTH);
    }
  };
  const giveUp = (): void => {
    reason = `wrote a line of more than ${maxLineBytes / 1024 / 1024} MiB`;
    void program.end();
  };
  const transport: ProgramTransport = {
    async start() {
      readLines(program, { maxLineBytes, takeLine, giveUp });
      void program.ended.then(() => transport.onclose?.());
    },
    async send(message) {
      program.input.write(serializeMessage(message));
    },
    close: () => program.end(),
    rubbish: () => firstRubbish,
    givenUp: () => reason,
  };
  return transport;
}

interface LineReading {
  readonly maxLineBytes: number;
  readonly takeLine: (line: string) => void;
  /** Called once, when a line is too long; nothing is read after it. */
  readonly giveUp: () => void;
}

function readLines({ output }: RunningProgram, { maxLineBytes, takeLine, giveUp }: LineReading): void {
  let open: Buffer[] = [];
  let openBytes = 0;
  output.on("error", () => {}); // the program's end tells
  const take = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const line = Buffer.concat([...open, chunk.subarray(start, end)]).toString("utf8");
      [open, openBytes, start] = [[], 0, end + 1];
      takeLine(line);
    }
    open.push(chunk.subarray(start));
    openBytes += chunk.length - start;
    if (openBytes <= maxLineBytes) return;
    open = [];
    output.off("data", take);
    giveUp();
  };
  output.on("data", take);
}
