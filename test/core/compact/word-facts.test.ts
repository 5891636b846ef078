// The bounds of what single words are facts.

import { describe, expect, it } from "vitest";
import { normalPath, pathEnds, pathOf, scanFacts } from "../../../src/core/compact/facts.ts";
import type { FactKind } from "../../../src/core/conversation/compaction.ts";

function factsIn(text: string): readonly (readonly [FactKind, string])[] {
  const facts: [FactKind, string][] = [];
  scanFacts(text, (kind, fact) => facts.push([kind, fact]));
  return facts;
}

const only = (kind: FactKind, ...facts: readonly string[]) => facts.map((fact) => [kind, fact]);
const a = (count: number): string => "a".repeat(count);

describe("scanFacts", () => {
  it.each([
    ["a.bc() a.b() ab.cd", ["a.bc()"]],
    ["aBcde aBcd AbcDef ABCDE A_BCD", ["aBcde", "AbcDef", "A_BCD"]],
    ["1fooBar -fooBaz+9snake_case", ["fooBaz"]],
    ["fooBar.-: x:fooBar", ["fooBar", "fooBar"]],
    ["__init__ snake_ _snake_2 a__b_c", ["_snake_2", "a__b_c"]],
    ["a::b::c ::abc abc:: some-word a::some_name", ["a::b::c", "a::some_name", "some_name"]],
    ["some.memberCall() some.member( Some.thing()", ["some.memberCall()", "memberCall", "Some.thing()"]],
    [`${"x-".repeat(217)}fooBar`, ["fooBar"]],
    [`x${"x-".repeat(217)}fooBar`, []],
  ])("names identifiers: %j", (text, names) => {
    expect(factsIn(text)).toEqual(only("identifiers", ...names));
  });

  it.each([
    ["999 99 0999 099 12.5 1.5 0.05", ["999", "0999", "12.5"]],
    ["~500 +501 -502 x503 /504 --505", ["500", "501", "502"]],
    ["12ms 13MS 14q 15% 1_000 2,345,678 12,34", ["12 ms", "13 ms", "15%", "1000", "2345678"]],
    ["12 seconds, 13 Days, 14 apples, 15  ms, 5 ms, 16 x", ["12 seconds", "13 days"]],
    ["17 tokens\n18 percentage\n19 second", ["17 tokens", "19 second"]],
    ["173568960 1735689600 1435689600 1735689600000 17356896000", ["173568960", "1435689600", "17356896000"]],
    ["x 123: x 124| at 125\tx", ["123", "124", "125"]],
    ["1\n123: x\n  124| x\n125│x\n126\tx\n127→x\n128; x", ["128"]],
    [`a\n${" ".repeat(12)}123: x\n${" ".repeat(13)}124: x`, ["124"]],
    ["123: x", []],
    ["   123: x", []],
    [`1${",000".repeat(6)}.${"0".repeat(20)}kb`, [`1${"000".repeat(6)}.${"0".repeat(20)} kb`]],
    [`12${",000".repeat(6)}.${"0".repeat(20)}kb`, []],
  ])("takes numbers: %j", (text, numbers) => {
    expect(factsIn(text)).toEqual(only("numbers", ...numbers));
  });

  it("takes SHAs of 7 to 40 digits", () => {
    const long = "0123456789abcdef".repeat(3);
    expect(factsIn(`a1b2c3d ${long.slice(0, 40)} ${long.slice(0, 41)} a1b2c3 A1B2C3D`)).toEqual(
      only("shas", "a1b2c3d", long.slice(0, 40)),
    );
  });

  it("takes issues and tickets", () => {
    const text = "#1 #99999 #100000 #0 x#7 AB-1 A-1 ABCDEFGHIJ-123456 ABCDEFGHIJK-1 AB-1234567 SHA-256 1-2 xy-12";
    expect(factsIn(text)).toEqual(only("issues", "#1", "#99999", "#7", "AB-1", "ABCDEFGHIJ-123456"));
  });

  it.each([
    ["see:http://x.example/a, next", ["http://x.example/a"]],
    ["https://x.example/fooBar next", ["https://x.example/fooBar"]],
    ["https://x.example/?a=fooBar&b=1", ["https://x.example/?a=fooBar&b=1"]],
    ["<https://x.example/a>https://y.example", ["https://x.example/a", "https://y.example"]],
    ["https://x.example/a)**._ x:// x://. x://y", ["https://x.example/a", "x://y"]],
    [`${a(37)}://x ${a(38)}://x`, [`${a(37)}://x`]],
    ["://x 9://x", []],
    [`x://${a(1996)}`, [`x://${a(1996)}`]],
    [`x://${a(1997)}`, []],
    [`x://${a(3000)} y://z`, ["y://z"]],
  ])("takes URLs: %j", (text, urls) => {
    expect(factsIn(text)).toEqual(only("urls", ...urls));
  });
});

describe("pathOf", () => {
  it.each([
    ["/a", null],
    ["/a/b", "/a/b"],
    ["~/a", "~/a"],
    ["~a/b", null],
    ["src/a", null],
    ["src/a.q", "src/a.q"],
    ["a.q", null],
    ["a.ts", "a.ts"],
    [".ts", null],
    ["src/.ts", null],
    ["src/.a.ts", "src/.a.ts"],
    ["src.d/a", null],
    ["a//b.ts", null],
    ["src/a.abcdefgh", "src/a.abcdefgh"],
    ["src/a.abcdefghi", null],
    ["src/a.1x", null],
    ["./src/a.ts:12:3", "src/a.ts"],
    ["src/a.ts:12-14", "src/a.ts"],
    ["src/a.ts#L1-L2", "src/a.ts"],
    ["src/a.ts:x", null],
    ["src/a%b.ts", null],
    ["src/a.ts.:-/", "src/a.ts"],
    [".:-/", null],
    [`${a(397)}.ts`, `${a(397)}.ts`],
    [`${a(398)}.ts`, null],
    [`${a(397)}.ts:123456789:1234567890`, null],
    [`${a(397)}.ts:123456789:123456789`, `${a(397)}.ts`],
  ])("of %j is %j", (word, path) => {
    expect(pathOf(word)).toBe(path);
  });
});

describe("normalPath and pathEnds", () => {
  it.each([
    ["./a.ts/", "a.ts"],
    ["a//", "a"],
    ["/", "/"],
    ["//", "/"],
    ["./", ""],
    [".//", "/"],
    ["../a", "../a"],
  ])("writes %j as %j", (path, normal) => {
    expect(normalPath(path)).toBe(normal);
  });

  it.each([
    ["a/b/c.ts", ["b/c.ts", "c.ts"]],
    ["/a/b", ["a/b", "b"]],
    ["a/b/", ["b/"]],
    ["a.ts", []],
  ])("gives the ends of %j", (path, ends) => {
    expect(pathEnds(path)).toEqual(ends);
  });
});
