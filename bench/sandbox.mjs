// A place of its own for a run: an empty HOME, no git configuration, a copy of the built command that stays as it is while
// others build. Everything is below one temporary folder, removed at the end.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { runProgram } from "./measure.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Makes the folder of a sandbox, and gives it; `isBuilt` = use dist/ as it is. */
export function createSandbox({ isBuilt }) {
  if (!isBuilt) execFileSync(process.execPath, [join(ROOT, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
  const dir = mkdtempSync(join(tmpdir(), "jpg-bench-"));
  for (const part of ["bin", "dist", "templates", "package.json"]) {
    cpSync(join(ROOT, part), join(dir, "jpg", part), { recursive: true });
  }
  mkdirSync(join(dir, "home"));
  // Nothing runs in the background while something else is measured, or a store is copied.
  writeFileSync(join(dir, "home/gitconfig"), "[maintenance]\n\tauto = false\n");
  return dir;
}

/** What a part does in a sandbox, in a folder of its own there. */
export function openSandbox(dir, part) {
  const bin = join(dir, "jpg/bin/jpg.js");
  const env = cleanEnvironment(join(dir, "home"));
  const scratch = join(dir, "scratch", part);
  mkdirSync(scratch, { recursive: true });
  /** A library, bundled by the first part that asks for it; of two that ask at once, by both. */
  const bundled = async (source, name) => {
    const file = join(dir, "jpg/dist", name);
    if (existsSync(file)) return file;
    const own = join(scratch, name);
    await bundle(`export * from "./bench/${source}";`, own);
    renameSync(own, file);
    return file;
  };
  let made = 0;
  return {
    dir,
    env,
    bin,
    /** A path that does not exist yet. */
    newPath: (name) => join(scratch, `${++made}-${name}`),
    /** Runs jpg; see `runProgram`. */
    jpg: (args, options = {}) =>
      runProgram(process.execPath, [bin, ...args], { cwd: scratch, env, scratch, ...options }),
    run: (program, args, options = {}) => runProgram(program, args, { cwd: scratch, env, scratch, ...options }),
    /** @returns {Promise<Hindsight>} */
    hindsight: async () => import(pathToFileURL(await bundled("hindsight/library.ts", "hindsight.mjs")).href),
    dispose: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/** @typedef {typeof import("./hindsight/library.ts")} Hindsight */
/** @typedef {ReturnType<typeof openSandbox>} Sandbox */

/** Bundles a module into one file, as the command is bundled; its imports are as seen from the project's folder. */
export async function bundle(code, outfile, { minify = false } = {}) {
  const entry = join(ROOT, "bench-entry.ts");
  await build({
    cwd: ROOT,
    input: entry,
    platform: "node",
    transform: { target: "node20" },
    plugins: [
      { name: "entry", resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? code : null) },
    ],
    output: { file: outfile, format: "esm", minify, codeSplitting: false },
  });
}

function cleanEnvironment(home) {
  const kept = Object.fromEntries(
    ["PATH", "TMPDIR", "LANG"].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const name = "Bench";
  return {
    ...kept,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "data"),
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: "bench@example.invalid",
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: "bench@example.invalid",
    NO_COLOR: "1",
    TZ: "UTC",
  };
}
