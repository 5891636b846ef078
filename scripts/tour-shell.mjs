// The stage of the tour: a temporary folder with a HOME of its own, and commands that are shown, run and checked. Nothing of
// the user's is read or written: no HOME, no git configuration, no store.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";

const root = fileURLToPath(new URL("../", import.meta.url));
const jpgScript = join(root, "bin/jpg.js");
const inColour = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";

/** Builds the command when nobody has yet: `npm install` normally did. */
export function buildIfMissing() {
  if (existsSync(join(root, "dist/cli/main.cjs"))) return;
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
  if (status !== 0) throw new Error("jpg could not be built; `npm install` first, then `npm run tour` again.");
}

/** Makes the temporary folder and gives what the tour does in it. */
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

/** Whether there is a git program; jpg works without. */
export function hasGit() {
  return spawnSync("git", ["--version"]).error === undefined;
}

/** Shows a command as it is typed, runs it in the project, prints what it says, and gives its standard output. */
export function show(stage, command, { lines } = {}) {
  const typed = command.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  const inStore = command[0] === "store-git";
  print(bold(`$ ${inStore ? `git -C "$(jpg path)" ${typed.slice(1).join(" ")}` : typed.join(" ")}`));
  const path = inStore ? run(stage, ["jpg", "path"]).stdout.trim() : undefined;
  const { stdout, stderr } = run(stage, inStore ? ["git", "-C", path, ...command.slice(1)] : command);
  const said = `${stdout}${stderr}`.trimEnd();
  print(said === "" ? "" : `${shorten(said, lines)}\n`);
  return stdout;
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

/** Prints a heading with a few words on what comes and why. */
export function tell(heading, text) {
  if (heading !== "") print(inColour ? styleText(["bold", "cyan"], heading) : heading);
  print(text);
  print("");
}

function shorten(text, limit) {
  const all = text.split("\n");
  if (limit === undefined || all.length <= limit) return text;
  return [...all.slice(0, limit), `… (${all.length - limit} more lines)`].join("\n");
}

function bold(text) {
  return inColour ? styleText("bold", text) : text;
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
