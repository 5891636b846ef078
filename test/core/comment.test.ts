import { describe, expect, it } from "vitest";
import { type CommentRecord, commentsInForce, parseComment } from "../../src/core/conversation/marks.ts";
import { JpgError } from "../../src/core/errors.ts";

const at = (id: string, fields: Partial<CommentRecord>): CommentRecord => ({
  id,
  timestamp: "2026-01-01T00:00:00.000Z",
  ...fields,
});

describe("commentsInForce", () => {
  it("gives each comment for itself, those taken back left out, whichever record is older", () => {
    const records = [
      at("r", { uncomment: "b" }),
      at("a", { comment: { turn: 2, text: "first" } }),
      at("b", { comment: { turn: 2, text: "taken back" } }),
      at("c", { comment: { turn: 0, event: "e1", text: "second\nline" } }),
    ];
    expect(commentsInForce(records).map(({ id, turn, event, text }) => [id, turn, event, text])).toEqual([
      ["a", 2, undefined, "first"],
      ["c", 0, "e1", "second\nline"],
    ]);
  });

  it.each([
    ["no object", "words"],
    ["no turn", { text: "x" }],
    ["a turn that is none", { turn: -1, text: "x" }],
    ["half a turn", { turn: 0.5, text: "x" }],
    ["an event that is no text", { turn: 0, event: 3, text: "x" }],
    ["nothing said", { turn: 0, text: " " }],
    ["a text that is none", { turn: 0, text: ["x"] }],
  ])("passes over what is damaged: %s", (_, comment) => {
    expect(commentsInForce([at("a", { comment })])).toEqual([]);
  });
});

describe("parseComment", () => {
  it("keeps lines and trims ends", () => {
    expect(parseComment(" one\r\n  two \n")).toBe("one\n  two");
  });

  it("takes 1 to 10,000 characters", () => {
    expect(parseComment("🦊".repeat(10_000))).toHaveLength(20_000);
    for (const text of ["", " \n", "x".repeat(10_001)]) expect(() => parseComment(text)).toThrow(JpgError);
  });
});
