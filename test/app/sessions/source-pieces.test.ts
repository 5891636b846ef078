// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createBufferSource,
  cutPieces,
  parseReference,
  pieceChanges,
  referenceTo,
  type SourcePiece,
} from "../../../src/app/sessions/sources.ts";

const line = fc.oneof(
  { weight: 5, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ minLength: 30, maxLength: 60 }) },
);
const file = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
  .map(([lines, end, isEnded]) => Buffer.from(lines.join(end) + (isEnded && lines.length > 0 ? end : "")));
const limits = fc.record({ piece: fc.integer({ min: 1, max: 40 }), line: fc.integer({ min: 20, max: 50 }) });

interface Case {
  readonly bytes: Buffer;
  readonly pieces: readonly SourcePiece[];
  readonly stretches: number;
}

/** A file cut into turns at random lines, and each turn into pieces. */
const cut: fc.Arbitrary<Case & { readonly limits: { piece: number; line: number } }> = fc
  .tuple(file, limits, fc.array(fc.nat(30), { maxLength: 5 }))
  .map(([bytes, sizes, at]) => {
    const source = createBufferSource(bytes);
    const cuts = [0, ...at.map((n) => Math.min(n, source.lineCount)).sort((a, b) => a - b), source.lineCount];
    const pieces = cuts
      .slice(0, -1)
      .flatMap((first, turn) => cutPieces(source, { session: "s", turn, first, end: cuts[turn + 1]! }, sizes));
    return { bytes, pieces, stretches: cuts.length - 1, limits: sizes };
  });

/** What a store would give back: attachments in the place of references. */
function stored({ bytes, pieces, limits: sizes }: Case & { readonly limits: { piece: number; line: number } }): Buffer {
  const files = new Map<string, Uint8Array>();
  const source = createBufferSource(bytes);
  for (const piece of pieces)
    for (const change of pieceChanges(source, piece, sizes))
      if ("bytes" in change) files.set(change.path, change.bytes);
  const paths = [...files.keys()].filter((path) => path.startsWith("sources/")).sort();
  return Buffer.concat(
    paths.map((path) => {
      const name = parseReference(files.get(path)!);
      return name === null ? files.get(path)! : files.get(`attachments/${name.slice(0, 2)}/${name}`)!;
    }),
  );
}

describe("cutPieces", () => {
  it("makes pieces whose concatenation in path order is the file", () => {
    fc.assert(
      fc.property(cut, (one) => {
        expect(stored(one).toString("latin1")).toBe(one.bytes.toString("latin1"));
      }),
    );
  });

  it("cuts at line ends, gives each piece a path of its own, and none is longer than allowed but for one line", () => {
    fc.assert(
      fc.property(cut, ({ bytes, pieces, stretches, limits: sizes }) => {
        const source = createBufferSource(bytes);
        const starts = new Set(Array.from({ length: source.lineCount + 1 }, (_, index) => source.lineStart(index)));
        expect(pieces.every(({ start, end }) => starts.has(start) && starts.has(end))).toBe(true);
        expect(new Set(pieces.map(({ path }) => path)).size).toBe(pieces.length);
        expect(pieces.length).toBeGreaterThanOrEqual(stretches);
        for (const { start, end } of pieces) {
          const lines = [...starts].filter((at) => start < at && at < end).length + 1;
          expect(end - start <= sizes.piece || lines === 1).toBe(true);
        }
      }),
    );
  });

  it("does not change the pieces before the last when the file grows", () => {
    fc.assert(
      fc.property(file, file, limits, (begin, more, sizes) => {
        fc.pre(begin.length > 0 && begin.at(-1) === 10);
        const pieces = (bytes: Buffer) => {
          const source = createBufferSource(bytes);
          return cutPieces(source, { session: "s", turn: 3, first: 0, end: source.lineCount }, sizes);
        };
        const before = pieces(begin);
        expect(pieces(Buffer.concat([begin, more])).slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      }),
    );
  });
});

describe("parseReference", () => {
  it("reads back the reference to an overlong line, and takes nothing else for one", () => {
    const name = `${"0123456789abcdef".repeat(4)}.jsonl`;
    expect(parseReference(referenceTo(name))).toBe(name);
    expect(parseReference(Buffer.from(`{"$attachment":"${name}"}`))).toBeNull();
    expect(parseReference(Buffer.from(`{"$attachment":"../${name}"}\n`))).toBeNull();
    expect(parseReference(Buffer.from(`{"type":"user","$attachment":"${name}"}\n`))).toBeNull();
  });
});
