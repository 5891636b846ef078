// @module-tag law
// A window gives the bytes of the file, in whatever order they are asked for.

import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileWindow } from "../../../src/store/git/pack-file.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";

/** More than two windows. */
const SIZE = 600_000;
const BYTES = Buffer.from(Array.from({ length: SIZE }, (_, at) => (at * 31 + (at >> 8)) & 0xff));

let folder: TempFolder;
let file: number;
beforeEach(() => {
  folder = createTempFolder();
  writeFileSync(join(folder.path, "data"), BYTES);
  file = openSync(join(folder.path, "data"), "r");
});
afterEach(() => {
  closeSync(file);
  folder.remove();
});

/** Reads at a place, of a size from none to more than a window. */
const READ = fc.record({
  at: fc.nat(SIZE + 10),
  count: fc.oneof(fc.nat(200), fc.nat(5000), fc.nat(400_000)),
});

describe("a file window", () => {
  it("gives the bytes at any place, fewer at the end", () => {
    fc.assert(
      fc.property(fc.array(READ, { maxLength: 12 }), (reads) => {
        const window = createFileWindow(file);
        for (const { at, count } of reads) {
          expect(window.read(at, count).equals(BYTES.subarray(at, at + count))).toBe(true);
        }
      }),
    );
  });

  it("gives one piece after the other", () => {
    const window = createFileWindow(file);
    const pieces: Buffer[] = [];
    for (let at = 0; at < SIZE; at += 700) pieces.push(Buffer.from(window.read(at, 700)));
    expect(Buffer.concat(pieces).equals(BYTES)).toBe(true);
  });
});
