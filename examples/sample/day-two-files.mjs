// Texts of the second day: the agent's own summary at its compaction, a test file and the README of the fictional project.

/** What the agent wrote for itself when its context ran out, in the middle of the turn about --key. */
export const COMPACTION_SUMMARY = `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.

Summary:
1. Primary Request and Intent:
   tidepool (/home/mara/tidepool) loads CSV files into SQLite. Day one: survey, then fix in order of damage. Day two, IN PROGRESS: \`--key COLUMN\`, so that loading a file twice does not double its rows.

2. Done and committed:
   - 77aa319 quotes inside quotes; c81d5f0 CRLF and lone CR
   - a5f09de infer: numbers only when the text survives (00501, +46…, beyond 2^53 stay TEXT)
   - d2e77b4 streaming CsvReader (push/end, chunks may end anywhere), duplicate columns refused ignoring case
   - e90a1f3 --dry-run (describeCsv), bench/load.mjs: 7,640 → 412,500 rows/s with one transaction

3. Files:
   - src/csv.ts: CsvReader, CsvError(line, message), parseCsv wrapper
   - src/infer.ts: inferType, inferColumns
   - src/load.ts: loadCsv (BEGIN IMMEDIATE/COMMIT/ROLLBACK), loadRows, TableLoader, describeCsv, insertStatement (NEW, uncommitted: upsert when options.key is set)
   - src/cli.ts: --table --delimiter --dry-run
   - test/conformance.test.ts (392 cases), test/infer.test.ts, test/load.test.ts

4. Errors and fixes:
   - extra empty row at the end: #started was set after the row had ended
   - transaction without COMMIT after an interrupted edit

5. What the user said:
   - No new dependencies. Keep our own parser.
   - "no WAL and no synchronous off": one .db file, must survive a power cut
   - refuse duplicate column names, do not rename

6. Pending:
   - --key: unique index on the key column, refuse unknown or EMPTY keys (NULLs are never equal in a unique index), option in src/cli.ts, tests
   - a load with a key fails: "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint" (no index yet)
   - README is out of date; the CLI has no tests

7. Current Work:
   insertStatement is written; a load with a key was just tried. Next: createKeyIndex in src/load.ts.

Please continue the conversation from where we left it off without asking the user any further questions. Continue with the last task that you were asked to work on.`;

/** The first tests of the command itself. */
export const CLI_TEST = String.raw`import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";

const run = (...args: string[]) => spawnSync(process.execPath, ["dist/cli.js", ...args], { encoding: "utf8" });

const place = (text: string): string => {
  rmSync("tmp", { recursive: true, force: true });
  mkdirSync("tmp");
  writeFileSync("tmp/orders.csv", text);
  return "tmp/orders.csv";
};

it("loads a file and says how many rows", () => {
  expect(run(place("a,b\n1,2\n"), "tmp/o.db").stdout).toBe("loaded 1 rows into orders\n");
});

it("exits with 2 and the usage when the database is missing", () => {
  const result = run("orders.csv");
  expect(result.status).toBe(2);
  expect(result.stderr).toContain("usage: tidepool");
});

it("rolls everything back at the first bad row", () => {
  run(place("a,b\n1,2\n1,2,3\n"), "tmp/o.db");
  expect(execFileSync("sqlite3", ["tmp/o.db", ".tables"], { encoding: "utf8" })).toBe("");
});

it("writes rejected rows next to the input", () => {
  const result = run(place("a,b\n1,2,3\n4,5\n"), "tmp/o.db", "--rejects");
  const path = /rejected rows in (.*)/.exec(result.stderr)?.[1] ?? "tmp/orders.rejected.csv";
  expect(path).toBe("tmp/orders.rejected.csv");
  expect(existsSync(path)).toBe(true);
  expect(readFileSync(path, "utf8")).toBe('a,b,_line,_reason\n1,2,3,2,"3 fields, expected 2"\n');
  expect(result.stdout).toBe("loaded 1 rows into orders, rejected 1\n");
});
`;

/** The README of the fictional project. */
export const README = `# tidepool

Loads CSV files into SQLite: any size, in constant memory, one transaction.

\`\`\`
tidepool orders.csv shop.db --key "Order" --rejects
\`\`\`

| option | meaning |
|---|---|
| \`--table NAME\` | table to load into; default: the file's name |
| \`--delimiter CHAR\` | default: guessed from the first row (\`,\` \`;\` tab \`\\|\`) |
| \`--key COLUMN\` | a row whose key is in the table replaces the old one |
| \`--rejects\` | bad rows go to \`FILE.rejected.csv\` with line and reason, the others are loaded |
| \`--dry-run\` | print columns and types, touch nothing |

Exit codes: 0 all rows stored, 1 some rejected, 2 wrong usage, 3 nothing stored.

* A value becomes a number only when printing the number gives the same text: postcodes keep their zeros.
* Without \`--rejects\` a load is all or nothing.
* The database is one file, never in WAL mode: mail it, copy it.
`;
