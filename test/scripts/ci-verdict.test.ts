// scripts/ci-verdict.mjs: what counts as a green test run, judged on reports as vitest writes them.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

const script = fileURLToPath(new URL("../../scripts/ci-verdict.mjs", import.meta.url));
let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

type Tests = Readonly<Record<string, "passed" | "failed" | "skipped" | "todo">>;

interface Extra {
  readonly success?: boolean;
  readonly brokenFile?: string;
  readonly has?: readonly string[];
}

/** Judges a report of these tests on a machine that has those files of the shared folder (and agents, when it has any). */
function judge(tests: Tests, { success = true, brokenFile, has = [] }: Extra = {}) {
  const shared = join(folder.path, "shared");
  for (const path of has) {
    mkdirSync(join(shared, path, ".."), { recursive: true });
    writeFileSync(join(shared, path), "");
  }
  const assertionResults = Object.entries(tests).map(([fullName, status]) => ({ fullName, status }));
  const testResults = [
    { name: "a.test.ts", status: "passed", message: "", assertionResults },
    ...(brokenFile === undefined
      ? []
      : [{ name: brokenFile, status: "failed", message: "no such module", assertionResults: [] }]),
  ];
  const report = join(folder.path, "report.json");
  writeFileSync(report, JSON.stringify({ success, testResults }));
  return run([report], { JPG_CORPUS: shared, ...(has.length === 0 ? {} : { JPG_AGENTS_DIR: folder.path }) });
}

/** Judges reports of several runs of these tests; null is one that was not written. */
function judgeRuns(runs: readonly (Tests | null)[]) {
  const reports = runs.map((tests, index) => {
    const path = join(folder.path, `report-${index}.json`);
    const assertionResults = Object.entries(tests ?? {}).map(([fullName, status]) => ({ fullName, status }));
    const success = !assertionResults.some(({ status }) => status === "failed");
    const testResults = [{ name: "a.test.ts", status: success ? "passed" : "failed", message: "", assertionResults }];
    if (tests !== null) writeFileSync(path, JSON.stringify({ success, testResults }));
    return path;
  });
  return run(reports);
}

function run(reports: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout, status } = spawnSync(process.execPath, [script, ...reports], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    encoding: "utf8",
  });
  return { text: stdout, last: stdout.trimEnd().split("\n").at(-1), status };
}

describe("the verdict on a test run", () => {
  it("counts tests and is green when all passed", () => {
    expect(judge({ one: "passed", two: "passed" })).toEqual({
      text: "2 passed, 0 failed\n",
      last: "2 passed, 0 failed",
      status: 0,
    });
  });

  it("names a test that failed", () => {
    const { text, last, status } = judge({ one: "passed", "view shows it": "failed" }, { success: false });
    expect([last, status]).toEqual(["1 passed, 1 failed", 1]);
    expect(text).toContain("failed: view shows it");
  });

  it("takes skips by name, aloud, for want of what this machine lacks", () => {
    const { text, last, status } = judge({
      one: "passed",
      "real agent: resumes": "skipped",
      "requests of the real agent (needs goldens)": "skipped",
      "conformance cases SKIPPED": "skipped",
    });
    expect([last, status]).toEqual(["1 passed, 0 failed", 0]);
    expect(text).toMatch(/SKIPPED: 1 tests, because this machine lacks the real agents .*\n!! {3}real agent: resumes/);
    expect(text).toMatch(/lacks the session corpus .*\n!! {3}requests of the real agent/);
    expect(text).toMatch(/lacks the conformance cases .*\n!! {3}conformance cases SKIPPED/);
  });

  it("takes no skip of a test whose need this machine has", () => {
    const has = ["agents/resume.mjs", "corpus/INDEX.tsv", "goldens/INDEX.tsv", "conformance/cases.json"];
    const names: Tests = { one: "passed", "real agent: resumes": "skipped", "Claude Code goldens match": "skipped" };
    const { text, last, status } = judge(names, { has });
    expect([last, status]).toEqual(["1 passed, 2 failed", 1]);
    expect(text).toContain("skipped without being on the list of expected skips: real agent: resumes");
  });

  it("takes no skip and no todo that is not on its list", () => {
    const { last, status } = judge({ one: "passed", "reverts in any order": "skipped", merges: "todo" });
    expect([last, status]).toEqual(["1 passed, 2 failed", 1]);
  });

  it("counts a test file that could not be loaded", () => {
    const { text, last, status } = judge({ one: "passed" }, { success: false, brokenFile: "b.test.ts" });
    expect([last, status]).toEqual(["1 passed, 1 failed", 1]);
    expect(text).toContain("failed as a whole: b.test.ts: no such module");
  });

  it("is red when the run failed outside of any test, or no test ran", () => {
    expect(judge({ one: "passed" }, { success: false })).toMatchObject({ last: "1 passed, 1 failed", status: 1 });
    expect(judge({})).toMatchObject({ last: "0 passed, 1 failed", status: 1 });
  });

  it("is red when there is no report, or a damaged one", () => {
    expect(run([join(folder.path, "absent.json")])).toMatchObject({ last: "0 passed, 1 failed", status: 1 });
    writeFileSync(join(folder.path, "half.json"), '{"success":tr');
    expect(run([join(folder.path, "half.json")])).toMatchObject({ last: "0 passed, 1 failed", status: 1 });
  });
});

describe("the verdict on several runs", () => {
  it("counts a test once, that one of them ran or both", () => {
    const quick: Tests = { quick: "passed", law: "passed", slow: "skipped" };
    const slow: Tests = { quick: "skipped", law: "passed", slow: "passed" };
    expect(judgeRuns([quick, slow])).toMatchObject({ text: "3 passed, 0 failed\n", status: 0 });
  });

  it("takes a failure in one of them for a failure", () => {
    for (const runs of [["failed", "passed"] as const, ["passed", "failed"] as const]) {
      const { text, status } = judgeRuns(runs.map((law) => ({ quick: "passed", law })));
      expect([text, status]).toEqual(["failed: law\n1 passed, 1 failed\n", 1]);
    }
  });

  it("is red when none of them ran a test", () => {
    const { text, last } = judgeRuns([
      { quick: "passed", forgotten: "skipped" },
      { quick: "skipped", forgotten: "skipped" },
    ]);
    expect([text, last]).toEqual([
      "skipped without being on the list of expected skips: forgotten\n1 passed, 1 failed\n",
      "1 passed, 1 failed",
    ]);
  });

  it("is red when one of them was not run, without naming each test that it would have run", () => {
    const { text, last } = judgeRuns([{ quick: "passed", slow: "skipped" }, null]);
    expect(last).toBe("1 passed, 1 failed");
    expect(text).not.toMatch(/: slow/);
  });
});
