// Judges a test report for .ci/run: `node scripts/ci-verdict.mjs REPORT` says which tests were skipped and why, and ends
// with the line `N passed, N failed`. A skip counts as a failure unless it is expected here, by name, for want of
// something that this machine really lacks. Exit code 1 when anything failed or no test ran.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const shared = resolve(root, process.env.JPG_CORPUS || "../shared");

/** What a machine may lack, the tests that then cannot run (by their full names), and how to provide it. */
const MAY_BE_MISSING = [
  {
    what: "the real agents",
    tests: /real agent:|JPG_AGENTS_DIR/i,
    isMissing: !process.env.JPG_AGENTS_DIR || !existsSync(join(shared, "agents/resume.mjs")),
    provide: "set JPG_AGENTS_DIR to the folder they are installed in (and JPG_CORPUS, for the runner)",
  },
  {
    what: "node-llama-cpp",
    tests: /JPG_LLAMA_DIR/,
    isMissing: !process.env.JPG_LLAMA_DIR,
    provide: "set JPG_LLAMA_DIR to the folder it is installed in",
  },
  {
    what: "the session corpus",
    tests: /corpus|goldens/i,
    isMissing: !existsSync(join(shared, "corpus/INDEX.tsv")) || !existsSync(join(shared, "goldens/INDEX.tsv")),
    provide: `set JPG_CORPUS, or put it at ${shared}`,
  },
  {
    what: "the conformance cases",
    tests: /conformance/i,
    isMissing: !existsSync(join(shared, "conformance/cases.json")),
    provide: `set JPG_CORPUS, or put them at ${shared}`,
  },
  {
    what: "tmux",
    tests: /\(tmux\)/,
    isMissing: spawnSync("tmux", ["-V"]).status !== 0,
    provide: "install it, for example with apt-get install tmux",
  },
  {
    what: "chromium",
    tests: /\(chromium\)/,
    isMissing: !existsSync("/usr/bin/chromium"),
    provide: "install it, for example with apt-get install chromium",
  },
  {
    what: "sshd",
    tests: /\(sshd\)/,
    isMissing: !existsSync("/usr/sbin/sshd") || spawnSync("ssh", ["-V"]).status !== 0,
    provide: "install it, for example with apt-get install openssh-server",
  },
  ...["zsh", "fish"].map((shell) => ({
    what: shell,
    tests: new RegExp(`\\(${shell}\\)`),
    isMissing: spawnSync(shell, ["--version"]).status !== 0,
    provide: `install it, for example with apt-get install ${shell}`,
  })),
  {
    what: "/dev/full",
    tests: /\(\/dev\/full\)/,
    isMissing: !existsSync("/dev/full"),
    provide: "run the tests on Linux: it is a device there",
  },
  {
    what: "the rights of root",
    tests: /\(as root\)/,
    isMissing: process.geteuid?.() !== 0,
    provide: "run the tests as root, for example in a container: files are given to another user there",
  },
];

/** Reads vitest's JSON report into what counts here; null when there is none that can be read. */
function readReport(path) {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"));
    const tests = report.testResults.flatMap((file) => file.assertionResults);
    const broken = report.testResults.filter(
      (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
    );
    return { success: report.success === true, tests, broken };
  } catch (error) {
    say(`The test report ${path} cannot be read: ${error.message}`);
    return null;
  }
}

/** Counts a report and names what is wrong with it. */
function judge({ success, tests, broken }) {
  const passed = tests.filter((test) => test.status === "passed").length;
  const failures = [
    ...tests.filter((test) => test.status === "failed").map((test) => `failed: ${test.fullName}`),
    ...broken.map((file) => `failed as a whole: ${file.name}${file.message ? `: ${file.message}` : ""}`),
  ];
  const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
  const expected = new Map();
  for (const test of skipped) {
    const reason = MAY_BE_MISSING.find((thing) => thing.isMissing && thing.tests.test(test.fullName));
    if (reason === undefined) failures.push(`skipped without being on the list of expected skips: ${test.fullName}`);
    else expected.set(reason, [...(expected.get(reason) ?? []), test.fullName]);
  }
  if (passed + failures.length === 0) failures.push("no test ran");
  if (!success && failures.length === 0) failures.push("the test run failed outside of any test");
  return { passed, failures, expected };
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

const report = readReport(process.argv[2] ?? "coverage/tests.json");
const { passed, failures, expected } =
  report === null ? { passed: 0, failures: ["no report"], expected: new Map() } : judge(report);
for (const [{ what, provide }, names] of expected) {
  say(`!! SKIPPED: ${names.length} tests, because this machine lacks ${what} (${provide}):`);
  for (const name of names) say(`!!   ${name}`);
}
for (const failure of failures) say(failure);
say(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
