// Day one, morning: a first look at the inherited project, then quotes inside quotes and line ends.
import { CSV_QUOTES } from "./later-files.mjs";
import { shortRun, testRun } from "./outputs.mjs";
import { bash, bashFailed, todos } from "./tools.mjs";

const firstLook = (session, project) => {
  session.user(
    "Take stock of tidepool, please. It is a half-finished CLI that loads CSV files into SQLite; I inherited it last week. Before we change anything: have a look around, run the tests, and tell me what works and what doesn't.",
  );
  session.assistant({
    think:
      "They want a survey, no edits. I'll list the folder first and read the manifest and the entry point at the same time.",
    text: "I'll look at the layout and the entry point first.",
    calls: [
      bash(
        "git log --oneline | head -5 && ls src test && wc -l src/*.ts",
        "Recent commits and files",
        "4be1c07 (HEAD -> main) wip\n9d20e4a load: create the table when missing\n1f7c3b2 first working import\nsrc:\ncli.ts\ncsv.ts\ninfer.ts\nload.ts\n\ntest:\nconformance.test.ts\ninfer.test.ts\nload.test.ts\n   28 src/cli.ts\n   44 src/csv.ts\n   22 src/infer.ts\n   46 src/load.ts\n  140 total",
      ),
      project.read("package.json"),
      project.read("src/cli.ts"),
    ],
  });
  session.assistant({
    calls: [
      project.read("src/csv.ts"),
      project.read("src/infer.ts"),
      project.read("src/load.ts"),
      project.read("test/conformance.test.ts"),
    ],
  });
  session.node({
    type: "progress",
    data: {
      type: "bash_progress",
      output: " RUN  v4.0.8 /home/mara/tidepool\n",
      fullOutput: " RUN  v4.0.8 /home/mara/tidepool\n",
      elapsedTimeSeconds: 2,
      totalLines: 1,
    },
    toolUseID: "bash-progress-0",
    parentToolUseID: "toolu_01sampleprogress000000",
  });
  session.assistant({
    text: "Now the tests.",
    calls: [bashFailed("npm test 2>&1", "Run all tests", testRun({ broken: ["quote-in-quote", "crlf"] }), 1, 4)],
  });
  session.assistant({
    think:
      "22 failures in two families. quote-in-quote: the parser treats every quote as a toggle, so a doubled quote vanishes. crlf: \\r stays on the last field. Beyond the tests: inferType turns 00501 into 501 - silent data loss, the worst of all. loadCsv inserts without a transaction, so each row is its own fsync. The whole file is read into one string. I should rank by damage.",
    text: 'Small and readable, but not safe yet. In order of damage:\n\n1. **Silent data loss in `src/infer.ts`.** `INTEGER` accepts leading zeros, so a postcode `00501` is stored as `501`. No test covers it.\n2. **Quotes inside quotes are dropped** (`src/csv.ts`): every `"` toggles, so `"say ""hi"""` becomes `say hi`. 12 conformance cases fail.\n3. **CRLF files keep a `\\r`** on the last column of every row. 10 cases fail.\n4. **Slow**: `loadCsv` runs each INSERT in its own transaction.\n5. **The whole file is held in memory**, twice: once as text, once as rows.\n6. Duplicate column names fail inside SQLite with a message that names no column.\n\nWorking: plain fields, embedded newlines, NULL for empty values, table creation. 370 of 392 conformance cases pass, and all 8 other tests.',
  });
  session.system("turn_duration", { durationMs: 41_320 });
};

const quoting = (session, project) => {
  session.user("Great list. Start with 2, the quoting bug. Smallest change that is right, please.", { after: 190 });
  session.assistant({
    think:
      "Inside quotes a quote may be the end, or the first half of a doubled one. Look ahead one character. That is the smallest change; streaming comes later and will need state instead of lookahead.",
    calls: [
      project.edit("src/csv.ts", CSV_QUOTES.before, CSV_QUOTES.after),
      todos(
        ["in_progress", "Quotes inside quotes"],
        ["pending", "CRLF line ends"],
        ["pending", "Leading zeros in type inference"],
        ["pending", "Transactions"],
        ["pending", "Streaming"],
      ),
    ],
  });
  session.assistant({
    calls: [
      bashFailed(
        "npx vitest run test/conformance.test.ts 2>&1 | tail -12",
        "Run the conformance tests",
        shortRun("test/conformance.test.ts", 382, [
          {
            name: "conformance > crlf 01 (and 9 more of its family)",
            text: 'expected [ [ "a1", "b\\r" ], [ "1", "2\\r" ] ] to deeply equal [ [ "a1", "b" ], [ "1", "2" ] ]',
          },
        ]),
        1,
        3,
      ),
    ],
  });
  session.assistant({
    text: "All 12 quoting cases pass. `src/csv.ts` now looks one character ahead inside quotes: two quotes are one, a single one ends the field. Only the 10 CRLF cases are left.",
  });
  session.system("turn_duration", { durationMs: 12_904 });
};

const lineEnds = (session, project) => {
  session.user(
    "CRLF next. Some of our partners also send files from old Macs with a lone \\r, can it take those too?",
    { after: 75 },
  );
  session.assistant({
    think: "Treat \\r as a row end and swallow a following \\n. That covers all three.",
    calls: [
      project.edit(
        "src/csv.ts",
        '} else if (ch === "\\n") {',
        '} else if (ch === "\\n" || ch === "\\r") {\n      if (ch === "\\r" && text[i + 1] === "\\n") i++;',
      ),
      project.edit(
        "test/conformance.test.ts",
        'describe("conformance", () => {',
        'it("takes a lone carriage return as a row end", () => expect(rowsOf("a,b\\r1,2\\r")).toEqual([["a", "b"], ["1", "2"]]));\nit("keeps a carriage return inside quotes", () => expect(rowsOf(\'"a\\r\\nb",c\\n\')).toEqual([["a\\r\\nb", "c"]]));\n\ndescribe("conformance", () => {',
      ),
    ],
  });
  session.assistant({
    calls: [
      bash(
        "npx vitest run test/conformance.test.ts 2>&1 | tail -6",
        "Run the conformance tests",
        shortRun("test/conformance.test.ts", 394),
        3,
      ),
    ],
  });
  session.assistant({
    text: "Yes. `\\n`, `\\r\\n` and a lone `\\r` each end a row; inside quotes they are kept as they are. Two tests added, 394 of 394 pass.",
  });
  session.user("Commit these two separately.", { after: 40 });
  session.assistant({
    calls: [
      bashFailed(
        "git add -p src/csv.ts",
        "Stage the quoting hunk",
        "fatal: --patch needs an interactive terminal here",
        128,
      ),
    ],
  });
  session.assistant({
    think: "No terminal. The hunks are separate, so I can write the first one as a patch to the index.",
    calls: [
      bash(
        "git diff -U0 src/csv.ts > /tmp/csv.patch && filterdiff --hunks=1 /tmp/csv.patch | git apply --cached --unidiff-zero && git commit -qm 'csv: keep quotes inside quotes' && git commit -qam 'csv: end rows at CRLF and lone CR' && git log --oneline | head -3",
        "Commit the hunks one by one",
        "c81d5f0 csv: end rows at CRLF and lone CR\n77aa319 csv: keep quotes inside quotes\n4be1c07 wip",
      ),
    ],
  });
  session.assistant({ text: "Two commits: `77aa319` (quotes) and `c81d5f0` (line ends)." });
};

/** Tells how the parser is understood and repaired. */
export const tellParser = (session, project) => {
  firstLook(session, project);
  quoting(session, project);
  lineEnds(session, project);
};
