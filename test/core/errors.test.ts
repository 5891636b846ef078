import { describe, expect, it } from "vitest";
import { codeOf, JpgError, messageOf, repositoryError, userError } from "../../src/core/errors.ts";

describe("JpgError", () => {
  it("carries what it was made of", () => {
    const cause = new Error("disk full");
    const error = new JpgError("provider", "too_slow", "no answer", { hints: ["wait"], data: { ms: 9 }, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "JpgError",
      kind: "provider",
      code: "too_slow",
      message: "no answer",
      hints: ["wait"],
      data: { ms: 9 },
      cause,
    });
  });

  it("has no hints, no data and no cause unless they are given", () => {
    const error = new JpgError("internal", "odd", "what is this");
    expect(error.hints).toEqual([]);
    expect(error.data).toEqual({});
    expect(Object.hasOwn(error, "cause")).toBe(false);
  });

  it("is made of the user's mistakes and of a broken store", () => {
    const details = { hints: ["try again"] };
    expect(userError("a", "b", details)).toMatchObject({ kind: "user", code: "a", message: "b", hints: ["try again"] });
    expect(repositoryError("a", "b", details)).toMatchObject({ kind: "repository", code: "a", hints: ["try again"] });
  });
});

describe("what was thrown", () => {
  it("is told in its own words", () => {
    expect(messageOf(new Error("boom"))).toBe("boom");
    expect(messageOf("plain")).toBe("plain");
    expect(messageOf(undefined)).toBe("undefined");
    expect(messageOf({ message: "no error" })).toBe("[object Object]");
  });

  it("has the code of an error of the system, or none", () => {
    expect(codeOf(Object.assign(new Error("gone"), { code: "ENOENT" }))).toBe("ENOENT");
    expect(codeOf(Object.assign(new Error("gone"), { code: 2 }))).toBe("");
    expect(codeOf(new Error("gone"))).toBe("");
    expect(codeOf({ code: "ENOENT" })).toBe("");
    expect(codeOf(null)).toBe("");
  });
});
