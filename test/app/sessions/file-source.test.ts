// @module-tag law
import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBufferSource, createFileSource } from "../../../src/app/sessions/sources.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const write = (bytes: Uint8Array): string => {
  const path = join(folder.path, "session.jsonl");
  writeFileSync(path, bytes);
  return path;
};
const text = fc.array(fc.constantFrom("a", "ä", "€", "\n", "\r", "\r\n", "long line of text", "\0"), { maxLength: 60 });

describe("createFileSource", () => {
  it("shows the lines and bytes that a buffer of the file shows, in any order of asking", () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.nat(80), fc.nat(400)), { maxLength: 20 }),
        (parts, block, kept, asked) => {
          const path = write(Buffer.from(parts.join("")));
          const [file, buffer] = [createFileSource(path, { block, kept }), createBufferSource(readFileSync(path))];
          expect([file.lineCount, file.byteLength]).toEqual([buffer.lineCount, buffer.byteLength]);
          for (const [line, end] of asked) {
            expect(file.lineStart(line)).toBe(buffer.lineStart(line));
            expect(file.line(line)).toBe(buffer.line(line));
            const to = Math.min(end, buffer.byteLength);
            expect(Buffer.compare(file.slice(line, to), buffer.slice(line, Math.max(line, to)))).toBe(0);
          }
        },
      ),
    );
  });

  it("shows the file as it was when lines are added", () => {
    const path = write(Buffer.from("one\ntwo"));
    const source = createFileSource(path, { block: 4, kept: 1 });
    appendFileSync(path, " and more\nthree\n");
    expect([source.lineCount, source.line(0), source.line(1), source.byteLength]).toEqual([2, "one", "two", 7]);
  });

  it.each<[string, (path: string) => void]>([
    ["rewritten", (path) => writeFileSync(path, "one\nTWO\nthree\n")],
    ["cut off", (path) => truncateSync(path, 5)],
    ["replaced", (path) => renameSync(write(Buffer.from("1\n2\n3\n4567890")), path)],
  ])("refuses to go on when the file was %s", (_, change) => {
    const path = write(Buffer.from("one\ntwo\nthree\n"));
    const source = createFileSource(path, { block: 4, kept: 1 });
    expect(source.line(0)).toBe("one");
    change(path);
    expect(() => source.line(1)).toThrowError(expect.objectContaining({ code: "file_changed" }));
    rmSync(path);
  });
});
