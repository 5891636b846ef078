// Builds the command once before the tests, so that end-to-end tests always run what the sources say.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export function setup(): void {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs", "--no-types"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
