import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { branchName, conversationId, parseBranchName, shortId, slugOf } from "../../src/core/conversation-name.ts";

describe("slugs", () => {
  it.each([
    ["Fix the parser!", "fix-the-parser"],
    ["  Über-Größe: naïve café  ", "uber-gro-e-naive-cafe"],
    ["日本語", "conversation"],
    ["", "conversation"],
    ["a very long title that goes on and on beyond forty characters", "a-very-long-title-that-goes-on-and-on"],
    ["x".repeat(60), "x".repeat(40)],
  ])("make of %j %s", (title, slug) => {
    expect(slugOf(title)).toBe(slug);
  });

  it("make a legal branch of any title", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (title) => {
        const slug = slugOf(title);
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slug.length).toBeLessThanOrEqual(40);
        expect(parseBranchName(`${conversationId(title, "k3f9")}/main`).fork).toBe("main");
      }),
    );
  });
});

describe("short ids", () => {
  it("write 5 bits a character, the same for the same digest", () => {
    expect(shortId("00000")).toBe("0000");
    expect(shortId("fffff")).toBe("zzzz");
    expect(shortId("8c6f1a2b", 6)).toHaveLength(6);
    expect(shortId("8C6F1")).toBe(shortId("8c6f1"));
  });

  it.each(["", "12", "xyz12"])("refuse the digest %j", (hex) => {
    expect(() => shortId(hex)).toThrowError(expect.objectContaining({ code: "bad_digest" }));
  });
});

describe("branch names", () => {
  it("come apart as they were joined", () => {
    expect(parseBranchName(branchName("fix-parser-k3f9", "Try_B.2"))).toEqual({
      conversation: "fix-parser-k3f9",
      fork: "Try_B.2",
    });
  });

  it.each([
    "main",
    "a/b/c",
    "a/",
    "/b",
    "a/b c",
    "a/..",
    "a/.b",
    "a/-b",
    "a/b.lock",
    "a/b.",
    "a/b..c",
    "a/b~1",
    "a/@{u}",
    "a/\u001b[0m",
    `a/${"x".repeat(101)}`,
  ])("are refused when git or a file system would stumble: %j", (name) => {
    expect(() => parseBranchName(name)).toThrowError(expect.objectContaining({ code: "bad_name", kind: "user" }));
  });

  it("are suggested in a legal form", () => {
    expect(() => parseBranchName("My Talk/Try B")).toThrowError(
      expect.objectContaining({ hints: ["try: my-talk/try-b"] }),
    );
  });
});
