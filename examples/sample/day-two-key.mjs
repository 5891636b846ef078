// Day two: --key. In the middle of this turn the agent runs out of context and compacts itself.
import { COMPACTION_SUMMARY } from "./day-two-files.mjs";
import { shortRun } from "./outputs.mjs";
import { bash, bashFailed, todos } from "./tools.mjs";

const morning = (session) => {
  session.wait(27 * 3600);
  session.resumeAs("2.1.199");
  session.side({ type: "last-prompt", leafUuid: session.here });
  session.side({ type: "mode", mode: "normal" });
  session.side({ type: "permission-mode", permissionMode: "acceptEdits" });
  session.attach({ type: "date_change", newDate: "2026-03-10" });
};

/** The first half of the turn in which the agent runs out of context. */
const keyBeforeCompaction = (session, project) => {
  session.user(
    "Morning! New problem: when somebody loads the same file twice the rows are there twice. Add --key COLUMN: a row whose key is already in the table replaces the old one.",
    { after: 5 },
  );
  session.side({ type: "ai-title", aiTitle: "Make tidepool's CSV import safe, streaming and fast" });
  session.assistant({
    think:
      "SQLite upsert: INSERT ... ON CONFLICT(key) DO UPDATE needs a unique index on the key column. For a new table create it; for an existing table create unique index IF NOT EXISTS, which fails when duplicates are present already - message must say that. INSERT OR REPLACE is simpler but deletes and re-inserts the row (rowid changes, triggers). Use upsert with explicit columns. Also: key column must exist; key value must not be empty (NULLs are distinct in unique indexes => duplicates again!). That's the trap.",
    text: "One trap first: in SQLite two NULLs are never equal, so rows with an **empty key** would be doubled even with a unique index. I'd refuse those rows and name the line. Let me look at the state of things.",
    calls: [
      project.read("src/load.ts"),
      project.read("src/cli.ts"),
      bash(
        "git log --oneline | head -8 && sqlite3 --version",
        "Recent commits, SQLite version",
        "e90a1f3 cli: --dry-run; bench\nd2e77b4 load: stream, refuse duplicate columns\na5f09de infer: numbers only when the text survives\nc81d5f0 csv: end rows at CRLF and lone CR\n77aa319 csv: keep quotes inside quotes\n4be1c07 wip\n9d20e4a load: create the table when missing\n1f7c3b2 first working import\n3.46.1 2024-08-13",
      ),
    ],
  });
};

const upsertStatement = (session, project) => {
  session.assistant({
    text: "I'll start with the options and the statement.",
    calls: [
      todos(
        ["in_progress", "--key: options and statement"],
        ["pending", "--key: unique index, empty keys"],
        ["pending", "--key: tests"],
        ["pending", "README"],
      ),
      project.edit(
        "src/load.ts",
        "  readonly delimiter?: string;\n}\n\nexport interface LoadResult",
        "  readonly delimiter?: string;\n  /** Column that identifies a row: a row with a known key replaces the old one. */\n  readonly key?: string;\n}\n\nexport interface LoadResult",
      ),
      project.edit(
        "src/load.ts",
        '    this.#insert = this.#db.prepare(\n      "INSERT INTO " + quoteName(this.#options.table) + " VALUES (" + columns.map(() => "?").join(", ") + ")",\n    );',
        "    this.#insert = this.#db.prepare(insertStatement(this.#options, columns));",
      ),
      project.edit(
        "src/load.ts",
        "function createTable(",
        'function insertStatement({ table, key }: LoadOptions, columns: readonly string[]): string {\n  const insert = "INSERT INTO " + quoteName(table) + " VALUES (" + columns.map(() => "?").join(", ") + ")";\n  if (key === undefined) return insert;\n  const others = columns.filter((name) => name !== key).map((name) => quoteName(name) + " = excluded." + quoteName(name));\n  return insert + " ON CONFLICT (" + quoteName(key) + ") DO " + (others.length === 0 ? "NOTHING" : "UPDATE SET " + others.join(", "));\n}\n\nfunction createTable(',
      ),
    ],
  });
  session.attach({
    type: "diagnostics",
    files: [
      {
        uri: "/home/mara/tidepool/src/load.ts",
        diagnostics: [
          {
            message: "'key' is declared but its value is never checked against the columns.",
            severity: "Hint",
            range: { start: { line: 96, character: 2 }, end: { line: 96, character: 5 } },
            source: "ts",
            code: "6133",
          },
        ],
      },
    ],
    isNew: true,
  });
  session.assistant({
    calls: [
      bashFailed(
        'npm run build 2>&1 | tail -1 && node -e \'import("./dist/load.js").then(async ({ loadCsv }) => loadCsv(new (await import("better-sqlite3")).default(":memory:"), ["id,name\\n1,limpet\\n"], { table: "t", key: "id" }))\'',
        "Build and try a load with a key",
        "> tsc -p .\nSqliteError: ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint\n    at Database.prepare (node_modules/better-sqlite3/lib/methods/wrappers.js:5:21)\n    at TableLoader.#start (dist/load.js:71:37)",
        1,
        6,
      ),
      project.grep("CREATE TABLE|ON CONFLICT|INSERT INTO"),
    ],
  });
};

