// What a call is about, read from its name and arguments.

import { describe, expect, it } from "vitest";
import {
  callFacts,
  fileKey,
  listPairedCalls,
  listToolCalls,
  type ToolCall,
} from "../../../src/core/compact/tool-call.ts";
import { NO_PAIRS } from "../../../src/core/conversation/tool-pairing.ts";
import { parseConversation } from "../../helpers/notation.ts";

const END = Number.POSITIVE_INFINITY;

function facts(name: string, args: unknown) {
  return callFacts({ name, arguments: args });
}

describe("callFacts", () => {
  it.each([
    ["Read", { file_path: "/a" }, { first: 1, last: 2000 }, true],
    ["Read", { file_path: "/a", offset: 10, limit: 5 }, { first: 10, last: 14 }, false],
    ["Read", { file_path: "/a", offset: 0, limit: 5 }, { first: 1, last: 5 }, false],
    ["Read", { file_path: "/a", offset: "10" }, { first: 10, last: 2009 }, false],
    ["read", { path: "/a", limit: 7 }, { first: 1, last: 7 }, false],
    ["read", { filePath: "/a", offset: 3, limit: 1 }, { first: 3, last: 3 }, false],
    ["read_file", { absolute_path: "/a", offset: 0, limit: 5 }, { first: 1, last: 5 }, false],
    ["read_file", { file_path: "/a", offset: 10, limit: 5 }, { first: 11, last: 15 }, false],
    ["read_file", { file_path: "/a", start_line: 4, end_line: 9 }, { first: 4, last: 9 }, false],
    ["fs_read_file", { path: "/a" }, { first: 1, last: END }, true],
    ["fs_read_file", { path: "/a", start_line: 4 }, { first: 4, last: END }, false],
    ["fs_read_file", { path: "/a", end_line: 4, start_line: null }, { first: 1, last: 4 }, false],
    ["view", { path: "/a", view_range: [2, -1] }, { first: 2, last: END }, false],
    ["view", { path: "/a" }, { first: 1, last: END }, true],
  ])("reads the lines of %s %j", (name, args, lines, isWhole) => {
    expect(facts(name, args)).toEqual({ kind: "read", path: "/a", lines, isWhole });
  });

  it.each([
    ["Read", { file_path: "/a", pages: "1-5" }],
    ["Read", { file_path: "/a", offset: -3 }],
    ["Read", { file_path: "/a", limit: 0 }],
    ["Read", { file_path: "/a", offset: 1.5 }],
    ["read", { path: "/a", offset: "x" }],
    ["fs_read_file", { path: "/a", start_line: 9, end_line: 4 }],
    ["view", { path: "/a", view_range: [1] }],
    ["view", { path: "/a", view_range: [null, 4] }],
  ])("tells no lines of %s %j", (name, args) => {
    expect(facts(name, args)).toEqual({ kind: "read", path: "/a", isWhole: false });
  });

  it.each([
    ["Write", { file_path: "/a", content: "x" }, { kind: "write", path: "/a", isWhole: true }],
    ["fs_create_file", { path: "/a" }, { kind: "write", path: "/a", isWhole: true }],
    ["Edit", { file_path: "/a" }, { kind: "edit", path: "/a", isWhole: false }],
    ["Grep", { pattern: "x", path: "src" }, { kind: "search", path: "src", isWhole: false }],
    ["Grep", { pattern: "x" }, { kind: "search", isWhole: false }],
    ["LS", { path: "src" }, { kind: "list", path: "src", isWhole: false }],
    ["Bash", { command: "npm test" }, { kind: "shell", isWhole: false }],
    ["nobody_knows", { path: "/a" }, { kind: "other", isWhole: false }],
    ["constructor", {}, { kind: "other", isWhole: false }],
    ["Read", "no table", { kind: "read", isWhole: false }],
    ["Read", null, { kind: "read", isWhole: false }],
    ["Write", { file_path: "" }, { kind: "write", isWhole: false }],
    ["Write", { file_path: 5 }, { kind: "write", isWhole: false }],
    ["write", { path: "", filePath: "/a" }, { kind: "write", path: "/a", isWhole: true }],
    ["fs_grep_files", { path: "/a" }, { kind: "search", isWhole: false }],
    ["NotebookRead", { notebook_path: "/a", cell_id: "1" }, { kind: "read", path: "/a", isWhole: false }],
  ])("knows %s %j", (name, args, expected) => {
    expect(facts(name, args)).toEqual(expected);
  });
});

