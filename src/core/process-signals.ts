// Signals of a process to itself. Windows has none: there node's `process.kill` ends a process at once, and runs no listener.

/** A process, as far as its signals go: node's `process`. */
interface SignalProcess {
  readonly platform: string;
  readonly pid: number;
  kill(pid: number, signal: string): unknown;
  emit(signal: string, name: string): boolean;
  exit(code: number): unknown;
  once(signal: "SIGCONT", listener: () => void): unknown;
}

const NUMBERS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** Sends a signal to this process, whose listeners get it; without listeners it ends, as a shell expects of that signal. */
export function raiseSignal(self: SignalProcess, signal: string): void {
  if (self.platform !== "win32") self.kill(self.pid, signal);
  else if (!self.emit(signal, signal)) self.exit(128 + (NUMBERS[signal] ?? 0));
}

/** Suspends this process, as Ctrl-Z does; resolves when it continues. On Windows, which has no such thing, at once. */
export function suspendProcess(self: SignalProcess): Promise<void> {
  if (self.platform === "win32") return Promise.resolve();
  return new Promise((resolve) => {
    self.once("SIGCONT", resolve);
    self.kill(self.pid, "SIGTSTP");
  });
}
