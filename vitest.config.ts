import { configDefaults, defineConfig } from "vitest/config";

const common = {
  setupFiles: ["test/helpers/seed.ts"],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: "forks" as const,
};

/** Tests of pure code, which holds no state: files share a process and what it has loaded, and nothing is built first. */
const PURE = ["test/core/**/*.test.ts", "test/formats/**/*.test.ts"];

export default defineConfig({
  test: {
    // Without it one processor is left idle: on two, every second one.
    maxWorkers: "100%",
    coverage: { provider: "v8", include: ["src/core/**", "src/formats/**"] },
    projects: [
      { test: { ...common, name: "pure", include: PURE, isolate: false } },
      {
        test: {
          ...common,
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...PURE],
          globalSetup: ["test/helpers/build-once.ts"],
        },
      },
    ],
  },
});
