// Day one, afternoon: a benchmark, one transaction, an interruption about WAL, --dry-run, good night.
import { benchRun } from "./outputs.mjs";
import { bash, bashFailed, todos } from "./tools.mjs";

const measure = (session, project) => {
  session.user("Now the speed. Six minutes for 118 MB is not something I can show anybody.", { after: 600 });
  session.assistant({
    think:
      "Measure first. bench/load.mjs exists per package.json? It says node bench/load.mjs; folder wasn't listed. Check.",
    calls: [
      bashFailed(
        "npm run bench",
        "Run the benchmark",
        "Error: Cannot find module '/home/mara/tidepool/bench/load.mjs'",
      ),
      project.read("src/load.ts"),
    ],
  });
  session.assistant({
    text: "The script is in `package.json`, but the file was never committed. I'll write it first: without a number before, there is none after.",
    calls: [
      project.write(
        "bench/load.mjs",
        '// Rows per second for four sizes, into a file on disk. Run: npm run bench\nimport { rmSync } from "node:fs";\nimport Database from "better-sqlite3";\nimport { loadCsv } from "../dist/load.js";\n\nfunction* chunks(rows) {\n  yield "id,name,postcode,ratio\\n";\n  for (let i = 0; i < rows; i++) yield i + ",limpet,00501," + i / 7 + "\\n";\n}\n\nconsole.log("rows      seconds   rows/s     peak MB");\nfor (const rows of [1_000, 10_000, 100_000, 1_000_000]) {\n  rmSync("/tmp/bench.db", { force: true });\n  const start = performance.now();\n  await loadCsv(new Database("/tmp/bench.db"), chunks(rows), { table: "t" });\n  const seconds = (performance.now() - start) / 1000;\n  const peak = Math.round(process.resourceUsage().maxRSS / 1024);\n  console.log(String(rows).padEnd(10) + seconds.toFixed(2).padEnd(10) + String(Math.round(rows / seconds)).padEnd(11) + peak);\n}\n',
      ),
      bash("npm run bench 2>&1 | tail -5", "Benchmark before", benchRun(7_640, [71, 78, 84, 90]), 170),
    ],
  });
  session.assistant({
    think:
      "7,600 rows/s = an fsync each. One transaction per batch of 10k rows: keeps journal bounded; but a failure in the middle leaves half a table. One transaction for the whole file is better for correctness: all or nothing; SQLite's rollback journal only stores original pages; for a new table that is nothing. So one transaction.",
    text: "7,600 rows a second is the disk waiting for each row. One transaction around the whole file fixes that, and makes a load all or nothing.",
    calls: [
      project.edit(
        "src/load.ts",
        "  for await (const chunk of chunks) {",
        '  db.exec("BEGIN IMMEDIATE");\n  for await (const chunk of chunks) {',
      ),
    ],
  });
  session.system("api_error", {
    level: "error",
    error: { status: 529, message: "Overloaded", type: "overloaded_error" },
    retryInMs: 1840,
    retryAttempt: 1,
    maxRetries: 10,
  });
};

const noWal = (session, project) => {
  session.assistant({
    text: "Next I'd also switch the database to WAL mode with `synchronous = OFF`, that gives another",
    calls: [
      project.edit(
        "src/load.ts",
        '  db.exec("BEGIN IMMEDIATE");',
        '  db.pragma("journal_mode = WAL");\n  db.pragma("synchronous = OFF");\n  db.exec("BEGIN IMMEDIATE");',
      ),
    ],
  });
  session.node(
    { type: "user", message: { role: "user", content: [{ type: "text", text: "[Request interrupted by user]" }] } },
    { seconds: 8 },
  );
  session.user(
    "Stop, no WAL and no synchronous off. People mail these .db files around: it has to be one file, and it has to survive a power cut.",
    { after: 12 },
  );
  session.assistant({
    think:
      "Right: WAL leaves -wal and -shm beside it. Take both pragmas out. And finish the transaction: COMMIT at the end, ROLLBACK on error. Currently BEGIN without COMMIT!",
    text: "Understood; both pragmas are out again. What stays is the transaction, which still needs its end:",
    calls: [
      project.edit("src/load.ts", '  db.pragma("journal_mode = WAL");\n  db.pragma("synchronous = OFF");\n', ""),
      project.edit(
        "src/load.ts",
        '  db.exec("BEGIN IMMEDIATE");\n  for await (const chunk of chunks) {',
        '  db.exec("BEGIN IMMEDIATE");\n  try {\n    const result = await loadRows(db, chunks, options);\n    db.exec("COMMIT");\n    return result;\n  } catch (error) {\n    db.exec("ROLLBACK");\n    throw error;\n  }\n}\n\nasync function loadRows(db: Database.Database, chunks: Chunks, options: LoadOptions): Promise<LoadResult> {\n  const reader = new CsvReader(options.delimiter);\n  const loader = new TableLoader(db, options);\n  for await (const chunk of chunks) {',
      ),
    ],
  });
  session.assistant({
    calls: [
      project.editRefused("src/load.ts", "const reader = new CsvReader(options.delimiter);", "", 2),
      project.read("src/load.ts", { offset: 20, limit: 34 }),
    ],
  });
  session.assistant({
    calls: [
      project.edit(
        "src/load.ts",
        '): Promise<LoadResult> {\n  const reader = new CsvReader(options.delimiter);\n  const loader = new TableLoader(db, options);\n  db.exec("BEGIN',
        '): Promise<LoadResult> {\n  db.exec("BEGIN',
      ),
      bash(
        "npm run build 2>&1 | tail -1 && npx vitest run 2>&1 | tail -3 && npm run bench 2>&1 | tail -5",
        "Build, test, benchmark after",
        `> tsc -p .\n Test Files  3 passed (3)\n      Tests  406 passed (406)\n${benchRun(412_500, [73, 80, 86, 93])}`,
        16,
      ),
    ],
  });
  session.assistant({
    text: "From 7,640 to 412,500 rows a second (54 ×), one file, still durable. The 118 MB file loads in 7.6 s. And a load is all or nothing now: an error anywhere rolls everything back.\n\nI'll remember for the rest of this session: **one file, no WAL, survives a power cut.**",
  });
  session.system("turn_duration", { durationMs: 233_410 });
};