const keyAfterCompaction = (session, project) => {
  session.compact(COMPACTION_SUMMARY);
  session.attach({
    type: "compact_file_reference",
    filename: "/home/mara/tidepool/src/load.ts",
    displayPath: "src/load.ts",
  });
  session.assistant({
    text: "The statement is in place; what is missing is the unique index, the check of the key column, and the empty keys.",
    calls: [project.read("src/load.ts", { offset: 84, limit: 40 })],
  });
  session.assistant({
    calls: [
      project.edit(
        "src/load.ts",
        "    createTable(this.#db, this.#options.table, columns, this.#types);\n",
        "    createTable(this.#db, this.#options.table, columns, this.#types);\n    if (this.#options.key !== undefined) createKeyIndex(this.#db, this.#options.table, this.#options.key, columns, header.line);\n",
      ),
      project.edit(
        "src/load.ts",
        "function insertStatement(",
        'function createKeyIndex(db: Database.Database, table: string, key: string, columns: readonly string[], line: number): void {\n  if (!columns.includes(key)) throw new CsvError(line, "no column is called " + quoteName(key) + "; there are: " + columns.join(", "));\n  try {\n    db.exec("CREATE UNIQUE INDEX IF NOT EXISTS " + quoteName(table + "_key_" + key) + " ON " + quoteName(table) + " (" + quoteName(key) + ")");\n  } catch (cause) {\n    throw new Error("table " + table + " already holds rows with the same " + key + ": remove them first", { cause });\n  }\n}\n\nfunction insertStatement(',
      ),
      project.edit(
        "src/load.ts",
        "  #write(row: Row): void {\n",
        '  #write(row: Row): void {\n    const key = this.#options.key;\n    if (key !== undefined && (row.fields[this.#header?.fields.indexOf(key) ?? -1] ?? "") === "") throw new CsvError(row.line, "the key " + key + " is empty");\n',
      ),
      project.edit(
        "src/cli.ts",
        '"dry-run": { type: "boolean" } },',
        '"dry-run": { type: "boolean" }, key: { type: "string" } },',
      ),
      project.edit(
        "src/cli.ts",
        "{ table, delimiter: values.delimiter }",
        "{ table, delimiter: values.delimiter, key: values.key }",
      ),
    ],
  });
  session.assistant({
    calls: [
      project.edit(
        "test/load.test.ts",
        'it("refuses an empty file"',
        'it("replaces rows with a known key", async () => {\n  const db = fresh();\n  await loadCsv(db, ["id,name\\n1,limpet\\n2,whelk\\n"], { table: "t", key: "id" });\n  await loadCsv(db, ["id,name\\n2,dogwhelk\\n"], { table: "t", key: "id" });\n  expect(db.prepare("SELECT name FROM t ORDER BY id").pluck().all()).toEqual(["limpet", "dogwhelk"]);\n});\n\nit("names the line of an empty key", async () => {\n  await expect(loadCsv(fresh(), ["id,name\\n,limpet\\n"], { table: "t", key: "id" })).rejects.toThrow("line 2: the key id is empty");\n});\n\nit("refuses an empty file"',
      ),
      bash(
        "npm run build 2>&1 | tail -1 && npx vitest run test/load.test.ts 2>&1 | tail -5",
        "Build and run the loader tests",
        `> tsc -p .\n${shortRun("test/load.test.ts", 5)}`,
        7,
      ),
    ],
  });
  session.assistant({
    text: "`--key` works. Loading the same file twice leaves the same rows; a key that is empty, unknown, or already doubled in the table is refused, with the line or the table named. `SET` leaves the other rows untouched, no deletes. The error from before was only the missing index.",
  });
  session.system("turn_duration", { durationMs: 318_664 });
};

/** Tells how loading a file twice stops doubling its rows. */
export const tellKey = (session, project) => {
  morning(session);
  keyBeforeCompaction(session, project);
  upsertStatement(session, project);
  keyAfterCompaction(session, project);
};
