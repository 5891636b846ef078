// The keyboard of a terminal. It is raw while a chat runs: what is typed during an answer is not echoed into it, and waits for
// the next reader.
import { StringDecoder } from "node:string_decoder";
import { createKeyQueue, type KeyQueue } from "./key-queue.ts";

/** What is needed of process.stdin. */
export interface KeySource {
  setRawMode?(raw: boolean): unknown;
  on(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  off(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** The keys of a terminal. Must be closed: it leaves the terminal as it found it. */
export interface KeyInput extends Omit<KeyQueue, "end" | "hold"> {
  /** Gives the terminal away and stops reading; `resume` takes it back. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** What keys are read with. */
export interface KeyWorld {
  /** Sends this process to sleep, as Ctrl-Z asks; resolves when it goes on. */
  stop(): Promise<void>;
  /** Calls back when nothing more was typed for a moment; gives what calls it off. */
  afterPause(settled: () => void): () => void;
  /** Whole lines are read, as the terminal hands them over: it is no screen. */
  readonly plain: boolean;
}

const CTRL_Z = "\u001a";

/** Starts to read keys. */
export function openKeyInput(source: KeySource, { stop, afterPause, plain }: KeyWorld): KeyInput {
  const decoder = new StringDecoder("utf8");
  const queue = createKeyQueue(afterPause);
  const setRaw = (raw: boolean): void => {
    if (!plain) source.setRawMode?.(raw);
  };
  const pause = (): void => {
    queue.hold(true);
    setRaw(false);
    source.pause();
  };
  const resume = (): void => {
    setRaw(true);
    source.resume();
    queue.hold(false);
  };
  const sleep = async (): Promise<void> => {
    setRaw(false);
    await stop();
    setRaw(true);
    queue.redraw(true);
  };
  const onData = (chunk: Buffer): void => {
    const keys = decoder.write(chunk);
    if (keys.includes(CTRL_Z)) void sleep();
    queue.type(keys.replaceAll(CTRL_Z, ""));
  };
  const onEnd = (): void => queue.end();
  source.on("data", onData);
  source.on("end", onEnd);
  resume();
  return {
    ...queue,
    pause,
    resume,
    close() {
      pause();
      source.off("data", onData);
      source.off("end", onEnd);
    },
  };
}
