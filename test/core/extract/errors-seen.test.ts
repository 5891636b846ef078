import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/event/event.ts";
import { errorsSeen } from "../../../src/core/extract/errors-seen.ts";
import { listToolCalls } from "../../../src/core/tools/tool-call.ts";
import { type CallSpec, call, callTurns } from "../../helpers/call-conversation.ts";

const seen = (...turns: readonly (readonly CallSpec[])[]): readonly (readonly [number, string])[] =>
  errorsSeen(listToolCalls(callTurns(...turns))).map(({ turn, line }) => [turn, line]);
const lines = (...calls: readonly CallSpec[]): readonly string[] => seen(calls).map(([, line]) => line);
const bash = (result: string | null, isError = false): CallSpec => ({
  ...call("Bash", { command: "make" }, result),
  isError,
});
const edit = (result: string): CallSpec => ({ ...call("Edit", { file_path: "a.ts" }, result), isError: true });

describe("errorsSeen", () => {
  it("takes the lines of commands, of unknown tools and of all that failed", () => {
    const text = "Error: in here";
    const calls = [
      { ...call("Read", { file_path: "a.ts" }, text) },
      { ...call("Grep", { path: "a.ts" }, text) },
      { ...call("Edit", { file_path: "a.ts" }, text) },
    ];
    expect(lines(...calls)).toEqual([]);
    for (const one of calls) expect(lines({ ...one, isError: true })).toEqual([text]);
    expect(lines(bash(text))).toEqual([text]);
    expect(lines(call("deploy", {}, text))).toEqual([text]);
    expect(lines(bash(null))).toEqual([]);
  });

  it("counts lines that are equal but for numbers once, where the last was seen", () => {
    const turns = [[bash("Error: at 12 of 345"), bash("Error: other")], [bash("Error: at 6 of 7")]];
    expect(seen(...turns)).toEqual([
      [0, "Error: other"],
      [1, "Error: at 6 of 7"],
    ]);
    const long = (end: string): string => `Error: ${"a".repeat(93)}${end}`;
    expect(lines(bash(`${long("x")}\n${long("y")}`))).toEqual([long("y")]);
    expect(lines(bash(`${long("x").slice(1)}\nError ${long("y")}`))).toHaveLength(1);
  });

  it("dates an error by the turn of the result", () => {
    const [asked, answered] = callTurns([bash(null)], []);
    const result: Event = {
      type: "tool_call_response",
      id: "r",
      timestamp: "",
      call_id: "k0",
      content: "Error: late",
      is_error: false,
    };
    const turns = [asked!, { index: 1, events: [...answered!.events, result] }];
    expect(errorsSeen(listToolCalls(turns))).toEqual([{ turn: 1, line: "Error: late" }]);
  });

  it.each([
    "--- FAIL: TestParse (0.1s)",
    "FAIL: test/a.test.ts",
    "FAILED: one",
    "not ok 3 - parses",
    "✗ parses",
    "× parses",
    "test parser::tests::parses ... FAILED",
  ])("takes %j for a failed test", (line) => {
    expect(lines(bash(`running\n${line}\nok`))).toEqual([line]);
  });

  it("takes the first line that a failed tool says, unless it says only that something went wrong", () => {
    expect(lines(edit("no such file\nmore"))).toEqual(["no such file"]);
    expect(lines(edit("Error:\nexit code 1\nno such file\nmore"))).toEqual(["no such file"]);
    expect(lines(edit("<tool_error>File not read yet</tool_error>"))).toEqual(["File not read yet"]);
    expect(lines(edit("<error>\nFile not read yet\n</error>"))).toEqual(["File not read yet"]);
    expect(lines(edit("error"))).toEqual([]);
    expect(lines(edit("<a></a>"))).toEqual([]);
  });

  it("takes the first line of a failed command only when it speaks of trouble", () => {
    expect(lines(bash("src/a.ts\nsrc/b.ts", true))).toEqual([]);
    expect(lines(bash("the build is broken\nsrc/b.ts", true))).toEqual(["the build is broken"]);
    expect(lines(bash("Exit code 1\nsrc/a.ts", true))).toEqual([]);
    expect(lines(bash("Exit code 1\nfatal: not a repository", true))).toEqual(["fatal: not a repository"]);
    expect(lines(bash("src/a.ts\nthread 'main' panicked", true))).toEqual(["thread 'main' panicked"]);
  });

  it("keeps the first line of a command that did not fail when it is an error of another wording", () => {
    expect(lines(bash("thread 'main' panicked\nok"))).toEqual(["thread 'main' panicked"]);
    expect(lines(bash("not ok 1 - parses\nnot ok 2 - prints"))).toEqual(["not ok 1 - parses", "not ok 2 - prints"]);
    expect(lines(bash("✗ parses\n✗ prints", true))).toEqual(["✗ parses", "✗ prints"]);
  });

  it("takes twelve lines of a result", () => {
    const many = (start: string): string =>
      Array.from({ length: 13 }, (_, n) => `${start}${"x".repeat(n + 1)}`).join("\n");
    expect(lines(bash(many("Error: ")))).toHaveLength(12);
    expect(lines(bash(many("FAIL: a")))).toHaveLength(12);
    expect(lines(bash(`${many("FAIL: a")}\nError: last`))[0]).toBe("Error: last");
  });

  it("cuts a line at 200 characters, and passes failed tests over in lines of more than 400", () => {
    expect(lines(bash(`Error: ${"a".repeat(193)}`))).toEqual([`Error: ${"a".repeat(193)}`]);
    expect(lines(bash(`Error: ${"a".repeat(194)}`))).toEqual([`Error: ${"a".repeat(191)} …`]);
    expect(lines(bash(`FAIL: ${"a".repeat(394)}`))).toHaveLength(1);
    expect(lines(bash(`FAIL: ${"a".repeat(395)}`))).toEqual([]);
  });

  it("shows a line once that is an error and a failed test", () => {
    expect(lines(bash("FAIL: pkg: error here", false))).toEqual(["FAIL: pkg: error here"]);
  });
});
