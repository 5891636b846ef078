// Day one, noon: a prompt that is taken back, then the parser and the loader become streaming, with better errors.
import { CSV_STREAMING, LOAD_STREAMING } from "./later-files.mjs";
import { shortRun, testRun } from "./outputs.mjs";
import { bash, bashFailed } from "./tools.mjs";

/** The tests beside the conformance families, as a run lists them. */
const OTHER_TESTS = [
  "test/conformance.test.ts > gives the same rows wherever a chunk ends",
  "test/conformance.test.ts > takes a lone carriage return as a row end",
  "test/conformance.test.ts > keeps a carriage return inside quotes",
  "test/infer.test.ts > finds whole numbers",
  "test/infer.test.ts > keeps 00501 as text",
  "test/infer.test.ts > keeps +46701234567 as text",
  "test/infer.test.ts > keeps 9007199254740993 as text",
  "test/infer.test.ts > finds decimals",
  "test/infer.test.ts > falls back to text",
  "test/infer.test.ts > ignores empty values",
  "test/infer.test.ts > calls an empty column text",
  "test/load.test.ts > loads rows into a new table",
  "test/load.test.ts > stores empty values as NULL",
  "test/load.test.ts > refuses an empty file",
];

/** A prompt that the user took back: its branch stays in the file, the conversation goes on from before it. */
const rewound = (session, project) => {
  const before = session.here;
  session.user("Let's not write our own parser then. Replace it with a library, papaparse or similar.", { after: 60 });
  session.assistant({
    think: "A library would handle BOM and streaming. Check what it weighs.",
    text: "I'll compare two candidates and see what the change touches.",
    calls: [
      project.grep("parseCsv"),
      bash(
        "npm view papaparse version dist.unpackedSize && npm view csv-parse version dist.unpackedSize",
        "Versions and sizes",
        "version = '5.5.3'\ndist.unpackedSize = 264013\n\nversion = '6.1.0'\ndist.unpackedSize = 1422780",
      ),
    ],
  });
  session.assistant({
    text: "Both would do; papaparse is the smaller one. Shall I install it and delete `src/csv.ts`?",
  });
  session.wait(70);
  return before;
};

const streamingParser = (session, project, parent) => {
  session.user(
    "No new dependencies. Keep our own parser, but make it streaming: it has to take a 2 GB file in constant memory. Handle the byte order mark there too.",
    { after: 20, parent },
  );
  session.snapshot(session.here, ["src/csv.ts", "src/load.ts", "src/cli.ts"]);
  session.assistant({
    think:
      "A push parser: class CsvReader with push(chunk) and end(), both generators of rows. State instead of lookahead: after a quote inside quotes we don't know yet whether it closes -> 'closing' state. After \\r remember to swallow \\n, also across chunks. BOM: only at the very first character. parseCsv stays as a thin wrapper so that the conformance tests keep their meaning. Test: every case, cut at every position, must give the same rows - strongest test there is.",
    text: 'Plan: a `CsvReader` that is pushed chunks of any size and yields rows. All lookahead becomes state, so that a chunk may end anywhere, even between the two halves of `""` or `\\r\\n`. `parseCsv` stays as a thin wrapper and the conformance tests keep their meaning. The new test cuts **every** conformance case at **every** position.',
    calls: [
      project.write("src/csv.ts", CSV_STREAMING),
      project.edit(
        "test/conformance.test.ts",
        'import { parseCsv } from "../src/csv.js";',
        'import { CsvReader, parseCsv } from "../src/csv.js";',
      ),
      project.edit(
        "test/conformance.test.ts",
        'it("takes a lone carriage return',
        'it("gives the same rows wherever a chunk ends", () => {\n  for (const [, input, expected] of CASES)\n    for (let cut = 0; cut <= input.length; cut++) {\n      const reader = new CsvReader();\n      const rows = [...reader.push(input.slice(0, cut)), ...reader.push(input.slice(cut)), ...reader.end()];\n      expect(rows.map((row) => row.fields)).toEqual(expected);\n    }\n});\n\nit("takes a lone carriage return',
      ),
    ],
  });
  session.assistant({
    calls: [
      bashFailed(
        "npx vitest run test/conformance.test.ts 2>&1 | tail -14",
        "Run the conformance tests",
        shortRun("test/conformance.test.ts", 394, [
          {
            name: "gives the same rows wherever a chunk ends",
            text: 'expected [ [ "a", "", "c1" ], [ "", "", "" ], [ "" ] ] to deeply equal [ [ "a", "", "c1" ], [ "", "", "" ] ]',
          },
        ]),
        1,
        3,
      ),
    ],
  });
  session.assistant({
    think:
      "An extra row [\"\"] after ',,\\n'. end() emits a row when a field was started; 'started' is reset when the row ends, but I set started = true after the row's newline too, because the assignment stands after the switch. Read the code again.",
    calls: [project.read("src/csv.ts")],
  });
  session.assistant({
    text: "`#started` is set after every character, also after the one that ended the row, so `end()` sees a row that never began. It must be set before the row can end.",
    calls: [
      project.edit(
        "src/csv.ts",
        "      yield* this.#take(ch);\n      this.#started = true;",
        "      this.#started = true;\n      yield* this.#take(ch);",
      ),
    ],
  });
  session.assistant({
    calls: [
      bash(
        "npx vitest run test/conformance.test.ts 2>&1 | tail -6",
        "Run the conformance tests",
        shortRun("test/conformance.test.ts", 395),
        4,
      ),
    ],
  });
};

