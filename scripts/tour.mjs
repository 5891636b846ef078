// `npm run tour`: builds jpg if nobody has yet, and calls `jpg tour`.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildIfMissing } from "./tour-shell.mjs";

buildIfMissing();
const jpg = fileURLToPath(new URL("../bin/jpg.js", import.meta.url));
process.exitCode =
  spawnSync(process.execPath, [jpg, "tour", ...process.argv.slice(2)], { stdio: "inherit" }).status ?? 1;