describe("callFacts of a shell command", () => {
  it.each([
    ["cat a.ts", "a.ts", 1, END],
    ["cat -n 'my file'", "my file", 1, END],
    ["nl -ba src/a.ts", "src/a.ts", 1, END],
    ["sed -n '10,20p' src/a.ts", "src/a.ts", 10, 20],
    ["sed -n 7p a", "a", 7, 7],
    ['sed -n "5,$p" a', null, 0, 0],
    ["sed -n '5,$p' a", "a", 5, END],
    ["head -n 5 a", "a", 1, 5],
    ["head -40 a", "a", 1, 40],
    ["nl -ba a | sed -n '3,4p'", "a", 3, 4],
    ["cat a b", null, 0, 0],
    ["cat *.ts", null, 0, 0],
    ["cat $HOME/a", null, 0, 0],
    ["cat ~/a", null, 0, 0],
    ["cat a > b", null, 0, 0],
    ["cat a; rm a", null, 0, 0],
    ["cat a\nrm a", null, 0, 0],
    ["cat a && cat b", null, 0, 0],
    ["cat a | grep x", null, 0, 0],
    ["nl a | sed -n '3,4p'", "a", 3, 4],
    ["nl -s x a | sed -n '3,4p'", null, 0, 0],
    ["sed -i 's/a/b/' a", null, 0, 0],
    ["sed -n '10,5p' a", null, 0, 0],
    ["sed -n '0,5p' a", null, 0, 0],
    ["sed -n 's/a/b/p' a", null, 0, 0],
    ["head -n 0 a", null, 0, 0],
    ["cat -A a", null, 0, 0],
    ["cat", null, 0, 0],
    ["cat 'a", null, 0, 0],
    ["grep x a", null, 0, 0],
  ])("%j", (cmd, path, first, last) => {
    const expected =
      path === null
        ? { kind: "shell", isWhole: false }
        : { kind: "read", path, lines: { first, last }, isWhole: first === 1 && last === END };
    expect(facts("exec_command", { cmd })).toEqual(expected);
    expect(facts("shell", { command: ["bash", "-lc", cmd] })).toEqual(expected);
  });

  it.each([
    [{ workdir: "/w" }, "/w"],
    [{ dir_path: "/w" }, "/w"],
    [{ cwd: "/w" }, "/w"],
    [{ workdir: "", cwd: "/w" }, "/w"],
    [{ workdir: "/1", dir_path: "/2", cwd: "/3" }, "/1"],
  ])("names the folder that it runs in: %j", (args, folder) => {
    const lines = { first: 1, last: END };
    const expected = { kind: "read", path: "a", lines, folder, isWhole: true };
    expect(facts("exec_command", { cmd: "cat a", ...args })).toEqual(expected);
  });

  it("looks at the command without the blanks around it, up to 1000 characters", () => {
    expect(facts("Bash", { command: "\n cat a \n" })).toMatchObject({ kind: "read", path: "a" });
    expect(facts("Bash", { command: `cat ${"a".repeat(996)}` }).kind).toBe("read");
    expect(facts("Bash", { command: `cat ${"a".repeat(997)}` }).kind).toBe("shell");
  });

  it.each([
    [["/bin/zsh", "-c", "cat a"], "read"],
    [["sh", "-lc", "cat a"], "read"],
    [["fish", "-c", "cat a"], "shell"],
    [["bash", "-x", "cat a"], "shell"],
    [["bash", "x-lc", "cat a"], "shell"],
    [["bash", "-lcx", "cat a"], "shell"],
    [["bash", "-lc"], "shell"],
    [["bash", "-lc", 7], "shell"],
    [["bash"], "shell"],
    [[], "shell"],
    [7, "shell"],
  ])("takes the words %j for a %s", (command, kind) => {
    expect(facts("shell", { command }).kind).toBe(kind);
  });

  it("does not look into words that no shell is given", () => {
    expect(facts("shell", { command: ["cat", "a"] }).kind).toBe("shell");
    expect(facts("shell", { command: ["bash", "-lc", "cat a", "x"] }).kind).toBe("shell");
    expect(facts("shell", {}).kind).toBe("shell");
  });
});

