// Day two: rejected rows, a wish typed while the agent works, exit codes and guessed delimiters.
import { CLI_TEST } from "./day-two-files.mjs";
import { shortRun } from "./outputs.mjs";
import { bash, bashFailed } from "./tools.mjs";

const rejects = (session, project) => {
  session.user(
    "One bad row should not stop a million good ones. With --rejects, put bad rows into a file next to the input and go on. Still all or nothing without it.",
    { after: 240 },
  );
  session.assistant({
    think:
      "What is a bad row? wrong number of fields; empty key. A quote never closed is not a row, it stays fatal. Reject file: <input>.rejected.csv with the raw fields plus line and reason columns? Keep it loadable: same columns, plus two at the end: _line, _reason. Then fix & reload. Note: wrong field count rows today - SQLite's run() would throw 'Too few parameter values'. So line numbers needed.",
    text: "Bad = wrong number of fields or an empty key. An unclosed quote stays fatal: after it nothing is a row any more. The rejects file gets the original fields plus `_line` and `_reason`, so it can be repaired and loaded again.",
    calls: [project.read("src/load.ts", { offset: 70, limit: 40 })],
  });
  session.side({
    type: "queue-operation",
    operation: "enqueue",
    timestamp: session.now,
    content: "and print how many were rejected at the end, support always asks",
  });
};

const queuedWish = (session, project) => {
  session.assistant({
    calls: [
      project.edit(
        "src/load.ts",
        '    const key = this.#options.key;\n    if (key !== undefined && (row.fields[this.#header?.fields.indexOf(key) ?? -1] ?? "") === "") throw new CsvError(row.line, "the key " + key + " is empty");\n',
        "    const fault = this.#faultOf(row);\n    if (fault !== undefined) {\n      if (this.#options.onReject === undefined) throw new CsvError(row.line, fault);\n      this.#options.onReject(row, fault);\n      return;\n    }\n",
      ),
      project.edit(
        "src/load.ts",
        "  #write(row: Row): void {\n",
        '  #faultOf(row: Row): string | undefined {\n    const columns = this.#header?.fields ?? [];\n    if (row.fields.length !== columns.length) return row.fields.length + " fields, expected " + columns.length;\n    const key = this.#options.key;\n    if (key !== undefined && row.fields[columns.indexOf(key)] === "") return "the key " + key + " is empty";\n    return undefined;\n  }\n\n  #write(row: Row): void {\n',
      ),
      project.edit(
        "src/load.ts",
        "  readonly key?: string;\n}",
        "  readonly key?: string;\n  /** Takes rows that cannot be stored; absent = the first one ends the load. */\n  readonly onReject?: (row: Row, reason: string) => void;\n}",
      ),
    ],
  });
  session.side({ type: "queue-operation", operation: "remove", timestamp: session.now });
  session.attach({
    type: "queued_command",
    prompt: "and print how many were rejected at the end, support always asks",
    commandMode: "prompt",
  });
  session.assistant({
    think: "A message came in while I worked: print the number of rejected rows. Do that in the CLI.",
    text: "Noted: the count goes into the last line.",
    calls: [
      project.edit(
        "src/cli.ts",
        'key: { type: "string" } },',
        'key: { type: "string" }, rejects: { type: "boolean" } },',
      ),
      project.edit(
        "src/cli.ts",
        "  const result = await loadCsv(",
        '  const rejects = values.rejects ? new RejectFile(join(dirname(file), basename(file, extname(file)) + ".rejected.csv")) : undefined;\n  const result = await loadCsv(',
      ),
      project.edit("src/cli.ts", "key: values.key }", "key: values.key, onReject: rejects?.add }"),
      project.edit(
        "src/cli.ts",
        'console.log("loaded " + result.rows + " rows into " + table);',
        'console.log("loaded " + result.rows + " rows into " + table + (rejects === undefined ? "" : ", rejected " + rejects.count));',
      ),
      project.edit("src/cli.ts", "import { basename, extname }", "import { basename, dirname, extname, join }"),
      project.edit(
        "src/cli.ts",
        'import { describeCsv, loadCsv } from "./load.js";',
        'import { describeCsv, loadCsv } from "./load.js";\nimport { RejectFile } from "./reject-file.js";',
      ),
      project.write(
        "src/reject-file.ts",
        'import { writeFileSync, appendFileSync } from "node:fs";\nimport type { Row } from "./csv.js";\n\nconst quote = (field: string): string => (/[",\\r\\n]/.test(field) ? \'"\' + field.replaceAll(\'"\', \'""\') + \'"\' : field);\n\n/** Rows that could not be stored, with line and reason, in a file that can be repaired and loaded again. */\nexport class RejectFile {\n  readonly path: string;\n  count = 0;\n\n  constructor(path: string) {\n    this.path = path;\n  }\n\n  /** An arrow, so that it can be handed over as it is. */\n  readonly add = (row: Row, reason: string): void => {\n    if (this.count++ === 0) writeFileSync(this.path, "");\n    appendFileSync(this.path, [...row.fields, String(row.line), reason].map(quote).join(",") + "\\n");\n  };\n}\n',
      ),
    ],
  });
};

