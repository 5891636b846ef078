// Makes the folder of the tests, and builds the command once before them, so that end-to-end tests always run what the
// sources say.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

export function setup({ config }: TestProject): () => void {
  const folder = config.env["TMPDIR"];
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const root = fileURLToPath(new URL("../../", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs", "--no-types"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
