// What is typed at the terminal, handed to whoever reads at the moment. The terminal is raw while a chat runs: what is typed
// during an answer is not echoed into it, and waits for the next reader.
import { StringDecoder } from "node:string_decoder";

/** What is needed of process.stdin. */
export interface KeySource {
  setRawMode?(raw: boolean): unknown;
  on(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  off(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Somebody who reads keys. */
export interface KeyReader {
  /** Is handed what was typed; gives how many characters of it it took. The rest waits. */
  take(keys: string): number;
  /** Nothing will be typed any more. */
  end(): void;
  /** The terminal was another program's meanwhile: what stood there must be drawn again. */
  redraw?(): void;
}

/** The keys of a terminal. Must be closed: it leaves the terminal as it found it. */
export interface KeyInput {
  /** Lets a reader read until it is taken off again; the newest reads first. */
  push(reader: KeyReader): void;
  drop(reader: KeyReader): void;
  /** Types keys as if a person had, e.g. for a signal. */
  type(keys: string): void;
  /** Gives the terminal away and stops reading; `resume` takes it back. */
  pause(): void;
  resume(): void;
  close(): void;
}

export const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";

/** Starts to read keys. `stop` sends this process to sleep, as Ctrl-Z asks; it resolves when the process goes on. */
export function openKeyInput(source: KeySource, stop: () => Promise<void>): KeyInput {
  const decoder = new StringDecoder("utf8");
  const readers: KeyReader[] = [];
  let waiting = "";
  let ended = false;
  let given = false;
  let pumping = false;
  const pump = (): void => {
    if (pumping) return;
    pumping = true;
    for (let taken = 1; waiting !== "" && taken > 0; ) {
      taken = readers.at(-1)?.take(waiting) ?? 0;
      waiting = waiting.slice(taken);
    }
    pumping = false;
  };
  const input: KeyInput = {
    push(reader) {
      readers.push(reader);
      if (ended) reader.end();
      pump();
    },
    drop(reader) {
      const at = readers.lastIndexOf(reader);
      if (at >= 0) readers.splice(at, 1);
      pump();
    },
    type(keys) {
      // What is typed then is the other program's.
      if (given) return;
      waiting += keys;
      pump();
    },
    pause() {
      given = true;
      source.setRawMode?.(false);
      source.pause();
    },
    resume() {
      given = false;
      source.setRawMode?.(true);
      source.resume();
    },
    close() {
      input.pause();
      source.off("data", onData);
      source.off("end", onEnd);
    },
  };
  const sleep = async (): Promise<void> => {
    source.setRawMode?.(false);
    await stop();
    source.setRawMode?.(true);
    readers.at(-1)?.redraw?.();
  };
  const onData = (chunk: Buffer): void => {
    const keys = decoder.write(chunk);
    if (keys.includes(CTRL_Z)) void sleep();
    input.type(keys.replaceAll(CTRL_Z, ""));
  };
  const onEnd = (): void => {
    ended = true;
    for (const reader of [...readers]) reader.end();
  };
  source.on("data", onData);
  source.on("end", onEnd);
  input.resume();
  return input;
}
