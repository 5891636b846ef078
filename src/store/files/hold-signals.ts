// Keeps a signal from ending this process in the middle of what must not be cut in half.
import { setImmediate } from "node:timers/promises";

const ENDING = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** How much is under way that must not be cut; signals are the process's, so this is, too. */
let holders = 0;
const came = new Set<NodeJS.Signals>();

/** Whoever sent a signal waits no longer than this: a cut in the middle is what the next jpg mends after a power cut, too. */
const LONGEST_MS = 1500;

function hold(signal: NodeJS.Signals): void {
  if (came.size === 0) setTimeout(letThrough, LONGEST_MS).unref();
  came.add(signal);
}

/**
 * Runs work; a signal that would have ended the process meanwhile ends it afterwards, or after 1.5 seconds, unless somebody else
 * listens for it.
 */
export async function holdSignals<T>(work: () => Promise<T>): Promise<T> {
  if (holders++ === 0) for (const signal of ENDING) process.on(signal, hold);
  try {
    return await work();
  } finally {
    // A signal that has come is told of when the process next looks for events: once more, or it would be lost. The first of the
    // two rounds may be one that has looked already.
    await setImmediate();
    await setImmediate();
    if (--holders === 0) letThrough();
  }
}

function letThrough(): void {
  for (const signal of ENDING) process.off(signal, hold);
  for (const signal of came) if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  came.clear();
}
