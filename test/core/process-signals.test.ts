// Signals to jpg itself, on systems that have them and on Windows, which has none.
import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { raiseSignal, suspendProcess } from "../../src/core/process-signals.ts";

function fakeProcess(platform: string) {
  const done: string[] = [];
  const events = new EventEmitter();
  const self = Object.assign(events, {
    platform,
    pid: 7,
    kill: (pid: number, signal: string) => done.push(`kill ${pid} ${signal}`),
    exit: (code: number) => done.push(`exit ${code}`),
  });
  return { done, self };
}

it("elsewhere the system delivers a signal", () => {
  const { done, self } = fakeProcess("darwin");
  raiseSignal(self, "SIGTERM");
  expect(done).toEqual(["kill 7 SIGTERM"]);
});

it("on Windows listeners get a signal, and without one jpg exits, running what waits for that", () => {
  const { done, self } = fakeProcess("win32");
  raiseSignal(self, "SIGINT");
  raiseSignal(self, "SIGHUP");
  self.on("SIGINT", (name: string) => done.push(`heard ${name}`));
  raiseSignal(self, "SIGINT");
  expect(done).toEqual(["exit 130", "exit 129", "heard SIGINT"]);
});

it("Ctrl-Z waits until jpg continues, and does nothing on Windows", async () => {
  const windows = fakeProcess("win32");
  await suspendProcess(windows.self);
  expect(windows.done).toEqual([]);
  const { done, self } = fakeProcess("linux");
  const stopped = suspendProcess(self);
  expect(done).toEqual(["kill 7 SIGTSTP"]);
  self.emit("SIGCONT");
  await stopped;
});
