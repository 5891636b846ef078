// @module-tag law

import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { branchOfRef, isBranchName, refOfBranch } from "../../src/store/ref-files.ts";
import { runs } from "../helpers/runs.ts";

function gitAccepts(name: string): boolean {
  try {
    execFileSync("git", ["check-ref-format", "--branch", name], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("isBranchName", () => {
  it("accepts and refuses the names that git does", () => {
    const names = [
      "fix-parser-k3f9/main",
      "a",
      "ü/文",
      "a b",
      "a..b",
      ".a",
      "a/.b",
      "a.lock",
      "a/b.lock/c",
      "a//b",
      "/a",
      "a/",
      "a.",
      "a@{b",
      "-a",
      "HEAD",
      "a~1",
      "a^",
      "a:b",
      "a?",
      "a*",
      "a[",
      "a\\b",
      "a\u0001",
      "",
      'a"b',
      "a.b",
      "a@b",
    ];
    expect(names.filter((name) => isBranchName(name) !== gitAccepts(name))).toEqual([]);
  });

  it("refuses the name of the active conversation", () => {
    expect(isBranchName("@")).toBe(false);
  });

  it("agrees with git on random names", () => {
    const part = fc.stringMatching(/^[a-z.@{~^:\\ -]{0,3}(\.lock)?$/);
    const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    // `--branch` also resolves @{-1} and the like, which are no names.
    const plain = name.filter((text) => text !== "@" && !text.includes("@{"));
    fc.assert(
      fc.property(plain, (text) => {
        expect([text, isBranchName(text)]).toEqual([text, gitAccepts(text)]);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe("refs of branches", () => {
  it("go both ways", () => {
    expect(refOfBranch("a/b")).toBe("refs/heads/a/b");
    expect(branchOfRef("refs/heads/a/b")).toBe("a/b");
    expect(branchOfRef("refs/tags/a")).toBeNull();
    expect(() => refOfBranch("a b")).toThrow(expect.objectContaining({ code: "bad_branch_name" }));
  });
});
