// What a mutant of core has to survive: the tests of core, from source, without a build.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/core/**/*.test.ts"],
    setupFiles: ["test/helpers/same-runs.ts"],
    testTimeout: 60_000,
  },
});
