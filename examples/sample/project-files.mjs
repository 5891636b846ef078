// The fictional project as the session finds it: tidepool, a command that loads CSV files into SQLite. The bugs are planted.

const packageJson = `{
  "name": "tidepool",
  "version": "0.3.0",
  "type": "module",
  "bin": { "tidepool": "dist/cli.js" },
  "scripts": {
    "build": "tsc -p .",
    "test": "vitest run --reporter=verbose",
    "bench": "node bench/load.mjs"
  },
  "dependencies": { "better-sqlite3": "^12.4.1" },
  "devDependencies": { "@types/better-sqlite3": "^7.6.13", "typescript": "^5.9.3", "vitest": "^4.0.8" }
}
`;

const csv = String.raw`export interface Row {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Splits CSV text into rows. RFC 4180, more or less. */
export function parseCsv(text: string, delimiter = ","): Row[] {
  const rows: Row[] = [];
  let fields: string[] = [];
  let field = "";
  let quoted = false;
  let line = 1;

  for (let i = 0; i < text.length; i++) {
    const ch = text[i];
    if (quoted) {
      if (ch === '"') {
        quoted = false;
      } else {
        field += ch;
      }
      continue;
    }
    if (ch === '"') {
      quoted = true;
    } else if (ch === delimiter) {
      fields.push(field);
      field = "";
    } else if (ch === "\n") {
      fields.push(field);
      rows.push({ line, fields });
      fields = [];
      field = "";
      line++;
    } else {
      field += ch;
    }
  }
  if (field !== "" || fields.length > 0) {
    fields.push(field);
    rows.push({ line, fields });
  }
  return rows;
}
`;

const infer = String.raw`export type ColumnType = "INTEGER" | "REAL" | "TEXT";

const INTEGER = /^[+-]?\d+$/;
const REAL = /^[+-]?\d*\.\d+([eE][+-]?\d+)?$/;

/** The narrowest SQLite type that holds every value of a column. Empty values do not count. */
export function inferType(values: Iterable<string>): ColumnType {
  let type: ColumnType = "INTEGER";
  let seen = 0;
  for (const value of values) {
    if (value === "") continue;
    seen++;
    if (type === "INTEGER" && !INTEGER.test(value)) type = "REAL";
    if (type === "REAL" && !REAL.test(value) && !INTEGER.test(value)) return "TEXT";
  }
  return seen === 0 ? "TEXT" : type;
}

/** Types of all columns, from the first sample rows. */
export function inferColumns(header: readonly string[], sample: readonly (readonly string[])[]): ColumnType[] {
  return header.map((_, index) => inferType(sample.map((row) => row[index] ?? "")));
}
`;

const load = `import Database from "better-sqlite3";
import { parseCsv } from "./csv.js";
import { inferColumns, type ColumnType } from "./infer.js";

export interface LoadOptions {
  readonly table: string;
  readonly delimiter?: string;
}

export interface LoadResult {
  readonly rows: number;
  readonly columns: readonly string[];
}

const SAMPLE_ROWS = 1000;

const quoteName = (name: string): string => '"' + name.replaceAll('"', '""') + '"';

/** Loads CSV text into one table, which is created when it is missing. */
export function loadCsv(db: Database.Database, text: string, options: LoadOptions): LoadResult {
  const rows = parseCsv(text, options.delimiter);
  const header = rows.shift();
  if (header === undefined) throw new Error("empty file");

  const columns = [...header.fields];
  const types = inferColumns(columns, rows.slice(0, SAMPLE_ROWS).map((row) => row.fields));
  createTable(db, options.table, columns, types);

  const insert = db.prepare(
    "INSERT INTO " + quoteName(options.table) + " VALUES (" + columns.map(() => "?").join(", ") + ")",
  );
  for (const row of rows) {
    insert.run(row.fields.map((value, index) => convert(value, types[index] ?? "TEXT")));
  }
  return { rows: rows.length, columns };
}

function createTable(db: Database.Database, table: string, columns: readonly string[], types: readonly ColumnType[]): void {
  const definitions = columns.map((name, index) => quoteName(name) + " " + (types[index] ?? "TEXT"));
  db.exec("CREATE TABLE IF NOT EXISTS " + quoteName(table) + " (" + definitions.join(", ") + ")");
}

function convert(value: string, type: ColumnType): string | number | null {
  if (value === "") return null;
  return type === "TEXT" ? value : Number(value);
}
`;