const rejectsHeader = (session, project) => {
  session.assistant({
    calls: [
      project.write("test/cli.test.ts", CLI_TEST),
      bashFailed(
        "npm run build 2>&1 | tail -1 && npx vitest run test/cli.test.ts 2>&1 | tail -8",
        "Build and run the new CLI tests",
        `> tsc -p .\n${shortRun("test/cli.test.ts", 3, [{ name: "writes rejected rows next to the input", text: "expected '1,2,3,2,\"3 fields, expected 2\"\\n' to be 'a,b,_line,_reason\\n1,2,3,2,\"3 fields, expected 2\"\\n'" }])}`,
        1,
        8,
      ),
    ],
  });
  session.assistant({
    think:
      "No header row in the rejects file. And the reason has a comma, so it needs quotes: correct, but a poor idea in a file that people repair by hand. Hand the header over with each reject, and reword the reason.",
    text: "The file has no header yet, and a reason with a comma in it is a poor idea in a file that people repair by hand. Both changed:",
    calls: [
      project.edit(
        "src/reject-file.ts",
        '  readonly add = (row: Row, reason: string): void => {\n    if (this.count++ === 0) writeFileSync(this.path, "");',
        '  readonly add = (row: Row, reason: string, header: readonly string[]): void => {\n    if (this.count++ === 0) writeFileSync(this.path, [...header, "_line", "_reason"].map(quote).join(",") + "\\n");',
      ),
      project.edit(
        "src/load.ts",
        "(row: Row, reason: string) => void",
        "(row: Row, reason: string, header: readonly string[]) => void",
      ),
      project.edit(
        "src/load.ts",
        "this.#options.onReject(row, fault);",
        "this.#options.onReject(row, fault, this.#header?.fields ?? []);",
      ),
      project.edit("src/load.ts", '" fields, expected "', '" fields instead of "'),
      project.edit("test/cli.test.ts", '"3 fields, expected 2"', "3 fields instead of 2"),
    ],
  });
  session.assistant({
    calls: [
      bash(
        "npm run build 2>&1 | tail -1 && npx vitest run 2>&1 | tail -4 && git add -A && git commit -qm 'load: --key and --rejects' && git log --oneline | head -1",
        "Build, test, commit",
        "> tsc -p .\n\n Test Files  4 passed (4)\n      Tests  412 passed (412)\n0c7712d load: --key and --rejects",
        10,
      ),
    ],
  });
  session.assistant({
    text: "`--rejects` writes `orders.rejected.csv` beside `orders.csv`, with header, line and reason, and the last line says `loaded 999998 rows into orders, rejected 2`. Without the option the first bad row still rolls everything back. Committed as `0c7712d`.",
  });
  session.system("turn_duration", { durationMs: 402_118 });
};

