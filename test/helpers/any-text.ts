// Texts of any characters at all. fast-check's own `unit: "binary"` makes a table of all 1.1 million of them for each such text
// that a law draws, a quarter of a second each time; here a character is a number, forth and back.
import fc, { type Arbitrary, type StringConstraints } from "fast-check";

/** Between them stand the halves of surrogate pairs, which are no characters. */
const [FIRST_HALF, AFTER_HALVES, LAST] = [0xd800, 0xe000, 0x10ffff];
const HALVES = AFTER_HALVES - FIRST_HALF;

const character: Arbitrary<string> = fc.nat(LAST - HALVES).map(
  (at) => String.fromCodePoint(at < FIRST_HALF ? at : at + HALVES),
  (text) => {
    const point = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point)) throw new Error("is no character");
    return point < FIRST_HALF ? point : point - HALVES;
  },
);

/** A text of any characters, from U+0000 on; lengths are in characters. */
export function anyText(constraints: Omit<StringConstraints, "unit"> = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: character });
}