const cli = `#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { loadCsv } from "./load.js";

const USAGE = "usage: tidepool FILE.csv DATABASE.db [--table NAME] [--delimiter CHAR]";

function main(argv: string[]): number {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { table: { type: "string" }, delimiter: { type: "string" } },
  });
  const [file, database] = positionals;
  if (file === undefined || database === undefined) {
    console.error(USAGE);
    return 2;
  }
  const db = new Database(database);
  const table = values.table ?? basename(file, extname(file));
  const result = loadCsv(db, readFileSync(file, "utf8"), { table, delimiter: values.delimiter });
  console.log("loaded " + result.rows + " rows into " + table);
  return 0;
}

process.exitCode = main(process.argv.slice(2));
`;

const inferTest = `import { expect, it } from "vitest";
import { inferType } from "../src/infer.js";

it("finds whole numbers", () => expect(inferType(["1", "-2", "+3"])).toBe("INTEGER"));
it("finds decimals", () => expect(inferType(["1", "2.5"])).toBe("REAL"));
it("falls back to text", () => expect(inferType(["1", "x"])).toBe("TEXT"));
it("ignores empty values", () => expect(inferType(["", "4"])).toBe("INTEGER"));
it("calls an empty column text", () => expect(inferType(["", ""])).toBe("TEXT"));
`;

const loadTest = String.raw`import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { loadCsv } from "../src/load.js";

const fresh = () => new Database(":memory:");

it("loads rows into a new table", () => {
  const db = fresh();
  expect(loadCsv(db, "id,name\n1,limpet\n2,whelk\n", { table: "t" }).rows).toBe(2);
  expect(db.prepare("SELECT name FROM t WHERE id = 2").get()).toEqual({ name: "whelk" });
});

it("stores empty values as NULL", () => {
  const db = fresh();
  loadCsv(db, "id,name\n1,\n", { table: "t" });
  expect(db.prepare("SELECT name FROM t").get()).toEqual({ name: null });
});

it("refuses an empty file", () => {
  expect(() => loadCsv(fresh(), "", { table: "t" })).toThrow("empty file");
});
`;

/** Families of conformance cases and how many each has: what a verbose test run lists. */
export const FAMILIES = [
  ["plain", 60],
  ["empty-field", 50],
  ["quoted", 70],
  ["quote-in-quote", 12],
  ["newline-in-quote", 40],
  ["crlf", 10],
  ["no-final-newline", 45],
  ["semicolon", 60],
  ["unicode", 45],
];

const conformanceTest = String.raw`import { describe, expect, it } from "vitest";
import { parseCsv } from "../src/csv.js";

type Rows = readonly (readonly string[])[];
type Family = readonly [name: string, count: number, make: (n: number) => readonly [input: string, expected: Rows]];

const rowsOf = (text: string) => parseCsv(text).map((row) => row.fields);

// Families of cases, numbered so that a failure is easy to find. Each gives the input and the rows it must become.
const FAMILIES: readonly Family[] = [
  ["plain", 60, (n) => ["a" + n + ",b\n1,2\n", [["a" + n, "b"], ["1", "2"]]]],
  ["empty-field", 50, (n) => ["a,,c" + n + "\n,,\n", [["a", "", "c" + n], ["", "", ""]]]],
  ["quoted", 70, (n) => ['"x,' + n + '",y\n', [["x," + n, "y"]]]],
  ["quote-in-quote", 12, (n) => ['"say ""' + n + '""",y\n', [['say "' + n + '"', "y"]]]],
  ["newline-in-quote", 40, (n) => ['"up\ndown ' + n + '",y\n', [["up\ndown " + n, "y"]]]],
  ["crlf", 10, (n) => ["a" + n + ",b\r\n1,2\r\n", [["a" + n, "b"], ["1", "2"]]]],
  ["no-final-newline", 45, (n) => ["a,b" + n, [["a", "b" + n]]]],
  ["semicolon", 60, (n) => ["a;b" + n + "\n", [["a;b" + n]]]],
  ["unicode", 45, (n) => ["blå,håv " + n + "\n", [["blå", "håv " + n]]]],
];

const CASES = FAMILIES.flatMap(([name, count, make]) =>
  Array.from({ length: count }, (_, i) => [name + " " + String(i + 1).padStart(2, "0"), ...make(i + 1)] as const),
);

describe("conformance", () => {
  for (const [name, input, expected] of CASES) it(name, () => expect(rowsOf(input)).toEqual(expected));
});
`;

/** Relative path to text, as the session finds the folder. */
export const INITIAL_FILES = {
  "package.json": packageJson,
  "src/cli.ts": cli,
  "src/csv.ts": csv,
  "src/infer.ts": infer,
  "src/load.ts": load,
  "test/conformance.test.ts": conformanceTest,
  "test/infer.test.ts": inferTest,
  "test/load.test.ts": loadTest,
};
