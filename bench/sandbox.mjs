// A place of its own for a run: an empty HOME, no git configuration, a copy of the built command that stays as it is while
// others build. Everything is below one temporary folder, removed at the end.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { runProgram } from "./measure.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

// What the in-process measurements call; bundled as the command is.
const LIBRARY = [
  'export { loadBranchTree } from "./src/app/branch/branch-tree.ts";',
  'export { loadTurns, loadView } from "./src/app/branch/load-view.ts";',
  'export { refreshViews } from "./src/app/branch/refresh-view.ts";',
  'export { openWorkspace } from "./src/app/workspace/workspace.ts";',
  'export { planReading } from "./src/core/projection/hidden-turns.ts";',
  'export { project } from "./src/core/projection/projection.ts";',
  'export { turnPath } from "./src/core/event/turn-file.ts";',
].join("\n");

/** Creates the sandbox; `isBuilt` = use dist/ as it is. */
export async function createSandbox({ isBuilt }) {
  if (!isBuilt) execFileSync(process.execPath, [join(ROOT, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
  const dir = mkdtempSync(join(tmpdir(), "jpg-bench-"));
  for (const part of ["bin", "dist", "templates", "package.json"]) {
    cpSync(join(ROOT, part), join(dir, "jpg", part), { recursive: true });
  }
  await bundle(LIBRARY, join(dir, "jpg/dist/library.mjs"));
  for (const part of ["home", "scratch"]) mkdirSync(join(dir, part));
  const bin = join(dir, "jpg/bin/jpg.js");
  const env = cleanEnvironment(join(dir, "home"));
  const scratch = join(dir, "scratch");
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
    library: () => import(pathToFileURL(join(dir, "jpg/dist/library.mjs")).href),
    libraryPath: join(dir, "jpg/dist/library.mjs"),
    dispose: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/** What `openWorkspace` needs of the world. */
export function createRuntime(env, cwd) {
  let seed = 0;
  return {
    env,
    cwd,
    home: env.HOME,
    nodePath: process.execPath,
    jpgPath: join(ROOT, "bin/jpg.js"),
    version: "0.0.0",
    now: () => new Date(),
    random: (length) => Uint8Array.from({ length }, () => ++seed & 255),
    readStdin: async () => new Uint8Array(),
  };
}

/** Loads exports of the tree as it is into this process. */
export async function loadBundle(exports) {
  const folder = mkdtempSync(join(ROOT, "node_modules/.jpg-bench-"));
  try {
    const outfile = join(folder, "bundle.mjs");
    await bundle(exports, outfile);
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

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
