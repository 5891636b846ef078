// Judges the test reports of `npm test` and `npm run test:slow` for .ci/run: `node scripts/ci-verdict.mjs [REPORT…]` says which
// tests were skipped and why, and ends with the line `N passed, N failed`, each test counted once. A test that none of the reports
// ran is skipped, and a skip counts as a failure unless it is expected here, by name, for want of something that this machine
// really lacks. Exit code 1 when anything failed or no test ran.
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
    what: "Node 22 and 24",
    tests: /\(JPG_NODES\)/,
    isMissing: !process.env.JPG_NODES,
    provide: "set JPG_NODES to their programs, with a colon between (.ci/run gets them from npm)",
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
  ...["zsh", "fish", "man", "mandoc", "jq", "python3"].map((program) => ({
    what: program,
    tests: new RegExp(`\\(${program}\\)`),
    isMissing: spawnSync(program, ["--version"]).error !== undefined,
    provide: `install it, for example with apt-get install ${program === "man" ? "man-db" : program}`,
  })),
  {
    what: "bash-completion",
    tests: /\(bash-completion\)/,
    isMissing: !existsSync("/usr/share/bash-completion/bash_completion"),
    provide: "install it, for example with apt-get install bash-completion",
  },
  {
    what: "/dev/full",
    tests: /\(\/dev\/full\)/,
    isMissing: !existsSync("/dev/full"),
    provide: "run the tests on Linux: it is a device there",
  },
  {
    what: "a POSIX system",
    tests: /\(POSIX\)/,
    isMissing: process.platform === "win32",
    provide: "run the tests on Linux or macOS: Windows has no modes, signals and /bin/sh",
  },
  {
    what: "the rights of root",
    tests: /\(as root\)/,
    isMissing: process.geteuid?.() !== 0,
    provide: "run the tests as root, for example in a container: files are given to another user there",
  },
];

/** What `npm test` and `npm run test:slow` write. */
const REPORTS = ["coverage/tests.json", "coverage/slow-tests.json"];

/** Reads vitest's JSON report into what counts here; null when there is none that can be read. */
function readReport(path) {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"));
    const tests = report.testResults.flatMap((file) =>
      file.assertionResults.map((test) => ({ ...test, file: file.name })),
    );
    const broken = report.testResults.filter(
      (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
    );
    return { success: report.success === true, tests, broken };
  } catch (error) {
    say(`The test report ${path} cannot be read: ${error.message}`);
    return null;
  }
}

/** Each test once, from all reports: it failed if one of them says so, else passed if one does. */
function outcomes(reports) {
  const found = new Map();
  for (const { tests } of reports) {
    const before = new Map();
    for (const test of tests) {
      const name = `${test.file} ${test.fullName}`;
      const ordinal = before.get(name) ?? 0; // tests of one file may have one name
      before.set(name, ordinal + 1);
      const known = found.get(`${name} ${ordinal}`);
      if (known === undefined || weight(test) > weight(known)) found.set(`${name} ${ordinal}`, test);
    }
  }
  return [...found.values()];
}

/** What one report says of a test counts before what another says: a failure, then a pass. */
function weight({ status }) {
  return ["passed", "failed"].indexOf(status);
}

/** Counts the tests of all reports and names what is wrong; null among them is a report that is missing. */
function judge(all) {
  const reports = all.filter((report) => report !== null);
  const tests = outcomes(reports);
  const passed = tests.filter((test) => test.status === "passed").length;
  const broken = reports.flatMap((report) => report.broken);
  const failures = [
    ...tests.filter((test) => test.status === "failed").map((test) => `failed: ${test.fullName}`),
    ...broken.map((file) => `failed as a whole: ${file.name}${file.message ? `: ${file.message}` : ""}`),
    ...all.filter((report) => report === null).map(() => "a report is missing: not all tests were run"),
  ];
  const expected = new Map();
  for (const test of tests.filter((one) => weight(one) < 0)) {
    const reason = MAY_BE_MISSING.find((thing) => thing.isMissing && thing.tests.test(test.fullName));
    if (reason !== undefined) expected.set(reason, [...(expected.get(reason) ?? []), test.fullName]);
    // The missing report would have it.
    else if (reports.length === all.length)
      failures.push(`skipped without being on the list of expected skips: ${test.fullName}`);
  }
  if (passed + failures.length === 0) failures.push("no test ran");
  if (!reports.every((report) => report.success) && failures.length === 0)
    failures.push("the test run failed outside of any test");
  return { passed, failures, expected };
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

const paths = process.argv.length > 2 ? process.argv.slice(2) : REPORTS;
const { passed, failures, expected } = judge(paths.map(readReport));
for (const [{ what, provide }, names] of expected) {
  say(`!! SKIPPED: ${names.length} tests, because this machine lacks ${what} (${provide}):`);
  for (const name of names) say(`!!   ${name}`);
}
for (const failure of failures) say(failure);
say(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
