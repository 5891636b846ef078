import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  createOriginLine,
  lineUuid,
  parseExportOrigin,
  readExportOrigin,
  sessionUuid,
  uuidV5,
} from "../../src/formats/imported-session.ts";

const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();
const name = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", tip: "a".repeat(40), target: "claude-code", n: 0 };

describe("uuidV5", () => {
  it("gives the value of RFC 9562's example", () => {
    expect(uuidV5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com", sha1)).toBe(
      "2ed6657d-e927-568b-95e1-2665a8aea6a2",
    );
  });
});

describe("sessionUuid", () => {
  it("depends on each part of the name, and on nothing else", () => {
    const ids = [
      name,
      { ...name, conversation: "x" },
      { ...name, branch: "x" },
      { ...name, tip: "x" },
      { ...name, target: "x" },
      { ...name, n: 1 },
    ].map((one) => sessionUuid(one, sha1));
    expect(new Set(ids).size).toBe(6);
    expect(sessionUuid({ ...name }, sha1)).toBe(ids[0]);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("lineUuid", () => {
  it("differs between sessions and between events", () => {
    const session = sessionUuid(name, sha1);
    const other = sessionUuid({ ...name, n: 1 }, sha1);
    expect(new Set([lineUuid(session, "a", sha1), lineUuid(session, "b", sha1), lineUuid(other, "a", sha1)]).size).toBe(
      3,
    );
  });
});

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
