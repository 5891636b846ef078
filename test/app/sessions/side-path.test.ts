import { describe, expect, it } from "vitest";
import { refusalOf } from "../../../src/app/sessions/side-files.ts";

const FOLDER = "sources/x/files";

describe("refusalOf", () => {
  it.each(["subagents/agent-1.jsonl", "a/b/.gitignore", "git", ".github/x", "gitlab~1", "a..b", "ä/ö", "..git", "x y"])(
    "lets %j be stored",
    (path) => expect(refusalOf(path, FOLDER)).toBeNull(),
  );

  it.each([
    [".git", ".git"],
    [".git/HEAD", ".git"],
    ["a/.GIT/config", "a/.GIT"],
    ["a/git~1/x", "a/git~1"],
    ["GIT~2", "GIT~2"],
    [".git. /x", ".git. "],
    [".git::$INDEX_ALLOCATION", ".git::$INDEX_ALLOCATION"],
    ["a/.g\u200cit/x", "a/.g\u200cit"],
    ["a/.gitmodules", "a/.gitmodules"],
    [".gitattributes", ".gitattributes"],
    ["a\tb/c", "a\tb"],
    ["a\nb", "a\nb"],
    ["a\\..\\b", "a\\..\\b"],
    ["a\ufffd", "a\ufffd"],
  ])("refuses %j at %j", (path, at) => {
    expect(refusalOf(path, FOLDER)?.path).toBe(at);
  });

  it("refuses what is too long for some systems, counted in bytes", () => {
    const path = (bytes: number): string => "ä/".repeat(400).slice(0, 600) + "x".repeat(bytes);
    const length = Buffer.byteLength(`${FOLDER}/${path(0)}`);
    expect(refusalOf(path(1024 - length), FOLDER)).toBeNull();
    expect(refusalOf(path(1025 - length), FOLDER)?.reason).toContain("1025 bytes");
  });
});
