// Keeps a library that writes to the console from the terminal, where an answer is being shown. jpg itself writes elsewhere.

const METHODS = ["debug", "error", "info", "log", "warn"] as const;

type Console = Record<(typeof METHODS)[number], (...args: readonly unknown[]) => void>;

let depth = 0;
let loud: Partial<Console> = {};

/** Does a work during which the console says nothing. Works may overlap. */
export async function quietly<Value>(work: () => Promise<Value>): Promise<Value> {
  const target = globalThis.console as Console;
  if (depth++ === 0) {
    for (const method of METHODS) {
      loud[method] = target[method];
      target[method] = () => undefined;
    }
  }
  try {
    return await work();
  } finally {
    if (--depth === 0) {
      Object.assign(target, loud);
      loud = {};
    }
  }
}