describe("callFacts of a patch", () => {
  const patch = (...headers: string[]) => ["*** Begin Patch", ...headers, "@@", "-a", "+b", "*** End Patch"].join("\n");

  it("edits the file of its header, in every form that agents send it", () => {
    const text = patch("*** Update File: src/a.ts");
    for (const args of [text, { input: text }, { patch: text }, { patchText: text }]) {
      expect(facts("apply_patch", args)).toEqual({ kind: "edit", path: "src/a.ts", isWhole: false });
    }
    expect(facts("shell", { command: ["apply_patch", text] })).toMatchObject({ kind: "edit", path: "src/a.ts" });
    expect(facts("shell", { command: ["apply_patch", text, "x"] })).toEqual({ kind: "shell", isWhole: false });
    expect(facts("shell", { command: ["apply_patch"] })).toEqual({ kind: "shell", isWhole: false });
    expect(facts("apply_patch", { input: "", patch: 7, patchText: text })).toMatchObject({ path: "src/a.ts" });
  });

  it("writes a file that it adds", () => {
    expect(facts("apply_patch", patch("*** Add File: a"))).toEqual({ kind: "write", path: "a", isWhole: true });
  });

  it("names all files when there are several, each once", () => {
    const text = patch("*** Update File: a", "*** Move to: b", "*** Delete File: c", "*** Update File: a");
    expect(facts("apply_patch", text)).toEqual({ kind: "edit", paths: ["a", "b", "c"], isWhole: false });
  });

  it("names none when it is no patch", () => {
    expect(facts("apply_patch", "text")).toEqual({ kind: "edit", isWhole: false });
    expect(facts("apply_patch", {})).toEqual({ kind: "edit", isWhole: false });
  });
});

describe("fileKey", () => {
  it.each([
    [{ path: "./a" }, "a"],
    [{ path: "a//b/./c" }, "a/b/c"],
    [{ path: "././a" }, "a"],
    [{ path: "/x/a", folder: "/w" }, "/x/a"],
    [{ path: "./a", folder: "/w/" }, "/w/a"],
    [{ path: "~/a", folder: "/w" }, "~/a"],
    [{ path: "../a" }, "../a"],
    [{ path: "a///b" }, "a/b"],
    [{ path: "a/././b" }, "a/b"],
    [{ path: "a./b" }, "a./b"],
    [{ path: "a/b", folder: "/w" }, "/w/a/b"],
    [{ path: "ab:c", folder: "/w" }, "/w/ab:c"],
    [{ path: "C:a", folder: "/w" }, "C:a"],
    [{ path: "\\\\host\\a", folder: "/w" }, "\\\\host\\a"],
    [{ folder: "/w" }, undefined],
    [{ path: "./" }, "./"],
    [{}, undefined],
  ])("of %j", (given, key) => {
    expect(fileKey(given)).toBe(key);
  });
});

/** A call as ids and places. */
function placed({ request, response, ...place }: ToolCall) {
  return { request: request.id, response: response?.id ?? null, ...place };
}

describe("listToolCalls", () => {
  it("pairs each call with its result and says where both are", () => {
    expect(listToolCalls(parseConversation("U T T A t N t | ^ U T")).map(placed)).toEqual([
      { request: "e0.2", response: "e0.5", turn: 0, index: 2, responseIndex: 5 },
      { request: "e0.3", response: "e0.7", turn: 0, index: 3, responseIndex: 7 },
      { request: "e1.2", response: null, turn: 1, index: 1, responseIndex: null },
    ]);
  });

  it("names the turn of a result that came in a later one", () => {
    const [asked, , answered] = parseConversation("U T | U | ^ U");
    const result = { type: "tool_call_response", id: "r", timestamp: "2026-01-01T02:00:00Z", call_id: "c1" } as const;
    const events = [...answered!.events, { ...result, content: "late", is_error: false }];
    const turns = [asked!, { ...answered!, events }];
    const place = { request: "e0.2", turn: 0, index: 2 };
    expect(listToolCalls(turns).map(placed)).toEqual([{ ...place, response: "r", responseIndex: 1, responseTurn: 2 }]);
  });

  it("leaves out results that answer no call", () => {
    expect(listToolCalls(parseConversation("U t A"))).toEqual([]);
    expect(listToolCalls(parseConversation("U t T")).map(placed)).toEqual([
      { request: "e0.3", response: null, turn: 0, index: 3, responseIndex: null },
    ]);
  });
});

describe("listPairedCalls", () => {
  it("goes by the pairs that it is given", () => {
    expect(listPairedCalls(parseConversation("U T t"), NO_PAIRS).map(placed)).toEqual([
      { request: "e0.2", response: null, turn: 0, index: 2, responseIndex: null },
    ]);
  });
});