const dryRunAndGoodNight = (session, project) => {
  session.user("Why not DuckDB, by the way? A colleague keeps asking.", { after: 400 });
  session.assistant({
    text: 'DuckDB reads CSV very well, and for analysis it would be the better engine. Three reasons for SQLite here: your users open these files with tools that speak SQLite; the format is stable for decades and readable by everything; and you mail the files around, which SQLite is made for. If the question becomes "aggregate 50 GB", the answer changes.',
  });
  session.user(
    "Good, I'll quote that. Add a --dry-run that prints the columns and types without touching the database, then commit and we stop for today.",
    { after: 85 },
  );
  session.assistant({ calls: [project.read("src/cli.ts"), project.grep("SAMPLE_ROWS|inferColumns")] });
  session.assistant({
    calls: [
      project.edit(
        "src/cli.ts",
        'delimiter: { type: "string" } },',
        'delimiter: { type: "string" }, "dry-run": { type: "boolean" } },',
      ),
      project.edit(
        "src/cli.ts",
        "  const db = new Database(database);\n",
        '  if (values["dry-run"]) {\n    for (const [name, type] of await describeCsv(createReadStream(file, "utf8"), values.delimiter)) console.log(type.padEnd(8) + name);\n    return 0;\n  }\n  const db = new Database(database);\n',
      ),
      project.edit("src/cli.ts", "import { loadCsv }", "import { describeCsv, loadCsv }"),
      project.edit("src/cli.ts", "[--delimiter CHAR]", "[--delimiter CHAR] [--dry-run]"),
      project.edit(
        "src/load.ts",
        "async function loadRows(",
        '/** Names and types of the columns, from the header and the first rows; reads no further. */\nexport async function describeCsv(chunks: Chunks, delimiter?: string): Promise<[string, ColumnType][]> {\n  const reader = new CsvReader(delimiter);\n  const rows: (readonly string[])[] = [];\n  for await (const chunk of chunks) {\n    for (const row of reader.push(chunk)) rows.push(row.fields);\n    if (rows.length > SAMPLE_ROWS) break;\n  }\n  const [header = [], ...sample] = rows;\n  const types = inferColumns(header, sample);\n  return header.map((name, index) => [name, types[index] ?? "TEXT"]);\n}\n\nasync function loadRows(',
      ),
    ],
  });
  session.assistant({
    calls: [
      bash(
        "npm run build 2>&1 | tail -1 && node dist/cli.js fixtures/orders.csv nothing.db --dry-run --delimiter ';' && ls nothing.db; npx vitest run 2>&1 | tail -3; git add -A && git commit -qm 'cli: --dry-run; bench' && git status --short | wc -l",
        "Build, try, test, commit",
        "> tsc -p .\nTEXT    Order\nTEXT    Postcode\nTEXT    Red tag\nTEXT    Placed\nls: cannot access 'nothing.db': No such file or directory\n Test Files  3 passed (3)\n      Tests  406 passed (406)\n0",
        8,
      ),
      todos(
        ["completed", "Quotes inside quotes"],
        ["completed", "CRLF line ends"],
        ["completed", "Leading zeros in type inference"],
        ["completed", "Transactions"],
        ["completed", "Streaming"],
        ["completed", "--dry-run"],
      ),
    ],
  });
  session.assistant({
    text: "`--dry-run` prints the four columns and creates nothing. Committed; the tree is clean. Everything on this morning's list is done except what we never wrote down: there are no tests for the CLI itself. Good night!",
  });
  session.system("turn_duration", { durationMs: 36_005 });
};

/** Tells how a load becomes fast and stays safe. */
export const tellSpeed = (session, project) => {
  measure(session, project);
  noWal(session, project);
  dryRunAndGoodNight(session, project);
};
