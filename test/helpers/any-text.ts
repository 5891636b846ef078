// Texts of any characters at all. fast-check's own `unit: "binary"` makes a table of all 1.1 million of them for each such text
// that a law draws, a quarter of a second each time; here a character is a number, forth and back.
import fc, { type Arbitrary, type StringConstraints } from "fast-check";

/** Between them stand the halves of surrogate pairs, which are no characters. */
const [FIRST_HALF, AFTER_HALVES, LAST] = [0xd800, 0xe000, 0x10ffff];
const HALVES = AFTER_HALVES - FIRST_HALF;

/** A character; a text of them is `anyText`. */
export const anyCharacter: Arbitrary<string> = fc.nat(LAST - HALVES).map(
  (at) => String.fromCodePoint(at < FIRST_HALF ? at : at + HALVES),
  (text) => {
    const point = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point)) throw new Error("is no character");
    return point < FIRST_HALF ? point : point - HALVES;
  },
);

/** A text of any characters, from U+0000 on; lengths are in characters. */
export function anyText(constraints: Omit<StringConstraints, "unit"> = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: anyCharacter });
}

const IN_PATHS = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@"];

/** A character as addresses have it: as it is, or with percent signs. */
function written(...more: readonly string[]): Arbitrary<string> {
  const escaped = anyCharacter.map((one) => {
    const text = encodeURIComponent(one);
    return text === one ? `%${one.charCodeAt(0).toString(16)}` : text;
  });
  return fc.oneof({ weight: 10, arbitrary: fc.constantFrom(...IN_PATHS, ...more) }, { weight: 1, arbitrary: escaped });
}

/** The path of an address, `fc.webPath` without its table; it begins with a slash or is empty. */
export function anyPath(): Arbitrary<string> {
  return fc.array(fc.string({ unit: written() })).map((parts) => parts.map((part) => `/${part}`).join(""));
}

/** An address on the web with a path and sometimes a query, `fc.webUrl` without its table. */
export function anyUrl(): Arbitrary<string> {
  const query = fc.option(fc.string({ unit: written("/", "?") }));
  return fc
    .tuple(fc.constantFrom("http", "https"), fc.webAuthority(), anyPath(), query)
    .map(([scheme, host, path, asked]) => `${scheme}://${host}${path}${asked === null ? "" : `?${asked}`}`);
}
