// What a signal must not cut in half is finished, and the process ends by the signal all the same.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { holdSignals } from "../../src/store/files.ts";
import { isWindows } from "../helpers/platform.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

it.skipIf(isWindows).each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s ends a process once its work is done (POSIX)",
  async (signal) => {
    const [begun, done] = ["begun", "done"].map((name) => join(folder.path, name)) as [string, string];
    const module = new URL("../../src/store/files.ts", import.meta.url).href;
    const script = `
    import { holdSignals } from ${JSON.stringify(module)};
    import { existsSync, writeFileSync } from "node:fs";
    const [begun, go, done] = ${JSON.stringify([begun, `${begun}.go`, done])};
    await holdSignals(async () => {
      writeFileSync(begun, "");
      while (!existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 5));
      writeFileSync(done, "");
    });
    await new Promise((resolve) => setTimeout(resolve, 30_000));
  `;
    writeFileSync(join(folder.path, "work.mts"), script);
    const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), join(folder.path, "work.mts")], {
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    while (!existsSync(begun)) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill(signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(done)).toBe(false);
    writeFileSync(`${begun}.go`, "");
    expect(await ended).toEqual([null, signal]);
    expect(existsSync(done)).toBe(true);
  },
);

it.skipIf(isWindows)(
  "ends a process by a signal that came right at the end of its work, when nothing was waited for any more (POSIX)",
  async () => {
    const module = new URL("../../src/store/files.ts", import.meta.url).href;
    const script = `
    import { holdSignals } from ${JSON.stringify(module)};
    import { execFileSync } from "node:child_process";
    await new Promise((resolve) => setTimeout(resolve, 1));
    await holdSignals(async () => void execFileSync("kill", ["-INT", String(process.pid)]));
    console.log("it goes on");
  `;
    writeFileSync(join(folder.path, "work.mts"), script);
    const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), join(folder.path, "work.mts")], {
      stdio: "ignore",
    });
    expect(await once(child, "exit")).toEqual([null, "SIGINT"]);
  },
);

it.skipIf(isWindows)("leaves a signal to who listens for it (POSIX)", async () => {
  const heard: string[] = [];
  const listen = (signal: string): unknown => heard.push(signal);
  process.on("SIGHUP", listen);
  try {
    await holdSignals(async () => {
      execFileSync("kill", ["-HUP", String(process.pid)]);
      await expect.poll(() => heard).toEqual(["SIGHUP"]);
    });
  } finally {
    process.off("SIGHUP", listen);
  }
  expect(heard).toEqual(["SIGHUP"]);
});

it("is held by many at once with one listener for each signal", async () => {
  const before = process.listenerCount("SIGHUP");
  const wait = () => new Promise((resolve) => setTimeout(resolve, 5));
  const held = Array.from({ length: 20 }, (_, n) =>
    holdSignals(() => (n === 7 ? Promise.reject(new Error("no")) : wait())),
  );
  expect(process.listenerCount("SIGHUP")).toBe(before + 1);
  expect((await Promise.allSettled(held)).filter(({ status }) => status === "rejected")).toHaveLength(1);
  expect(process.listenerCount("SIGHUP")).toBe(before);
});

it.skipIf(isWindows)("ends a process whose work does not end, too (POSIX)", { tags: ["slow"] }, async () => {
  const module = new URL("../../src/store/files.ts", import.meta.url).href;
  const begun = join(folder.path, "begun");
  const script = `
    import { holdSignals } from ${JSON.stringify(module)};
    import { writeFileSync } from "node:fs";
    await holdSignals(async () => {
      writeFileSync(${JSON.stringify(begun)}, "");
      await new Promise((resolve) => setTimeout(resolve, 120_000));
    });
  `;
  writeFileSync(join(folder.path, "stuck.mts"), script);
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), join(folder.path, "stuck.mts")], {
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  while (!existsSync(begun)) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill("SIGTERM");
  expect(await ended).toEqual([null, "SIGTERM"]);
});
