// @module-tag law
// What a program gets whose batch file jpg starts: the words go through a model of cmd.exe, of `%*` in the batch file, and of the
// rules by which C programs split their command line.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBatchLine } from "../../src/core/batch-line.ts";
import { runs } from "../helpers/runs.ts";

const SCRIPT = String.raw`C:\Users\Ida Nørby\AppData\Roaming\npm\claude.cmd`;

/** What cmd.exe makes of a line: variables are replaced everywhere; signs outside quotes start other commands. */
function readByCmd(line: string, variables: Readonly<Record<string, string>>): string {
  const expanded = line.replace(/%([^%:]+)(:~,)?%/g, (whole, name: string, cut) =>
    cut === undefined ? (variables[name.toLowerCase()] ?? whole) : name === "cd" ? "" : whole,
  );
  return refuseSigns(expanded);
}

function refuseSigns(line: string): string {
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && "&|<>^()".includes(character)) throw new Error(`cmd.exe acts on ${character}`);
  }
  return line;
}

/** Splits a command line as C programs of Windows do since 2008. */
function splitByC(line: string): readonly string[] {
  const words: string[] = [];
  let [word, isQuoted] = [null as string | null, false];
  for (const [piece] of line.matchAll(/\\*"+|[\s\S]/g)) {
    if (!isQuoted && /^[ \t]$/.test(piece)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (!piece.endsWith('"')) word = (word ?? "") + piece;
    else {
      const slashes = piece.indexOf('"');
      word = (word ?? "") + "\\".repeat(Math.floor(slashes / 2));
      const quotes = [...piece.slice(slashes)];
      if (slashes % 2 === 1) word += quotes.shift();
      while (quotes.length > 0) {
        quotes.shift();
        // A quote that follows the one that ends a quotation is part of the word, and continues it.
        if (isQuoted && quotes.length > 0) word += quotes.shift();
        else isQuoted = !isQuoted;
      }
    }
  }
  if (word !== null) words.push(word);
  return words;
}

/** The words that the program of a batch file gets. */
function received(args: readonly string[]): readonly string[] {
  const line = formatBatchLine(SCRIPT, args);
  expect([line.at(0), line.at(-1)]).toEqual(['"', '"']);
  const called = readByCmd(line.slice(1, -1), { path: String.raw`C:\x" & calc & "`, "": "never" });
  const start = `"${SCRIPT}"`;
  expect(called.startsWith(start)).toBe(true);
  // The batch file puts what follows its name into a line of its own, which is not expanded again.
  return splitByC(refuseSigns(called.slice(start.length)));
}

describe("the line for a batch file", () => {
  it.each<[string, string]>([
    ["--resume", "--resume"],
    [String.raw`C:\a\b.txt`, String.raw`C:\a\b.txt`],
    ["", '""'],
    ["two words", '"two words"'],
    ["a&calc", '"a&calc"'],
    ['say "hi" & calc', '"say ""hi"" & calc"'],
    [String.raw`\"& calc`, String.raw`"\\""& calc"`],
    ["C:\\dir\\", String.raw`"C:\dir\\"`],
    ["100%", '"100%%cd:~,%"'],
    ["%PATH%", '"%%cd:~,%PATH%%cd:~,%"'],
    ["^!(x)", '"^!(x)"'],
  ])("quotes %s", (word, quoted) => {
    expect(formatBatchLine(SCRIPT, [word])).toBe(`""${SCRIPT}" ${quoted}"`);
    expect(received([word])).toEqual([word]);
  });

  it("gives the program the same words, and starts nothing else", () => {
    const word = fc.string({
      unit: fc.constantFrom(
        '"',
        "\\",
        "%",
        "&",
        "|",
        "^",
        "<",
        ">",
        "(",
        ")",
        "!",
        " ",
        "\t",
        ",",
        ";",
        "=",
        "a",
        "é",
        "PATH",
        "cd:~,",
      ),
    });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        expect(received(words)).toEqual(words);
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each(["a\nb", "a\rb", "a\0b"])("refuses what cmd.exe ends the line at", (word) => {
    expect(() => formatBatchLine(SCRIPT, ["ok", word])).toThrow(expect.objectContaining({ code: "argument_unfit" }));
  });
});
