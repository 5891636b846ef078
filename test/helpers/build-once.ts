// Makes the folder of the tests, and builds the command once before them, so that end-to-end tests always run what the
// sources say.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

// Each project of the configuration loads this file for itself, and asks.
const BUILT = Symbol.for("jpg.test.built");
const shared = globalThis as { [BUILT]?: true };

export function setup({ config }: TestProject): () => void {
  // A project that sets no variable has no `env`, whatever its type says.
  const folder = (config.env as typeof config.env | undefined)?.["TMPDIR"];
  if (folder !== undefined && shared[BUILT] !== true) {
    // A run that was killed may have had this number.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    mkdirSync(folder, { recursive: true });
  }
  if (shared[BUILT] !== true) build();
  shared[BUILT] = true;
  return () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

function build(): void {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs", "--no-types"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
