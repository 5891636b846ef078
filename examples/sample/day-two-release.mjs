// Day two, afternoon: a red build on Windows, the README, standard input, the release and an honest last answer.
import { README } from "./day-two-files.mjs";
import { ciLog, shortRun } from "./outputs.mjs";
import { bash } from "./tools.mjs";

const windows = (session, project) => {
  session.user("CI is red on Windows, green on Linux. Can you look? Log is in /tmp/ci.log", { after: 900 });
  session.assistant({ calls: [bash("cat /tmp/ci.log", "Read the build log", ciLog())] });
  session.assistant({
    think:
      "The test compares a joined path with a literal with forward slashes. The code is right (join). The test is wrong. But check: is the expectation relative? 'D:\\a\\tidepool\\tmp\\orders.rejected.csv' absolute vs 'tmp/orders.rejected.csv'. The message prints an absolute path because the input was given as absolute on Windows runner. Fix the test: compare with join().",
    text: "One failure, and it is the test's: it compares a path with a literal that has forward slashes. The program does the right thing on Windows.",
    calls: [project.read("test/cli.test.ts"), project.grep("tmp/orders")],
  });
  session.assistant({
    calls: [
      project.edit("test/cli.test.ts", 'toBe("tmp/orders.rejected.csv")', 'toBe(join("tmp", "orders.rejected.csv"))'),
      project.edit(
        "test/cli.test.ts",
        'import { expect, it } from "vitest";',
        'import { join } from "node:path";\nimport { expect, it } from "vitest";',
      ),
      bash(
        "npx vitest run test/cli.test.ts 2>&1 | tail -4 && git commit -qam 'test: paths of any platform; exit codes; guess the delimiter' && git push -q && echo pushed",
        "Test, commit, push",
        `${shortRun("test/cli.test.ts", 4)}\npushed`,
        9,
      ),
    ],
  });
  session.assistant({
    text: "Pushed. I could not run Windows here; the fix follows from the log, so please look at the next build.",
  });
  session.user("Green now. 🎉", { after: 420 });
  session.assistant({
    text: "Good to hear. Left on my list: the README still shows only the two arguments of the first version.",
  });
};

const readmeAndStdin = (session, project) => {
  session.node(
    {
      type: "attachment",
      attachment: {
        type: "edited_text_file",
        filename: "/home/mara/tidepool/package.json",
        snippet: '3\t  "version": "0.4.0-rc.1",',
      },
    },
    { seconds: 30 },
  );
  session.user("Write it then. Short: what it does, one example, the options, the exit codes.", { after: 60 });
  session.assistant({
    calls: [
      project.write("README.md", README),
      bash("npx markdownlint README.md && wc -w README.md", "Lint and count", "157 README.md", 3),
    ],
  });
  session.assistant({
    text: "157 words: what it does, one example, a table of options, the exit codes, and the two promises (one file, all or nothing).",
  });
  session.user("Can it read gzip? Partners send .csv.gz", { after: 110 });
  session.assistant({
    think:
      "Could add zlib createGunzip: node built in, no dependency. Or stdin: gunzip -c | tidepool - db. stdin is more general, smaller. Suggest stdin.",
    text: "It could, with Node's own zlib. But reading **standard input** gives you gzip, zstd, curl and everything else for one line of code:\n\n```\ngunzip -c orders.csv.gz | tidepool - orders.db --table orders\n```\n\n`--table` would be required then, since there is no file name to take it from. I'd do that.",
  });
  session.user("Nice, do that.", { after: 15 });
  session.assistant({
    calls: [
      project.edit(
        "src/cli.ts",
        "  const table = values.table ?? basename(file, extname(file));",
        '  if (file === "-" && values.table === undefined) {\n    console.error("tidepool: reading standard input needs --table NAME");\n    return 2;\n  }\n  const table = values.table ?? basename(file, extname(file));\n  const input = file === "-" ? process.stdin.setEncoding("utf8") : createReadStream(file, "utf8");',
      ),
      project.edit("src/cli.ts", 'await loadCsv(db, createReadStream(file, "utf8"), {', "await loadCsv(db, input, {"),
      bash(
        "npm run build 2>&1 | tail -1; printf 'id,name\\n1,limpet\\n' | gzip | gunzip -c | node dist/cli.js - /tmp/s.db --table t; echo exit $?; echo x | node dist/cli.js - /tmp/s.db; echo exit $?",
        "Try standard input",
        "> tsc -p .\nloaded 1 rows into t\nexit 0\ntidepool: reading standard input needs --table NAME\nexit 2",
        6,
      ),
    ],
  });
  session.assistant({
    text: 'Works, and asks for `--table` when it is missing (exit 2). I saw "loaded 1 rows"; I left it, since your support people grep for that line.',
  });
};

