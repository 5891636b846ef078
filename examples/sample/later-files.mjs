// Later versions of the fictional project's files, and pieces of them, as the agent writes them in the story.

/** The quoting fix: one character of lookahead. */
export const CSV_QUOTES = {
  before: `      if (ch === '"') {
        quoted = false;
      } else {`,
  after: `      if (ch === '"' && text[i + 1] === '"') {
        field += '"';
        i++;
      } else if (ch === '"') {
        quoted = false;
      } else {`,
};

/** The push parser, with the bug that the story finds. */
export const CSV_STREAMING = String.raw`export interface Row {
  /** Line on which the row begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** A file that is not CSV. The message begins with the line. */
export class CsvError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super("line " + line + ": " + message);
    this.name = "CsvError";
    this.line = line;
  }
}

/**
 * Reads CSV in chunks of any size: a chunk may end between the two halves of a doubled quote or of a CRLF.
 * RFC 4180, with a lone CR as a row end and any delimiter of one character.
 */
export class CsvReader {
  readonly #delimiter: string;
  #fields: string[] = [];
  #field = "";
  #quoted = false;
  /** A quote was read inside quotes: the next character tells whether it ended the field. */
  #closing = false;
  /** A CR was read: an LF that follows belongs to it. */
  #afterCr = false;
  #started = false;
  #first = true;
  #line = 1;
  #rowLine = 1;

  constructor(delimiter = ",") {
    this.#delimiter = delimiter;
  }

  *push(chunk: string): Generator<Row> {
    for (const ch of chunk) {
      if (this.#first) {
        this.#first = false;
        if (ch === "\uFEFF") continue;
      }
      if (this.#afterCr) {
        this.#afterCr = false;
        if (ch === "\n") continue;
      }
      yield* this.#take(ch);
      this.#started = true;
    }
  }

  *end(): Generator<Row> {
    if (this.#closing) this.#quoted = this.#closing = false;
    if (!this.#started) return;
    yield this.#endRow();
  }

  *#take(ch: string): Generator<Row> {
    if (this.#closing) {
      this.#closing = false;
      if (ch === '"') {
        this.#field += ch;
        return;
      }
      this.#quoted = false;
    }
    if (this.#quoted) {
      if (ch === '"') this.#closing = true;
      else {
        if (ch === "\n") this.#line++;
        this.#field += ch;
      }
    } else if (ch === '"') {
      this.#quoted = true;
    } else if (ch === this.#delimiter) {
      this.#fields.push(this.#field);
      this.#field = "";
    } else if (ch === "\n" || ch === "\r") {
      this.#afterCr = ch === "\r";
      yield this.#endRow();
    } else {
      this.#field += ch;
    }
  }

  #endRow(): Row {
    const row = { line: this.#rowLine, fields: [...this.#fields, this.#field] };
    this.#fields = [];
    this.#field = "";
    this.#started = false;
    this.#rowLine = ++this.#line;
    return row;
  }
}

/** Splits CSV text into rows. */
export function parseCsv(text: string, delimiter = ","): Row[] {
  const reader = new CsvReader(delimiter);
  return [...reader.push(text), ...reader.end()];
}
`;

/** The loader that takes rows as they come. */
export const LOAD_STREAMING = `import type Database from "better-sqlite3";
import { CsvReader, type Row } from "./csv.js";
import { inferColumns, type ColumnType } from "./infer.js";

export interface LoadOptions {
  readonly table: string;
  readonly delimiter?: string;
}

export interface LoadResult {
  readonly rows: number;
  readonly columns: readonly string[];
}

export type Chunks = AsyncIterable<string> | Iterable<string>;

const SAMPLE_ROWS = 1000;

const quoteName = (name: string): string => '"' + name.replaceAll('"', '""') + '"';

/** Loads CSV chunks into one table, which is created when it is missing. */
export async function loadCsv(db: Database.Database, chunks: Chunks, options: LoadOptions): Promise<LoadResult> {
  const reader = new CsvReader(options.delimiter);
  const loader = new TableLoader(db, options);
  for await (const chunk of chunks) {
    for (const row of reader.push(chunk)) loader.add(row);
  }
  for (const row of reader.end()) loader.add(row);
  return loader.finish();
}

/** Holds back the first rows until the types are known, then inserts each row as it comes. */
class TableLoader {
  readonly #db: Database.Database;
  readonly #options: LoadOptions;
  #header: Row | undefined;
  #sample: Row[] | undefined = [];
  #types: ColumnType[] = [];
  #insert: Database.Statement | undefined;
  #rows = 0;

  constructor(db: Database.Database, options: LoadOptions) {
    this.#db = db;
    this.#options = options;
  }

  add(row: Row): void {
    if (this.#header === undefined) this.#header = row;
    else if (this.#sample === undefined) this.#write(row);
    else if (this.#sample.push(row) === SAMPLE_ROWS) this.#start();
  }

  finish(): LoadResult {
    if (this.#header === undefined) throw new Error("empty file");
    if (this.#sample !== undefined) this.#start();
    return { rows: this.#rows, columns: this.#header.fields };
  }

  #start(): void {
    const header = this.#header;
    if (header === undefined) return;
    const columns = [...header.fields];
    const sample = this.#sample ?? [];
    this.#sample = undefined;
    this.#types = inferColumns(columns, sample.map((row) => row.fields));
    createTable(this.#db, this.#options.table, columns, this.#types);
    this.#insert = this.#db.prepare(
      "INSERT INTO " + quoteName(this.#options.table) + " VALUES (" + columns.map(() => "?").join(", ") + ")",
    );
    for (const row of sample) this.#write(row);
  }

  #write(row: Row): void {
    this.#insert?.run(row.fields.map((value, index) => convert(value, this.#types[index] ?? "TEXT")));
    this.#rows++;
  }
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
