import { describe, expect, it } from "vitest";
import { createOriginLine, parseExportOrigin, readExportOrigin } from "../../src/formats/imported-session.ts";

const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };

describe("readExportOrigin", () => {
  it("reads back what createOriginLine wrote", () => {
    expect(readExportOrigin(JSON.parse(JSON.stringify(createOriginLine(ORIGIN, "s"))))).toEqual(ORIGIN);
  });

  it.each([
    [null],
    ["text"],
    [[]],
    [{ type: "user" }],
    [{ type: "jpg-origin", format: 2, ...ORIGIN }],
    [{ type: "jpg-origin", format: 1, conversation: "x" }],
  ])("gives null for %j", (line) => {
    expect(readExportOrigin(line)).toBeNull();
  });
});

describe("parseExportOrigin", () => {
  it("reads the text of a side line, and takes no other text for one", () => {
    const text = JSON.stringify(createOriginLine(ORIGIN, "s"));
    expect(parseExportOrigin(text)).toEqual(ORIGIN);
    expect(parseExportOrigin(`\uFEFF${text}`)).toEqual(ORIGIN);
    expect(parseExportOrigin(text.slice(0, -1))).toBeNull();
    expect(parseExportOrigin(text.replace("}", `,"more":"${"x".repeat(5000)}"}`))).toBeNull();
  });
});
