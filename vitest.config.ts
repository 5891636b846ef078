import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/helpers/build-once.ts"],
    setupFiles: ["test/helpers/seed.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: "100%", // without it one processor is left idle: on two, every second one
    coverage: { provider: "v8", include: ["src/core/**", "src/formats/**"] },
  },
});