const exitCodesAndDelimiters = (session, project) => {
  session.user("What does it exit with when rows were rejected? The nightly job only looks at the exit code.", {
    after: 150,
  });
  session.assistant({
    text: "With 0 today, so the job would not notice. I suggest: 0 all rows stored · 1 some rejected · 2 wrong usage · 3 nothing stored. Shall I?",
  });
  session.user("Yes. And guess the delimiter when none is given, half of our files are semicolons.", { after: 20 });
  session.assistant({
    think:
      "Guess from the first line only, outside quotes: count candidates , ; tab |. Take the most frequent; tie -> comma. Must be in the stream: peek at the first chunk. A header with a single column has no delimiter -> comma.",
    calls: [
      project.edit(
        "src/cli.ts",
        '  console.log("loaded ',
        '  const code = rejects !== undefined && rejects.count > 0 ? 1 : 0;\n  console.log("loaded ',
      ),
      project.edit("src/cli.ts", "rejects.count));\n  return 0;", "rejects.count));\n  return code;"),
      project.write(
        "src/delimiter.ts",
        'const CANDIDATES = [",", ";", "\\t", "|"] as const;\n\n/** The delimiter that occurs most often in the first row, outside quotes; a comma when none does. */\nexport function guessDelimiter(head: string): string {\n  const counts = new Map<string, number>();\n  let quoted = false;\n  for (const ch of head) {\n    if (ch === \'"\') quoted = !quoted;\n    else if (!quoted && (ch === "\\n" || ch === "\\r")) break;\n    else if (!quoted) counts.set(ch, (counts.get(ch) ?? 0) + 1);\n  }\n  return CANDIDATES.reduce((best, next) => ((counts.get(next) ?? 0) > (counts.get(best) ?? 0) ? next : best));\n}\n',
      ),
      project.grep("delimiter", { under: "src" }),
    ],
  });
};

const delimiterInStream = (session, project) => {
  session.assistant({
    calls: [
      project.edit(
        "src/load.ts",
        "  const reader = new CsvReader(options.delimiter);\n  const loader",
        "  let reader: CsvReader | undefined;\n  const loader",
      ),
      project.edit(
        "src/load.ts",
        "    for (const row of reader.push(chunk)) loader.add(row);\n",
        "    reader ??= new CsvReader(options.delimiter ?? guessDelimiter(chunk));\n    for (const row of reader.push(chunk)) loader.add(row);\n",
      ),
      bashFailed(
        "npm run build 2>&1 | tail -4",
        "Build",
        "src/load.ts(66,21): error TS18048: 'reader' is possibly 'undefined'.\nsrc/load.ts(64,50): error TS2304: Cannot find name 'guessDelimiter'.",
        2,
        6,
      ),
    ],
  });
  session.assistant({
    calls: [
      project.edit(
        "src/load.ts",
        "  for (const row of reader.end()) loader.add(row);",
        "  for (const row of reader?.end() ?? []) loader.add(row);",
      ),
      project.edit(
        "src/load.ts",
        "import { inferColumns,",
        'import { guessDelimiter } from "./delimiter.js";\nimport { inferColumns,',
      ),
      bash(
        "npm run build 2>&1 | tail -1 && npx vitest run 2>&1 | tail -3 && node dist/cli.js fixtures/orders.csv /tmp/o.db; echo exit $?",
        "Build, test, try",
        "> tsc -p .\n Test Files  4 passed (4)\n      Tests  412 passed (412)\nloaded 2 rows into orders\nexit 0",
        9,
      ),
    ],
  });
  session.assistant({
    text: "Both done. The guess looks at the first row only, outside quotes; `--delimiter` still wins. Exit codes: 0 all stored, 1 some rejected, 2 usage, 3 nothing stored.",
  });
};

/** Tells how bad rows are set aside. */
export const tellRejects = (session, project) => {
  rejects(session, project);
  queuedWish(session, project);
  rejectsHeader(session, project);
  exitCodesAndDelimiters(session, project);
  delimiterInStream(session, project);
};
