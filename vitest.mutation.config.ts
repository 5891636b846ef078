// What a mutant of core has to survive: the tests of core, from source, without a build. One worker runs all files, because core
// holds no state: that is several times faster than a worker for each file. The laws come last, the quick tests kill most mutants.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { TAGS } from "./test/helpers/tags.ts";

/** Quick tests first: those with many generated or recorded examples at the end, in the order of their names. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = (file: TestSpecification) => /-(laws|corpus|goldens)\.test\.ts$/u.test(file.moduleId);
    return files.toSorted((a, b) => Number(isSlow(a)) - Number(isSlow(b)) || a.moduleId.localeCompare(b.moduleId));
  }
}

export default defineConfig({
  test: {
    include: ["test/core/**/*.test.ts"],
    tags: TAGS,
    setupFiles: ["test/helpers/same-runs.ts"],
    testTimeout: 60_000,
    pool: "threads",
    isolate: false,
    maxWorkers: 1,
    sequence: { sequencer: QuickFirst },
  },
});
