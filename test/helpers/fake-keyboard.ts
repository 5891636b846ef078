// A terminal without a terminal: a test types, and reads what was written to the screen.
import { EventEmitter } from "node:events";
import { type ChatTerminal, createHistory, openChatTerminal } from "../../src/cli/chat/chat-terminal.ts";
import type { KeyInput, KeySource } from "../../src/cli/chat/keys.ts";

export interface FakeKeyboard {
  readonly terminal: ChatTerminal;
  /** Where signals are typed. */
  readonly keys: KeyInput;
  /** Types, as bytes of UTF-8; resolves when what waits for it has run. */
  type(keys: string | Uint8Array): Promise<void>;
  /** Nothing is typed for a moment: an escape is the key then. */
  wait(): Promise<void>;
  /** Time passes, in ticks of whatever draws again and again. */
  tick(times?: number): void;
  /** The terminal goes away. */
  hangUp(): Promise<void>;
  /** Everything that was written. */
  screen(): string;
  /** Whether the terminal is raw, how often the process was sent to sleep, and killed. */
  readonly state: { raw: boolean; paused: boolean; stops: number; kills: number };
}

export interface FakeTerminal {
  readonly columns?: number;
  readonly rows?: number;
  /** No screen, as TERM=dumb says. */
  readonly plain?: boolean;
  /** Typed in chats before, newest first. */
  readonly history?: readonly string[];
}

export function openFakeKeyboard({
  columns = 80,
  rows = 24,
  plain = false,
  history = [],
}: FakeTerminal = {}): FakeKeyboard {
  const ticks = new Set<() => void>();
  let settled: (() => void) | null = null;
  const events = new EventEmitter();
  const state = { raw: false, paused: false, stops: 0, kills: 0 };
  const source: KeySource = Object.assign(events, {
    isTTY: true,
    setRawMode: (raw: boolean) => {
      state.raw = raw;
    },
    resume: () => {
      state.paused = false;
    },
    pause: () => {
      state.paused = true;
    },
  });
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const terminal = openChatTerminal({
    source,
    screen: {
      write,
      draw: write,
      columns: () => columns,
      rows: () => rows,
      every: (_milliseconds, tick) => {
        ticks.add(tick);
        return () => ticks.delete(tick);
      },
    },
    history: createHistory(history),
    plain,
    afterPause: (callback) => {
      settled = callback;
      return () => {
        settled = null;
      };
    },
    stop: async () => {
      state.stops += 1;
    },
    kill: () => {
      state.kills += 1;
    },
  });
  // What waits for a key runs in turns of the event loop.
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    terminal,
    keys: terminal.keys,
    state,
    type: async (keys) => {
      events.emit("data", Buffer.from(keys));
      await settle();
    },
    tick: (times = 1) => {
      for (let time = 0; time < times; time++) for (const tick of ticks) tick();
    },
    wait: async () => {
      settled?.();
      await settle();
    },
    hangUp: async () => {
      events.emit("end");
      await settle();
    },
    screen: () => written,
  };
}
