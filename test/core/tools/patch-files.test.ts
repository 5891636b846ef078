// Which files a patch in Codex's form touches.
import { describe, expect, it } from "vitest";
import { patchFiles } from "../../../src/core/compact/shell-read.ts";

describe("patchFiles", () => {
  it.each<[string, string, readonly string[], boolean]>([
    ["an update", "*** Update File: a", ["a"], false],
    ["a deletion", "*** Delete File: a", ["a"], false],
    ["an addition", "*** Add File: a", ["a"], true],
    ["additions alone", "*** Add File: a\n+x\n*** Add File: b", ["a", "b"], true],
    ["an addition before something else", "*** Add File: a\n*** Update File: b", ["a", "b"], false],
    ["an addition behind something else", "*** Update File: b\n*** Add File: a", ["b", "a"], false],
    ["a move", "*** Update File: a\n*** Move to: b", ["a", "b"], false],
    ["a name with blanks around it", "*** Add File:  my file \t", ["my file"], true],
    ["a name that comes twice", "*** Update File: a\n*** Update File:  a", ["a"], false],
    ["a header inside a line", "+*** Add File: a", [], false],
    ["a header of no file", "*** Add File: ", [], false],
    ["no patch", "text", [], false],
  ])("lists the files of %s", (_, patch, paths, isNew) => {
    expect(patchFiles(patch)).toEqual({ paths, isNew });
  });
});
