// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cutTurnFile,
  cutTurnFileBefore,
  formatTurnFile,
  parseTurnFile,
  sourcePath,
  turnDirectory,
  turnIndexOfPath,
  turnPath,
} from "../../../src/core/conversation/turn-file.ts";
import { parseConversation } from "../../helpers/notation.ts";

const events = parseConversation("U R T t A")[0]?.events ?? [];
const text = formatTurnFile(events);

describe("turn files", () => {
  it("read back what was written, a line an event", () => {
    expect(parseTurnFile(text, "f")).toEqual(events);
    expect(text.split("\n")).toHaveLength(events.length + 1);
    expect(text.endsWith("\n")).toBe(true);
    expect(parseTurnFile("", "f")).toEqual([]);
  });

  it("accept a last line without a line end and Windows line ends", () => {
    expect(parseTurnFile(text.slice(0, -1), "f")).toEqual(events);
    expect(parseTurnFile(text.replaceAll("\n", "\r\n"), "f")).toEqual(events);
  });

  it("name file and line of what is malformed", () => {
    expect(() => parseTurnFile(`${text}\n`, "turns/x.jsonl")).toThrowError(
      /^turns\/x\.jsonl:7 is not an event: the line is empty/,
    );
  });
});

describe("turn paths", () => {
  it("hold 100 turns a directory", () => {
    expect(turnPath(12)).toBe("turns/0000/000012.jsonl");
    expect(turnPath(12_345)).toBe("turns/0123/012345.jsonl");
  });

  it("give the position back, and only for turn files", () => {
    fc.assert(fc.property(fc.nat(50_000_000), (index) => turnIndexOfPath(turnPath(index)) === index));
    for (const path of ["turns/0001/000012.jsonl", "turns/0000/12.jsonl", "sources/s/0000/000012.jsonl", "x"]) {
      expect(turnIndexOfPath(path)).toBeNull();
    }
  });

  it("name the pieces of a source", () => {
    expect(sourcePath("s-1", 12)).toBe("sources/s-1/0000/000012.jsonl");
    expect(sourcePath("s-1", 12, 1)).toBe("sources/s-1/0000/000012.p01.jsonl");
  });

  it("number directories and pieces, and take session names of 128 letters", () => {
    expect([0, 12, 12_345].map(turnDirectory)).toEqual(["turns/0000", "turns/0012", "turns/12345"]);
    expect([turnPath(99), turnPath(100)]).toEqual(["turns/0000/000099.jsonl", "turns/0001/000100.jsonl"]);
    expect(sourcePath("s", 100, 12)).toBe("sources/s/0001/000100.p12.jsonl");
    expect(sourcePath("x".repeat(128), 0)).toBe(`sources/${"x".repeat(128)}/0000/000000.jsonl`);
    expect(sourcePath("a.b", 0)).toBe("sources/a.b/0000/000000.jsonl");
    expect(sourcePath(".a.", 0)).toBe("sources/.a./0000/000000.jsonl");
    expect(() => sourcePath("a/b", 0)).toThrowError(
      expect.objectContaining({
        message: '"a/b" cannot name a folder of sources: expected 1 to 128 of `A-Z a-z 0-9 . _ -`.',
      }),
    );
    for (const path of ["xturns/0000/000012.jsonl", "turns/0000/000012.jsonl.x", "turns/0000/0000012.jsonl"])
      expect(turnIndexOfPath(path)).toBeNull();
    expect(turnIndexOfPath("turns/10000/1000000.jsonl")).toBe(1_000_000);
    expect(turnIndexOfPath("turns/0000/000012.jsonl")).toBe(12);
  });

  it.each(["", ".", "..", "...", " a", "a b", "a/b", "a\u0000b", "x".repeat(129)])(
    "refuse the session name %j",
    (name) => {
      expect(() => sourcePath(name, 0)).toThrowError(expect.objectContaining({ code: "bad_session_name" }));
    },
  );
});

describe("cutting a turn file", () => {
  it("keeps everything up to the event's line end, or up to its line", () => {
    for (const [index, event] of events.entries()) {
      expect(parseTurnFile(cutTurnFile(text, event.id) ?? "", "f")).toEqual(events.slice(0, index + 1));
      expect(parseTurnFile(cutTurnFileBefore(text, event.id) ?? "x", "f")).toEqual(events.slice(0, index));
    }
    expect(cutTurnFile(text, events.at(-1)?.id ?? "")).toBe(text);
  });

  it("is not misled by an id that stands inside another event", () => {
    const quoting = `{"type":"note","id":"n","timestamp":"t","kind":"k","data":{"id":"e9"}}\n`;
    const named = `{"type":"note","id":"e9","timestamp":"t","kind":"k"}\n`;
    expect(cutTurnFile(quoting + named + quoting, "e9")).toBe(quoting + named);
    expect(cutTurnFileBefore(quoting + named, "e9")).toBe(quoting);
  });

  it("finds an event in a line without a line end, and passes over lines that are no objects", () => {
    const named = `{"type":"note","id":"e9","timestamp":"t","kind":"k"}`;
    expect(cutTurnFile(named, "e9")).toBe(named);
    expect(cutTurnFile(`no JSON "e9"\n${named}`, "e9")).toBe(`no JSON "e9"\n${named}`);
    expect(cutTurnFile('no JSON "e9"\n', "e9")).toBeNull();
    expect(cutTurnFileBefore(named, "e9")).toBe("");
    const odd = `"e9"\nnull\n["e9"]\n{"kind":"e9"}\n`;
    expect(cutTurnFileBefore(odd + named, "e9")).toBe(odd);
    expect(cutTurnFile(odd, "e9")).toBeNull();
  });

  it("gives null for an event that is not there", () => {
    expect(cutTurnFile(text, "nowhere")).toBeNull();
    expect(cutTurnFileBefore(text, "nowhere")).toBeNull();
  });
});