const streamingLoader = (session, project) => {
  session.assistant({
    text: "Green, with every case cut at every position (4,021 cuts). Next, the loader: it must take rows as they come.",
    calls: [project.read("src/load.ts"), project.write("src/load.ts", LOAD_STREAMING)],
  });
  session.assistant({
    calls: [
      project.edit(
        "src/cli.ts",
        "function main(argv: string[]): number {",
        "async function main(argv: string[]): Promise<number> {",
      ),
      project.edit(
        "src/cli.ts",
        'loadCsv(db, readFileSync(file, "utf8"), {',
        'await loadCsv(db, createReadStream(file, "utf8"), {',
      ),
      project.edit("src/cli.ts", "import { readFileSync }", "import { createReadStream }"),
      project.edit("src/cli.ts", "process.exitCode = main(", "process.exitCode = await main("),
      bash(
        'sed -i \'s/loadCsv(db, \\("[^"]*"\\)/await loadCsv(db, [\\1]/; s/, () => {$/, async () => {/\' test/load.test.ts && npm test 2>&1 | tail -40',
        "Adapt the loader tests, run everything",
        testRun({ extra: OTHER_TESTS }).split("\n").slice(-40).join("\n"),
        5,
      ),
    ],
  });
  session.assistant({
    calls: [
      bash(
        "node -e 'for(let i=0;i<3e6;i++)console.log(i+\",limpet,00501,\"+i/7)' > /tmp/big.csv && ls -lh /tmp/big.csv && /usr/bin/time -f '%M KB' node dist/cli.js /tmp/big.csv /tmp/big.db 2>&1 | tail -2",
        "Load a big file and look at the memory",
        "-rw-r--r-- 1 mara mara 118M Mar  9 10:02 /tmp/big.csv\nloaded 2999999 rows into big\n91204 KB",
        390,
      ),
    ],
  });
  session.assistant({
    text: "Constant memory: 91 MB for a 118 MB file, and the same for ten times as much. It took six and a half minutes, though; that is number 4 on the list. The byte order mark is dropped in `CsvReader`, only at the very first character.",
  });
  session.system("turn_duration", { durationMs: 512_870 });
};

