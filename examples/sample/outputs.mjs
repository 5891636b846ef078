// Long outputs of the fictional project's commands: test runs, a benchmark, a CI log. Made by rule, so they stay the same.
import { FAMILIES } from "./project-files.mjs";

const RUNNER = " RUN  v4.0.8 /home/mara/tidepool\n";

const pad = (number) => String(number).padStart(2, "0");

const failure = (name, got, wanted) => `
 FAIL  test/conformance.test.ts > conformance > ${name}
AssertionError: expected [ …(1) ] to deeply equal [ …(1) ]

- Expected
+ Received

  [
    [
-     ${JSON.stringify(wanted)},
+     ${JSON.stringify(got)},
      "y",
    ],
  ]

 ❯ test/conformance.test.ts:34:81
`;

const count = (word, number) => (number > 0 ? `${number} ${word}` : []);

const failureReport = (failed) => {
  if (failed.length === 0) return [];
  const shown = failed.slice(0, 3).map((name) => {
    const number = Number(name.slice(-2));
    return failure(name, `say ${number}`, `say "${number}"`);
  });
  const rest = failed.length > 3 ? [`… and ${failed.length - 3} more`] : [];
  return ["", `⎯⎯⎯⎯⎯⎯⎯ Failed Tests ${failed.length} ⎯⎯⎯⎯⎯⎯⎯`, ...shown, ...rest];
};

/** A verbose run of all tests (about 400 lines). Families named in `broken` fail; `extra` tests pass. */
export const testRun = ({ broken = [], extra = [] } = {}) => {
  const cases = FAMILIES.flatMap(([family, size]) =>
    Array.from({ length: size }, (_, index) => ({
      name: `${family} ${pad(index + 1)}`,
      bad: broken.includes(family),
      took: (index * 7) % 3,
    })),
  );
  const failed = cases.filter((one) => one.bad).map((one) => one.name);
  const passed = cases.length - failed.length + extra.length;
  const [bad, files] = [failed.length, 3];
  const badFiles = bad > 0 ? 1 : 0;
  return [
    RUNNER,
    ...cases.map(({ name, bad: isBad, took }) => ` ${isBad ? "×" : "✓"} conformance > ${name} ${took}ms`),
    ...extra.map((name) => ` ✓ ${name} 1ms`),
    ...failureReport(failed),
    "",
    ` Test Files  ${[count("failed", badFiles), count("passed", files - badFiles)].flat().join(" | ")} (${files})`,
    `      Tests  ${[count("failed", bad), count("passed", passed)].flat().join(" | ")} (${passed + bad})`,
    "   Start at  08:31:07",
    "   Duration  611ms",
  ].join("\n");
};

/** A short run that names only what matters. */
export const shortRun = (file, passed, failures = []) => {
  const lines = [RUNNER, ...failures.map(({ name, text }) => ` × ${file} > ${name}\n   → ${text}`)];
  const mark = failures.length > 0 ? `${failures.length} failed | ${passed} passed` : `${passed} passed`;
  lines.push(
    "",
    ` Test Files  ${failures.length > 0 ? "1 failed" : "1 passed"} (1)`,
    `      Tests  ${mark} (${passed + failures.length})`,
  );
  return lines.join("\n");
};

/** The benchmark's table: one line per size. */
export const benchRun = (rowsPerSecond, megabytes) =>
  [
    "rows      seconds   rows/s     peak MB",
    ...[1_000, 10_000, 100_000, 1_000_000].map((rows, index) => {
      const speed = Math.round(rowsPerSecond * (1 - index * 0.03));
      return `${String(rows).padEnd(10)}${(rows / speed).toFixed(2).padEnd(10)}${String(speed).padEnd(11)}${megabytes[index]}`;
    }),
  ].join("\n");

/** A log of the build service (about 130 lines): installs, builds, fails on the one platform nobody tried. */
export const ciLog = () => {
  const lines = ["##[group]Run npm ci"];
  for (let index = 0; index < 60; index++)
    lines.push(
      `npm http fetch GET 200 https://registry.example.invalid/package-${String(index).padStart(3, "0")} ${20 + ((index * 37) % 90)}ms (cache ${index % 4 === 0 ? "miss" : "hit"})`,
    );
  lines.push(
    "added 60 packages in 9s",
    "##[endgroup]",
    "##[group]Run npm run build",
    "> tidepool@0.3.0 build",
    "> tsc -p .",
    "##[endgroup]",
    "##[group]Run npm test",
  );
  for (const name of ["plain", "quoted", "crlf"])
    for (let index = 1; index <= 18; index++) lines.push(` ✓ test/conformance.test.ts > ${name} ${pad(index)}`);
  lines.push(
    " × test/cli.test.ts > writes rejected rows next to the input",
    "   → expected 'D:\\\\a\\\\tidepool\\\\tmp\\\\orders.rejected.csv' to be 'tmp/orders.rejected.csv'",
    "",
    " Test Files  1 failed | 3 passed (4)",
    "      Tests  1 failed | 411 passed (412)",
    "##[error]Process completed with exit code 1.",
  );
  return lines.join("\n");
};
