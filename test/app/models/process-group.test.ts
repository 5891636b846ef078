// What jpg starts does not outlive it: a program of ours starts a server that starts a child, and is then ended by a signal.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BundledProgram, bundleProgram } from "../../helpers/bundle-program.ts";
import { areGone } from "../../helpers/processes.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SERVER = join(ROOT, "test/fixtures/mcp/server.mjs");
let folder: TempFolder;
let programs: BundledProgram;
beforeAll(async () => {
  folder = createTempFolder();
  programs = await bundleProgram(join(ROOT, "src/app/models/external-process.ts"));
});
afterAll(() => {
  folder.remove();
  programs.remove();
});

/** Starts a program that runs `more` once its two servers run; gives how it ended and the processes that it had started. */
async function runOwner(name: string, more: string, signal?: NodeJS.Signals) {
  const file = join(folder.path, name);
  const script = `
    import { startProgram } from "${programs.path}";
    const place = { cwd: ".", env: { PATH: process.env.PATH, PID_FILE: ${JSON.stringify(file)} } };
    for (const mode of ["child", "slow-end"]) startProgram([process.execPath, ${JSON.stringify(SERVER)}, mode, "child"], place);
    setInterval(() => {}, 1000);
    ${more}`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: ROOT,
    stdio: "ignore",
  });
  const ended = new Promise<string>((resolve) => owner.on("exit", (code, by) => resolve(by ?? String(code))));
  while (started(file).length < 4) await sleep(50);
  if (signal !== undefined) owner.kill(signal);
  return { ended: await ended, pids: started(file) };
}

function started(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
}

describe("programs that jpg talks with", () => {
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("end with it by %s, and so does it", async (signal) => {
    const { ended, pids } = await runOwner(signal, "", signal);
    expect(ended).toBe(signal);
    expect(await areGone(pids)).toBe(true);
  });

  it("live on when another listener handles the signal, and end when it is gone", async () => {
    const more = `
      import { existsSync, readFileSync } from "node:fs";
      process.on("SIGINT", () => setTimeout(() => {
        for (const pid of readFileSync(place.env.PID_FILE, "utf8").trim().split("\\n")) process.kill(Number(pid), 0);
        process.exit(42);
      }, 300));`;
    const { ended, pids } = await runOwner("answered", more, "SIGINT");
    expect(ended).toBe("42");
    expect(await areGone(pids)).toBe(true);
  });
});
