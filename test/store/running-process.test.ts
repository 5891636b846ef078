// Whether the writer of a file still runs is never mistaken for another process of its number.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { markThisProcess, stateOfProcess } from "../../src/store/running-process.ts";
import { isWindows } from "../helpers/platform.ts";
import { endUnreaped } from "../helpers/processes.ts";

it("this process runs", async () => {
  const mark = await markThisProcess();
  expect(mark.pid).toBe(process.pid);
  expect(await stateOfProcess(mark)).toBe("running");
});

it("a process of the same number that was started at another time is another one", async () => {
  const mark = await markThisProcess();
  const started = /^\d+$/.test(mark.started) ? String(Number(mark.started) - 1) : "2020-01-01T00:00:00.000Z";
  expect(await stateOfProcess({ ...mark, started })).toBe("ended");
});

it("a process that is gone has ended", async () => {
  const child = spawn(process.execPath, ["-e", "0"], { stdio: "ignore" });
  await new Promise((resolve) => child.on("close", resolve));
  expect(await stateOfProcess({ ...(await markThisProcess()), pid: child.pid! })).toBe("ended");
});

it.skipIf(isWindows)("a process that has ended, and that nobody has waited for, has ended (POSIX)", async () => {
  const { pid, release } = await endUnreaped();
  try {
    const started = readable(`/proc/${pid}/stat`)
      ? readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")[19]!
      : "2020-01-01T00:00:00.000Z";
    expect(await stateOfProcess({ ...(await markThisProcess()), pid, started })).toBe("ended");
  } finally {
    release();
  }
});

it("what ran before this machine was started has ended; of another machine nothing is known", async () => {
  const mark = await markThisProcess();
  const [host, , namespace] = mark.place.split(" ");
  if (readable("/proc/sys/kernel/random/boot_id"))
    expect(await stateOfProcess({ ...mark, place: `${host} another-boot ${namespace}` })).toBe("ended");
  expect(await stateOfProcess({ ...mark, place: mark.place.replace(/^\S+/, "elsewhere") })).toBe("unknown");
});

function readable(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
