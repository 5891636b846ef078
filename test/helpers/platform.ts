// What a system does not have. The name of a test that is skipped for want of it says so: scripts/ci-verdict.mjs expects it by that.

/** No modes, signals, pipes with names or /bin/sh: tests that need one have `(POSIX)` in their name. */
export const isWindows: boolean = process.platform === "win32";
