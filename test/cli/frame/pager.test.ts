import { describe, expect, it } from "vitest";
import { choosePager } from "../../../src/cli/frame/output.ts";

describe("choosePager", () => {
  it("takes less when the user names none", () => {
    expect(choosePager({}, true)).toEqual({ program: "less", arguments: ["-FRX"] });
  });

  it("takes the user's own, jpg's before the general one", () => {
    expect(choosePager({ PAGER: "more" }, true)).toEqual({ shellCommand: "more" });
    expect(choosePager({ PAGER: "more", JPG_PAGER: "less -S" }, true)).toEqual({ shellCommand: "less -S" });
  });

  it("takes none when there is no terminal to page on, or the user wants none", () => {
    expect(choosePager({}, false)).toBeNull();
    expect(choosePager({ TERM: "dumb" }, true)).toBeNull();
    expect(choosePager({ PAGER: "cat" }, true)).toBeNull();
    expect(choosePager({ JPG_PAGER: "", PAGER: "more" }, true)).toBeNull();
  });
});
