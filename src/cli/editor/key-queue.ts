// What is typed, handed to whoever reads at the moment; the rest waits, whole, for the next one.

/** Somebody who reads keys. */
export interface KeyReader {
  /**
   * Is handed what was typed; gives what it leaves, which waits: all of it when the rest of a key is still to come. `settled` =
   * nothing more came for a moment.
   */
  take(keys: string, settled: boolean): string;
  /** Nothing will be typed any more. */
  end(): void;
  /** What stood there must be drawn again. `lost` = it is gone: the terminal was another program's meanwhile. */
  redraw?(lost: boolean): void;
}

/** Keys that wait, and their readers. */
export interface KeyQueue {
  /** Lets a reader read until it is taken off again; the newest reads first. */
  push(reader: KeyReader): void;
  drop(reader: KeyReader): void;
  /** Types keys as if a person had, e.g. for a signal. */
  type(keys: string): void;
  /** Takes away what waits, for a question that it does not answer. */
  setAside(): string;
  /** Puts it back, before what has been typed since. */
  putBack(keys: string): void;
  /** Lets the reader look again at what waits. */
  wake(): void;
  /** Has the reader draw again what it draws. */
  redraw(lost: boolean): void;
  /** While it is held, what is typed is another program's, and nobody reads. */
  hold(isHeld: boolean): void;
  /** Nothing will be typed any more. */
  end(): void;
}

/** Creates an empty queue. */
export function createKeyQueue(afterPause: (settled: () => void) => () => void): KeyQueue {
  const readers: KeyReader[] = [];
  let waiting = "";
  let isEnded = false;
  let isHeld = false;
  let isReading = false;
  let callOff = (): void => undefined;
  const read = (settled: boolean): void => {
    callOff();
    if (isReading || isHeld) return;
    isReading = true;
    for (let before = ""; waiting !== "" && waiting !== before; ) {
      before = waiting;
      // A reader may put back what was set aside.
      waiting = "";
      const left = readers.at(-1)?.take(before, settled) ?? before;
      waiting += left;
    }
    isReading = false;
    if (waiting !== "" && !settled) callOff = afterPause(() => read(true));
  };
  return {
    push(reader) {
      readers.push(reader);
      if (isEnded) reader.end();
      read(false);
    },
    drop(reader) {
      const at = readers.lastIndexOf(reader);
      if (at >= 0) readers.splice(at, 1);
      read(false);
    },
    type(keys) {
      if (isHeld) return;
      waiting += keys;
      read(false);
    },
    setAside() {
      const aside = waiting;
      waiting = "";
      return aside;
    },
    putBack(keys) {
      waiting = keys + waiting;
      read(false);
    },
    wake: () => read(false),
    redraw: (lost) => readers.at(-1)?.redraw?.(lost),
    hold(held) {
      isHeld = held;
      read(false);
    },
    end() {
      isEnded = true;
      for (const reader of [...readers]) reader.end();
    },
  };
}