const openQuotes = (session, project) => {
  session.user(
    "Error messages: when a quote is never closed I want to know the line where it was opened, not where the file ends.",
    { after: 210 },
  );
  session.assistant({
    think:
      "CsvReader has #rowLine, the line where the row began; a quote may open later in a multi-line row. Keep #quoteLine when a quote opens.",
    calls: [
      project.edit("src/csv.ts", "  #rowLine = 1;", "  #rowLine = 1;\n  #quoteLine = 1;"),
      project.edit(
        "src/csv.ts",
        "      this.#quoted = true;\n",
        "      this.#quoted = true;\n      this.#quoteLine = this.#line;\n",
      ),
      project.edit(
        "src/csv.ts",
        "    if (!this.#started) return;",
        '    if (this.#quoted) throw new CsvError(this.#quoteLine, "this quote is never closed");\n    if (!this.#started) return;',
      ),
    ],
  });
  session.assistant({
    calls: [
      bash(
        "printf 'a,b\\n1,\"oops\\n2,3\\n' > /tmp/open.csv; node dist/cli.js /tmp/open.csv /tmp/x.db; npx vitest run 2>&1 | tail -4",
        "Try it, then all tests",
        " Error: line 2: this quote is never closed\n\n Test Files  3 passed (3)\n      Tests  406 passed (406)",
        5,
      ),
    ],
  });
  session.assistant({
    text: "`line 2: this quote is never closed`: the line of the opening quote. It is a `CsvError` with a `line` field, so the CLI can add the file name.",
  });
};

const duplicateColumns = (session, project) => {
  session.user("And two columns with the same name?", { after: 45 });
  session.assistant({
    think:
      "SQLite column names are case-insensitive: Name and name collide too. Options: refuse, or rename. Refuse with a message is safest? Users with spreadsheet exports often have empty or repeated headers they can't change. Renaming silently changes queries. I'd rename to name_2 and print a warning... A loader in a pipeline: decide explicit. I'll suggest refuse by default.",
    text: 'SQLite compares names without case, so `Name` and `name` collide as well. I would refuse, and say which columns: `columns 2 and 5 are both called "name"`. Renaming to `name_2` on the quiet makes queries mean something else the day the order of columns changes. OK?',
  });
  session.user("Refuse, yes.", { after: 30 });
  session.assistant({
    calls: [
      project.edit(
        "src/load.ts",
        "  const columns = [...header.fields];\n",
        "  const columns = [...header.fields];\n    refuseDuplicates(columns, header.line);\n",
      ),
      project.edit(
        "src/load.ts",
        "function createTable(",
        'function refuseDuplicates(columns: readonly string[], line: number): void {\n  const first = new Map<string, number>();\n  for (const [index, name] of columns.entries()) {\n    const key = name.toLowerCase();\n    const earlier = first.get(key);\n    if (earlier !== undefined) throw new CsvError(line, "columns " + (earlier + 1) + " and " + (index + 1) + " are both called " + quoteName(key));\n    first.set(key, index);\n  }\n}\n\nfunction createTable(',
      ),
    ],
  });
  session.assistant({
    calls: [
      bashFailed(
        "npm run build 2>&1 | tail -3",
        "Build",
        "src/load.ts(47,39): error TS2304: Cannot find name 'CsvError'.",
        2,
        6,
      ),
    ],
  });
  session.assistant({
    calls: [
      project.edit("src/load.ts", "import { CsvReader,", "import { CsvError, CsvReader,"),
      bash(
        "npm run build 2>&1 | tail -1 && npx vitest run 2>&1 | tail -3 && git commit -qam 'load: stream, refuse duplicate columns' && git log --oneline | head -1",
        "Build, test, commit",
        "> tsc -p .\n Test Files  3 passed (3)\n      Tests  406 passed (406)\nd2e77b4 load: stream, refuse duplicate columns",
        9,
      ),
    ],
  });
  session.assistant({ text: "Refused with both positions, ignoring case (`d2e77b4`)." });
};

/** Tells how files of any size are read in constant memory. */
export const tellStreaming = (session, project) => {
  streamingParser(session, project, rewound(session, project));
  streamingLoader(session, project);
  openQuotes(session, project);
  duplicateColumns(session, project);
};
