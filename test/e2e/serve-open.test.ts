// `jpg serve --open`: a played opener of browsers, which writes down what it is started with.
// @module-tag slow
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

let sandbox: ImportedSandbox;
let bin: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  bin = join(sandbox.root, "openers");
  mkdirSync(bin);
});
afterEach(() => sandbox.remove());

/** Serves until it has said what happened; the opener ends with a code. */
async function serveOpen(code: number, display: Record<string, string>) {
  const opened = join(sandbox.root, "opened");
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${opened}'\nexit ${code}\n`, {
    mode: 0o755,
  });
  const env = { ...sandbox.env, PATH: `${bin}:${sandbox.env["PATH"]}`, ...display };
  const server = spawn(process.execPath, [BIN, "serve", "--open"], { cwd: sandbox.project, env });
  try {
    let [stdout, stderr] = ["", ""];
    server.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    server.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    await expect.poll(() => stderr).toContain("Ctrl-C ends it");
    const words = existsSync(opened) ? readFileSync(opened, "utf8").trimEnd().split("\n") : null;
    return { address: stdout.trimEnd(), said: stderr.trimEnd(), words };
  } finally {
    server.kill();
  }
}

it.runIf(process.platform === "linux")("opens the address that it prints, as one word", async () => {
  const { address, said, words } = await serveOpen(0, { DISPLAY: ":0" });
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\S+$/);
  expect(words).toEqual(["1", address]);
  expect(said).toBe("It is open in your browser; Ctrl-C ends it.");
});

it.runIf(process.platform === "linux").each([
  ["it fails", 3, { DISPLAY: ":0" }, true],
  ["there is no desktop", 0, { DISPLAY: "" }, false],
] as const)("only prints the address where %s", async (_, code, display, isTried) => {
  const { address, said, words } = await serveOpen(code, { ...display });
  expect(address).toMatch(/^http:/);
  expect(words !== null).toBe(isTried);
  expect(said).toBe("No browser could be started here: open it yourself; Ctrl-C ends it.");
});
