import { describe, expect, it } from "vitest";
import {
  asSentence,
  codeOf,
  JpgError,
  messageOf,
  reasonOf,
  repositoryError,
  userError,
} from "../../src/core/errors.ts";

describe("JpgError", () => {
  it("carries its kind, code, message, hints, data and cause", () => {
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

describe("somebody else's words at the end of a message", () => {
  it.each([
    ["permission denied", "permission denied."],
    ["It is full.", "It is full."],
    ["Compact now?", "Compact now?"],
    ["cut off…", "cut off…"],
  ])("%s", (words, ended) => {
    expect(asSentence(words)).toBe(ended);
  });
});

describe("why something failed", () => {
  function systemError(message: string, code: string): Error {
    return Object.assign(new Error(message), { code });
  }

  it("is worded without the code, the call and the path of Node's message", () => {
    expect(reasonOf(systemError("ENOENT: no such file or directory, open '/a/.draft_12'", "ENOENT"))).toBe(
      "no such file or directory",
    );
    expect(reasonOf(systemError("EISDIR: illegal operation on a directory, read", "EISDIR"))).toBe(
      "illegal operation on a directory",
    );
    expect(reasonOf(systemError("listen EADDRNOTAVAIL: address not available 1.2.3.4", "EADDRNOTAVAIL"))).toBe(
      "address not available 1.2.3.4",
    );
    expect(reasonOf(systemError("spawn a, b ENOENT", "ENOENT"))).toBe("no such program");
    expect(reasonOf(systemError("spawn /etc/passwd EACCES", "EACCES"))).toBe("permission denied");
  });

  it("keeps its own words when it is not an error of the system", () => {
    expect(reasonOf(new Error("ENOENT: boom, open"))).toBe("ENOENT: boom, open");
    expect(reasonOf(systemError("it is too old", "ERR_OLD"))).toBe("it is too old");
    expect(reasonOf(systemError("spawn E2BIG", "E2BIG"))).toBe("spawn E2BIG");
    expect(reasonOf("plain")).toBe("plain");
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
