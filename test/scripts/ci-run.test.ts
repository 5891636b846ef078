// .ci/run: its last line and exit code, whatever npm does. npm is a stand-in here; the script is the real one.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
  for (const path of [".ci/run", "scripts/ci-verdict.mjs"]) cpSync(join(root, path), join(folder.path, path));
});
afterEach(() => folder.remove());

const REPORT = JSON.stringify({
  success: true,
  testResults: [{ name: "a.test.ts", status: "passed", assertionResults: [{ fullName: "one", status: "passed" }] }],
});

/** Runs .ci/run with an npm whose `ci`, `run check` and `install` do what these shell lines say. */
function runCi(ci: string, check: string, install = "true") {
  const bin = join(folder.path, "bin");
  writeText(
    join(bin, "npm"),
    `#!/bin/sh\nif [ "$1" = ci ]; then ${ci}\nelif [ "$1" = install ]; then ${install}\nelse ${check}\nfi\n`,
  );
  chmodSync(join(bin, "npm"), 0o755);
  mkdirSync(join(folder.path, "coverage"), { recursive: true });
  const { stdout, status } = spawnSync(join(folder.path, ".ci/run"), [], {
    env: {
      PATH: `${bin}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      HOME: "/nonexistent",
      GIT_DIR: "/nonexistent",
    },
    encoding: "utf8",
  });
  return { text: stdout, last: stdout.trimEnd().split("\n").at(-1), status };
}

const writeQuick = `printf '%s' '${REPORT}' > coverage/tests.json`;
const writeReport = `${writeQuick}; printf '%s' '${REPORT.replace("one", "two")}' > coverage/slow-tests.json`;

describe(".ci/run", () => {
  it("ends with the counts of both test reports when everything is green", () => {
    expect(runCi("true", writeReport)).toMatchObject({ last: "2 passed, 0 failed", status: 0 });
  });

  it("is red when the slow tests were not run, also when an old report of theirs lies around", () => {
    writeText(join(folder.path, "coverage/slow-tests.json"), REPORT);
    const { text, last, status } = runCi("true", `${writeQuick}; exit 1`);
    expect([last, status]).toEqual(["1 passed, 1 failed", 1]);
    expect(text).toContain("coverage/slow-tests.json cannot be read");
  });

  it("says that nothing passed when the install fails", () => {
    const { text, last, status } = runCi("false", writeReport);
    expect([last, status]).toEqual(["0 passed, 1 failed", 1]);
    expect(text).toContain("npm ci failed");
  });

  it("says that nothing passed when a check before the tests fails, also when an old report lies around", () => {
    writeText(join(folder.path, "coverage/tests.json"), REPORT);
    expect(runCi("true", "exit 2")).toMatchObject({ last: "0 passed, 1 failed", status: 1 });
  });

  it("is red when a check after green tests fails", () => {
    expect(runCi("true", `${writeReport}; exit 1`)).toMatchObject({ last: "2 passed, 1 failed", status: 1 });
  });

  it("is red when the test run broke off in the middle of its report", () => {
    expect(runCi("true", `${writeReport}; printf '{' > coverage/tests.json; exit 1`)).toMatchObject({
      last: "1 passed, 1 failed",
      status: 1,
    });
  });

  it("gives npm a HOME of its own, empty, and none of a surrounding repository's variables", () => {
    const { text } = runCi("true", `${writeReport}; echo "home:$(ls -A "$HOME"):dir:\${GIT_DIR-unset}"`);
    expect(text).toContain("home::dir:unset");
  });

  it("gives the tests newer Nodes from npm, and goes on without them where npm cannot fetch", () => {
    const say = `${writeReport}; echo "nodes:\${JPG_NODES-unset}:"`;
    const nodes = String.raw`nodes:\S*/node_modules/n22/bin/node:\S*/node_modules/n24/bin/node:`;
    expect(runCi("true", say).text).toMatch(new RegExp(nodes));
    const without = runCi("true", say, "exit 1");
    expect(without.text).toContain("Node 22 and 24 could not be fetched from npm\nnodes:unset:");
    expect(without).toMatchObject({ last: "2 passed, 0 failed", status: 0 });
  });
});
