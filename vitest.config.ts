import { readdirSync, readFileSync } from "node:fs";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { memoryFolder } from "./test/helpers/memory-folder.ts";

const folder = memoryFolder();

const common = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: "forks" as const,
};

/** Tests of pure code: nothing is built first. */
const PURE = ["test/core/**/*.test.ts", "test/formats/**/*.test.ts"];

/** Tests of the rest, which use git, files and the built command. */
const whole = {
  ...common,
  setupFiles: ["test/helpers/seed.ts", "test/helpers/fresh-umask.ts", "test/helpers/start-small.ts"],
  globalSetup: ["test/helpers/build-once.ts"],
  ...(folder === undefined ? {} : { env: { TMPDIR: folder } }),
};

/** Tests that put something in place of a module, which the others would get too. */
const ALONE = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes("\nvi.mock("));

/** Small files that take long. Vitest begins with what took longest the last time, and in a fresh checkout with the largest. */
const LONG = /(?:\.contract|writers|one-size|merge-compactions|view-cost)\.test\.ts$/;

/** Begins each project with its long files: one that begins last leaves all processors but its own idle. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

// Modules hold no state, so that files share a process and what it has loaded.
export default defineConfig({
  test: {
    // Without it one processor is left idle: on two, every second one.
    maxWorkers: "100%",
    sequence: { sequencer: LongFirst },
    coverage: { provider: "v8", include: ["src/core/**", "src/formats/**"] },
    projects: [
      { test: { ...common, name: "pure", include: PURE, setupFiles: ["test/helpers/seed.ts"], isolate: false } },
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
