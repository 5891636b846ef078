import { describe, expect, it } from "vitest";
import { commandsRun, filesNamed, firstLine } from "../../src/core/call-traces.ts";

describe("traces of a call", () => {
  it.each<[unknown, string[]]>([
    [{ file_path: "a.ts" }, ["a.ts"]],
    [{ path: "a", other: "b" }, ["a"]],
    [{ paths: ["a", "b", 3, ""] }, ["a", "b"]],
    [{ edits: [{ filePath: "a" }, { filePath: "b" }] }, ["a", "b"]],
    [{ file_path: 7 }, []],
    ["a.ts", []],
    [null, []],
  ])("name in %j the files %j", (args, files) => {
    expect(filesNamed(args)).toEqual(files);
  });

  it.each<[unknown, string[]]>([
    [{ command: "npm test\nnpm run lint" }, ["npm test"]],
    [{ cmd: ["bash", "-lc", "ls"] }, ["bash -lc ls"]],
    [{ command: " " }, []],
    [undefined, []],
  ])("name in %j the commands %j", (args, commands) => {
    expect(commandsRun(args)).toEqual(commands);
  });

  it("are shortened to one line", () => {
    expect(firstLine("\n  one\r\ntwo")).toBe("one");
    expect(firstLine("x".repeat(300))).toHaveLength(120);
  });
});
