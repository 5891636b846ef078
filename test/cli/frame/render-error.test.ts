import { describe, expect, it } from "vitest";
import { asJpgError, errorDocument, renderError } from "../../../src/cli/frame/render-error.ts";
import { JpgError, userError } from "../../../src/core/errors.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

describe("renderError", () => {
  it("says what failed and what to type next, safe for a terminal", () => {
    const error = userError("unknown_id", 'Nothing is called "x\u001b[2J".\nTried branches.', {
      hints: ["`jpg ls` lists conversations."],
    });
    expect(renderError(error, PLAIN)).toBe(
      ['error: Nothing is called "x␛[2J".', "       Tried branches.", "hint: `jpg ls` lists conversations."].join("\n"),
    );
  });

  it("adds code and causes with verbose", () => {
    const cause = new Error("exit 128", { cause: new Error("no such ref") });
    const error = new JpgError("repository", "git_failed", "git failed.", { cause });
    expect(renderError(error, PLAIN, true)).toBe(
      ["error: git failed.", "code: repository/git_failed", "cause: exit 128", "cause: no such ref"].join("\n"),
    );
  });

  it("ends on causes that form a ring", () => {
    const ring = new Error("ring");
    ring.cause = ring;
    expect(
      renderError(new JpgError("internal", "x", "x", { cause: ring }), PLAIN, true).split("cause:").length,
    ).toBeLessThan(20);
  });
});

describe("asJpgError", () => {
  it("keeps a JpgError and takes anything else for a bug", () => {
    const known = userError("bad_bound", "No.");
    expect(asJpgError(known)).toBe(known);
    expect(asJpgError(new TypeError("x is undefined"))).toMatchObject({ kind: "internal", code: "internal_error" });
    expect(asJpgError("thrown text").message).toContain("thrown text");
  });
});

describe("errorDocument", () => {
  it("has data only when there is some", () => {
    expect(errorDocument(userError("a", "b"))).toEqual({ error: { kind: "user", code: "a", message: "b", hints: [] } });
    expect(errorDocument(userError("a", "b", { data: { at: 1 } })).error.data).toEqual({ at: 1 });
  });
});
