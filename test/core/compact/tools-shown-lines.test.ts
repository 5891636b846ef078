// Which lines of its file a read really showed.

import { describe, expect, it } from "vitest";
import { isPlaceholder, shownLines } from "../../../src/core/compact/shown-lines.ts";
import type { Content } from "../../../src/core/conversation/event.ts";
import { createCalls } from "../../helpers/tool-calls.ts";

const END = Number.POSITIVE_INFINITY;

function shown(name: string, args: unknown, result: Content | null, failed = false) {
  const [call] = createCalls([{ name, args, result, failed }]);
  return shownLines(call!);
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");
}

describe("shownLines", () => {
  it("are what was asked for when the result is as long", () => {
    expect(shown("Read", { file_path: "a", offset: 5, limit: 10 }, lines(10))).toEqual({ first: 5, last: 14 });
    expect(shown("Read", { file_path: "a" }, lines(2000))).toEqual({ first: 1, last: 2000 });
  });

  it("count a text without a line end as one line, and each line end as one more", () => {
    expect(shown("Read", { file_path: "a", limit: 1 }, "one")).toEqual({ first: 1, last: 1 });
    expect(shown("Read", { file_path: "a", limit: 3 }, "\n\n")).toEqual({ first: 1, last: 3 });
    expect(shown("Read", { file_path: "a", limit: 4 }, "\n\n")).toEqual({ first: 1, last: END });
    expect(shown("Read", { file_path: "a", limit: 3 }, lines(4))).toEqual({ first: 1, last: 3 });
  });

  it("go to the end of the file when there were fewer", () => {
    expect(shown("Read", { file_path: "a", offset: 5, limit: 10 }, lines(9))).toEqual({ first: 5, last: END });
    expect(shown("Read", { file_path: "a" }, lines(30))).toEqual({ first: 1, last: END });
    expect(shown("exec_command", { cmd: "cat a" }, lines(3))).toEqual({ first: 1, last: END });
  });

  it.each([
    ["(Showing lines 1-300 of 616. Use offset=301 to continue.)\n</content>", 300],
    ["[Showing lines 1-120 of 900 (50.0KB limit). Use offset=121 to continue.]", 120],
    ["... (620 more lines not shown. Use offset=770 to continue reading)", 769],
    ["(File has more lines. Use 'offset' parameter to read beyond line 80)", 80],
  ])("end where the result says: %s", (remark, last) => {
    expect(shown("read", { path: "a" }, `${lines(20)}\n\n${remark}`)).toEqual({ first: 1, last });
  });

  it("are never more than was asked for", () => {
    const remark = "(Showing lines 1-300 of 616. Use offset=301 to continue.)";
    expect(shown("read", { path: "a", limit: 9 }, remark)).toEqual({ first: 1, last: 9 });
    expect(shown("read", { path: "a", offset: 300 }, remark)).toEqual({ first: 300, last: 300 });
    expect(shown("read", { path: "a", offset: 301 }, remark)).toBeNull();
  });

  it("are recognised by remarks at the edges of a result, not in its middle", () => {
    const remark = "(Showing lines 1-300 of 616. Use offset=301 to continue.)";
    const middle = (text: string) => `${"x".repeat(400)}\n${text}\n${"x".repeat(400)}`;
    for (const text of [middle(remark), middle("Exit code 1"), "Exit code 0\n"])
      expect(shown("read", { path: "a" }, text)).toEqual({ first: 1, last: END });
    expect(shown("read", { path: "a" }, `Exit code 1\n${middle("x")}`)).toBeNull();
  });

  it("are recognised in parts of text as in one text", () => {
    const parts = [
      { type: "text", text: lines(2) },
      { type: "text", text: lines(3) },
    ] as const;
    expect(shown("Read", { file_path: "a", limit: 5 }, parts)).toEqual({ first: 1, last: 5 });
  });

  it.each([
    ["an unanswered read", null],
    ["an empty result", ""],
    ["a result cut in the middle", "start…1234 tokens truncated…end"],
    ["a result that jpg cut", "start\n[compacted: 99 characters left out]\nend"],
    ["a failed command", "Chunk ID: 1\nProcess exited with code 2\nOutput:\ncat: a: No such file"],
    ["a stand-in", "File unchanged since last read. The content is still current."],
    ["a picture", [{ type: "image" as const }]],
    ["a picture beside a text", [{ type: "text" as const, text: "x" }, { type: "image" as const }]],
    ["a part whose text is elsewhere", [{ type: "text" as const, text: { $attachment: "0".repeat(64) } }]],
    ["a text that is elsewhere", { $attachment: "0".repeat(64) }],
  ])("are none of %s", (_what, result) => {
    expect(shown("Read", { file_path: "a" }, result)).toBeNull();
  });

  it("are none of a failed read and of other calls", () => {
    expect(shown("Read", { file_path: "a" }, "no such file", true)).toBeNull();
    expect(shown("Write", { file_path: "a" }, "written")).toBeNull();
    expect(shown("Read", { file_path: "a", pages: "1" }, "text")).toBeNull();
  });
});

describe("isPlaceholder", () => {
  it.each([
    "<persisted-output>\npath",
    "[Old tool result content cleared]",
    " \nWasted call — file unchanged",
    "[compacted] x",
  ])("knows %j", (content) => expect(isPlaceholder({ content })).toBe(true));

  it("takes other results for content, even if they mention placeholders further on", () => {
    expect(isPlaceholder({ content: "1\tFile unchanged since last read" })).toBe(false);
    expect(isPlaceholder({ content: `${" ".repeat(400)}Wasted call` })).toBe(false);
    expect(isPlaceholder({ content: [{ type: "image" }] })).toBe(false);
  });
});
