// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBatchParser, type StoredObject } from "../../../src/store/git/objects.ts";
import { runs } from "../../helpers/runs.ts";

describe("createBatchParser", () => {
  it("gives the same objects wherever the output is cut", () => {
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
    const objects = fc.array(fc.option(fc.uint8Array({ maxLength: 60 })), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(objects, cuts, (contents, positions) => {
        const oid = "ab".repeat(20);
        const output = Buffer.concat(
          contents.flatMap((bytes) =>
            bytes === null
              ? [Buffer.from("x y missing\n")]
              : [Buffer.from(`${oid} blob ${bytes.length}\n`), bytes, Buffer.from("\n")],
          ),
        );
        const seen: (StoredObject | null)[] = [];
        const parse = createBatchParser((object) => seen.push(object));
        const sorted = [0, ...positions.filter((p) => p < output.length).sort((a, b) => a - b), output.length];
        for (let i = 1; i < sorted.length; i++) parse(output.subarray(sorted[i - 1], sorted[i]));
        expect(seen.map((object) => (object === null ? null : [...object.bytes]))).toEqual(
          contents.map((bytes) => (bytes === null ? null : [...bytes])),
        );
      }),
      { numRuns: runs(200) },
    );
  });
});
