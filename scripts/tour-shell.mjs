// A stage for scripts: a temporary folder with a HOME of its own, and commands that are run and checked. Nothing of
// the user's is read or written: no HOME, no git configuration, no store.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const jpgScript = join(root, "bin/jpg.js");
const inColour = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";

/** Builds the command when nobody has yet. */
export function buildIfMissing() {
  if (existsSync(join(root, "dist/cli/main.cjs"))) return;
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
  if (status !== 0) throw new Error("jpg could not be built; `npm install` first, then `npm run tour` again.");
}

/** Makes the temporary folder. */
export function openStage() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "jpg-tour-")));
  const project = join(folder, "tidepool");
  const home = join(folder, "home");
  mkdirSync(project);
  mkdirSync(home);
  // The folder goes at the end: nothing may be at work in it then.
  writeFileSync(join(home, ".gitconfig"), "[maintenance]\n\tauto = false\n");
  const env = { PATH: process.env.PATH ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1", TZ: "UTC" };
  for (const name of ["LANG", "LC_ALL", "TMPDIR", "SystemRoot"]) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  if (inColour) env.FORCE_COLOR = "1";
  return { folder, project, env, close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Runs a command in the project and gives its output. Throws when it cannot be started or fails. */
export function run(stage, [program, ...words]) {
  const call = program === "jpg" ? [process.execPath, [jpgScript, ...words]] : [program, words];
  const result = spawnSync(call[0], call[1], {
    cwd: stage.project,
    env: stage.env,
    encoding: "utf8",
    maxBuffer: 64_000_000,
  });
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0) {
    throw new Error(`\`${program} ${words.join(" ")}\` ended with exit code ${result.status}:\n${result.stderr}`);
  }
  return result;
}
