// What an extract says of changed files: where each was changed last, and what was defined in it.
import { describe, expect, it } from "vitest";
import { changeNotes, changesOf } from "../../../src/core/compact/failures.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";

const edit = (file_path: string, new_string: string) => call("Edit", { file_path, old_string: "x", new_string });
const changes = (...turns: readonly (readonly CallSpec[])[]) => changesOf(listToolCalls(callTurns(...turns)));

describe("changesOf", () => {
  it("tells the turn of the last change and what was defined, the newest first, of files that were changed last at the end", () => {
    const found = changes(
      [edit("a.ts", "function parseLine() {}"), edit("b.ts", "x = 1")],
      [edit("a.ts", "class Parser {}\nfunction parseLine() {}"), failed("Edit", { file_path: "b.ts" })],
    );
    expect([...found]).toEqual([
      ["b.ts", { turn: 0, isDeleted: false, names: [] }],
      ["a.ts", { turn: 1, isDeleted: false, names: ["Parser", "parseLine"] }],
    ]);
  });

  it("knows files that a patch takes away, and gives no file the names of another", () => {
    const patch =
      "*** Begin Patch\n*** Delete File: old.go\n*** Update File: new.go\n+func (p *Parser) Parse() {\n*** End Patch";
    const one = "*** Begin Patch\n*** Update File: new.go\n+func (p *Parser) Parse() {\n*** End Patch";
    expect([...changes([call("apply_patch", { input: patch })])]).toEqual([
      ["old.go", { turn: 0, isDeleted: true, names: [] }],
      ["new.go", { turn: 0, isDeleted: false, names: [] }],
    ]);
    expect(changes([call("apply_patch", { input: one })]).get("new.go")?.names).toEqual(["Parse"]);
  });
});

describe("changeNotes", () => {
  const found = new Map([
    ["a", { turn: 3, isDeleted: true, names: ["gone"] }],
    ["b", { turn: 4, isDeleted: false, names: ["n1", "n2", "n3", "n4", "n5", "n6", "n7"] }],
    ["c", { turn: 5, isDeleted: false, names: [] }],
  ]);

  it("names the turn, six names at most, and that a file is gone", () => {
    const notes = [" (t5)", " (t3: deleted)", " (t4: n1, n2, n3, n4, n5, n6)", ""];
    expect(changeNotes(["c", "a", "b", "other"], found, 100)).toEqual(notes);
  });

  it("gives what room there is to the files that were changed last", () => {
    expect(changeNotes(["a", "b", "c"], found, " (t5)".length)).toEqual(["", "", " (t5)"]);
    expect(changeNotes(["a", "b", "c"], found, " (t5) (t3: deleted)".length)).toEqual([" (t3: deleted)", "", " (t5)"]);
    expect(changeNotes(["a", "b", "c"], found, 0)).toEqual(["", "", ""]);
  });
});
