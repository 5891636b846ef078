import { describe, expect, it } from "vitest";
import { commandsRun, filesNamed, firstLine } from "../../../src/core/compact/hidden-content.ts";

describe("traces of a call", () => {
  it.each<[unknown, string[]]>([
    [{ file_path: "a.ts" }, ["a.ts"]],
    [{ path: "a", other: "b" }, ["a"]],
    [{ paths: ["a", "b", 3, ""] }, ["a", "b"]],
    [{ edits: [{ filePath: "a" }, { filePath: "b" }] }, ["a", "b"]],
    [{ file_path: 7 }, []],
    [{ path: "b", files: ["a", "b"], notebook_path: "a\nb" }, ["b", "a", "b", "a"]],
    [{ edits: ["c", { path: "a" }, [{ path: "b" }]], one: { path: "d" } }, ["a", "b"]],
    [
      [{ path: "a" }, { filename: "b" }],
      ["a", "b"],
    ],
    ["a.ts", []],
    [null, []],
    [undefined, []],
  ])("name in %j the files %j", (args, files) => {
    expect(filesNamed(args)).toEqual(files);
  });

  it.each<[unknown, string[]]>([
    [{ command: "npm test\nnpm run lint" }, ["npm test"]],
    [{ cmd: ["bash", "-lc", "ls"] }, ["bash -lc ls"]],
    [{ command: " " }, []],
    [{ command: "", cmd: "ls", other: "rm", script: " pwd " }, ["ls", "pwd"]],
    [{ cmd: ["ls", 7, "-l"] }, ["ls -l"]],
    [{ cmd: [] }, []],
    [{ command: 7 }, []],
    ["ls", []],
    [null, []],
    [undefined, []],
  ])("name in %j the commands %j", (args, commands) => {
    expect(commandsRun(args)).toEqual(commands);
  });

  it("are shortened to one line", () => {
    expect(firstLine("\n  one\r\ntwo")).toBe("one");
    expect(firstLine("one  \n\ntwo")).toBe("one  ");
    expect(firstLine(" \n ")).toBe("");
    expect(firstLine("x".repeat(120))).toBe("x".repeat(120));
    expect(firstLine("x".repeat(121))).toBe(`${"x".repeat(119)}…`);
  });
});
