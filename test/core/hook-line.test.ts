import { describe, expect, it } from "vitest";
import { plainLine } from "../../src/core/hook-line.ts";

describe("a line that the shells of Windows read alike", () => {
  it.each([
    [["C:\\npm\\jpg.cmd", "keep", "codex"], "C:\\npm\\jpg.cmd keep codex"],
    [
      ["C:\\Users\\Löw\\npm\\jpg.cmd", "keep", "gemini-cli", "note"],
      "C:\\Users\\Löw\\npm\\jpg.cmd keep gemini-cli note",
    ],
    [["d:\\node.exe", "d:\\jpg\\bin\\jpg.js", "keep", "pi"], "d:\\node.exe d:\\jpg\\bin\\jpg.js keep pi"],
  ])("is made of plain words: %j", (words, line) => {
    expect(plainLine(words)).toBe(line);
  });

  // Everything that one of cmd.exe, PowerShell, or Rust's quoting around the line treats in a way of its own.
  it.each([..." \t\n\"'`^%!&|<>()[]{};,=@#$*?/~+"])("there is none with %j in a word", (character) => {
    expect(plainLine([`C:\\a${character}b\\jpg.cmd`, "keep"])).toBeNull();
    expect(plainLine(["C:\\npm\\jpg.cmd", character])).toBeNull();
  });

  it("there is none with an empty word, or a colon elsewhere", () => {
    for (const word of ["", "jpg:stream", "C:jpg", "CC:\\jpg"]) expect(plainLine([word])).toBeNull();
  });
});