const release = (session, project) => {
  session.user(
    "Ha, right, leave it. Let's release: 0.4.0, changelog in plain words, and check what goes into the package.",
    { after: 200 },
  );
  session.assistant({
    calls: [
      project.edit("package.json", '"version": "0.3.0"', '"version": "0.4.0"'),
      project.write(
        "CHANGELOG.md",
        "# Changelog\n\n## 0.4.0\n\n* Postcodes, phone numbers and long ids keep every digit. **Load affected tables again:** zeros that 0.3 dropped are not in the database.\n* Quotes inside quotes, CRLF, lone CR and byte order marks are read as they should be.\n* Files of any size in constant memory, about 50 times as fast; a load is all or nothing.\n* `--key`, `--rejects`, `--dry-run`, standard input (`-`), delimiter guessed.\n* Exit codes: 0 all stored, 1 some rejected, 2 usage, 3 nothing stored.\n",
      ),
      bash(
        "npm pack --dry-run 2>&1",
        "What goes into the package",
        "npm notice 📦  tidepool@0.4.0\nnpm notice Tarball Contents\nnpm notice 702B CHANGELOG.md\nnpm notice 1.2kB README.md\nnpm notice 118.0MB fixtures/orders-2025-full.csv\nnpm notice 2.9kB dist/cli.js\nnpm notice 3.4kB dist/csv.js\nnpm notice 0.7kB dist/delimiter.js\nnpm notice 1.1kB dist/infer.js\nnpm notice 6.2kB dist/load.js\nnpm notice 0.9kB dist/reject-file.js\nnpm notice 512B package.json\nnpm notice package size: 31.8 MB\nnpm notice unpacked size: 118.0 MB",
        5,
      ),
    ],
  });
  session.assistant({
    think:
      "A 118 MB fixture would go along: real orders of a customer, by its name. Add a files list with dist and the changelog; the README is always included.",
    text: "Good that we looked: `fixtures/orders-2025-full.csv`, 118 MB of what look like real orders, would have gone along. A `files` list keeps the package to what it needs.",
    calls: [
      project.edit("package.json", '  "type": "module",', '  "type": "module",\n  "files": ["dist", "CHANGELOG.md"],'),
      bash(
        "npm pack --dry-run 2>&1 | tail -2 && npm test 2>&1 | tail -3 && git add -A && git commit -qm 'release 0.4.0' && git tag v0.4.0 && git log --oneline | head -1",
        "Check again, test, commit, tag",
        "npm notice package size: 6.1 kB\nnpm notice unpacked size: 17.6 kB\n Test Files  4 passed (4)\n      Tests  412 passed (412)\n5d13fe0 (tag: v0.4.0) release 0.4.0",
        11,
      ),
    ],
  });
  session.assistant({
    text: "0.4.0 is committed and tagged (`5d13fe0`), 6.1 kB. I did not publish or push the tag: that is yours to do.",
  });
  session.system("turn_duration", { durationMs: 96_230 });
  session.side({ type: "last-prompt", leafUuid: session.here });
  session.user(
    "Done, published. Last question for today: what would you do next, and what did we promise that we must not forget?",
    { after: 300 },
  );
  session.assistant({
    think:
      "Summarise: promises: one file, no WAL, survive power cut; no new dependencies; numbers only if text survives; all or nothing without --rejects. Next: describeCsv doesn't guess the delimiter (dry-run passes values.delimiter undefined -> comma). That's a real gap: I changed loadRows only. Also exit code 3 isn't implemented: thrown errors exit 1 from node. Must be honest.",
    text: "Promises we made: no new dependencies · one `.db` file, no WAL, safe in a power cut · a number only when its text survives · all or nothing unless `--rejects` is given.\n\nNext, in this order; the first two are **my omissions** and belong into a 0.4.1:\n\n1. `--dry-run` does not guess the delimiter: `describeCsv` in `src/load.ts` still takes the comma. Two lines.\n2. Exit code **3** is documented but never returned: an error thrown while loading ends with Node's 1.\n3. Cut-anywhere tests for `guessDelimiter`: a first chunk that ends inside the header row guesses from half of it.\n4. Progress on standard error for files above, say, 100 MB.",
  });
  session.system("turn_duration", { durationMs: 11_482 });
};

/** Tells how version 0.4.0 gets out. */
export const tellRelease = (session, project) => {
  windows(session, project);
  readmeAndStdin(session, project);
  release(session, project);
};
