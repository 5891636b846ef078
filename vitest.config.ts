import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { memoryFolder } from "./test/helpers/memory-folder.ts";
import { TAGS } from "./test/helpers/tags.ts";

const folder = memoryFolder();

/** Far beyond what a test takes on a machine that does much else beside: it ends one that hangs, milliseconds. */
const HANGS = 300_000;

const common = {
  tags: TAGS,
  testTimeout: HANGS,
  hookTimeout: HANGS,
  // What `expect.poll` waits for comes; only a test that fails waits so long.
  expect: { poll: { timeout: HANGS / 2, interval: 25 } },
  pool: "forks" as const,
  // Most functions run too seldom for V8's optimized code to be worth its making, which takes a sixth of the processor's time: it
  // begins after nine times as much work as usual.
  execArgv: ["--interrupt-budget=600000"],
};

/** Tests of pure code: nothing is built first. The width of every character takes a process that has loaded much six times as long. */
const PURE = [
  "test/core/**/*.test.ts",
  "test/formats/**/*.test.ts",
  "test/web/pages/*.test.ts",
  "test/bench/**/*.test.ts",
  "test/cli/frame/display-width.test.ts",
];

/** Tests of the rest, which use git, files and the built command. */
const whole = {
  ...common,
  // As in the bundle (scripts/build.mjs): secretlint's own looks through all it ever measured at each new measurement.
  alias: {
    "@secretlint/profiler": fileURLToPath(new URL("scripts/silent-profiler.mjs", import.meta.url)),
    "structured-source": fileURLToPath(new URL("scripts/no-locations.mjs", import.meta.url)),
  },
  server: { deps: { inline: ["@secretlint/core"] } },
  setupFiles: ["test/helpers/seed.ts", "test/helpers/fresh-process.ts", "test/helpers/start-small.ts"],
  globalSetup: ["test/helpers/tags.ts", "test/helpers/build-once.ts"],
  ...(folder === undefined ? {} : { env: { TMPDIR: folder } }),
};

/** Tests that put something in place of a module, which the others would get too. */
const ALONE = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes("\nvi.mock("));

/** Files that take long and are small, the longest first; one of them takes eight times as long in a process that has loaded much. Vitest begins with what took longest the last time, in a fresh checkout with the largest. */
const LONG: readonly RegExp[] = [
  /frame\/display-width/,
  /e2e\/redact/,
  /share\/clones/,
  /share\/pull/,
  /compact\/one-size/,
  /embedded\/writers/,
  /e2e\/(?:engine|sharing-servers|sync|view-cost)/,
  /git\/merge-compactions/,
  /\.contract\.test\.ts$/,
];

/** Where in that list a file stands; those that are not in it come after. */
function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONG.findIndex((name) => name.test(moduleId));
  return rank < 0 ? LONG.length : rank;
}

/** Begins each project with its long files: one that begins last leaves all processors but its own idle. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => rankOf(one) - rankOf(other)),
    );
  }
}

// Files share a process and what it has loaded: the little that modules keep in mind holds for all of them.
export default defineConfig({
  test: {
    // Two fifths of the time a worker waits: for a git, a terminal, a lock. On two processors a third one fills that.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: LongFirst },
    // What a module becomes for a run is kept by its content, below node_modules: half of what one file of tests costs.
    experimental: { fsModuleCache: true },
    coverage: { provider: "v8", include: ["src/core/**", "src/formats/**"] },
    projects: [
      {
        test: {
          ...common,
          name: "pure",
          include: PURE,
          globalSetup: ["test/helpers/tags.ts"],
          setupFiles: ["test/helpers/seed.ts"],
          isolate: false,
        },
      },
      { test: { ...whole, name: "alone", include: ALONE } },
      {
        test: {
          ...whole,
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...PURE, ...ALONE],
          isolate: false,
        },
      },
    ],
  },
});
