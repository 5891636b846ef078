// @module-tag law
import fc from "fast-check";
import { expect, it } from "vitest";
import { textOfLines } from "../../../src/core/secrets/line-text.ts";
import { runs } from "../../helpers/runs.ts";

it("gives every string decoded, a short one with its name, and knows its line", () => {
  const lines = [
    '{"a":"one\\ntwo","d":"five","b":["three",{"c":"four"}]}',
    "no JSON",
    '"text alone"',
    `{"long":"${"x".repeat(300)}"}`,
  ];
  const { text, lineAt } = textOfLines(lines);
  expect(text).toBe(["one\ntwo", "d: five", "three", "c: four", "no JSON", "text alone", "x".repeat(300)].join("\n"));
  expect(["two", "four", "no JSON", "text alone", "xxx"].map((word) => lineAt(text.indexOf(word)))).toEqual([
    0, 0, 1, 2, 3,
  ]);
});

it("leaves no string out, however deep it is", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 6 }), { minLength: 1, maxLength: 5 }), (values) => {
      const lines = values.map((value) => JSON.stringify(value));
      const { text } = textOfLines(lines);
      const strings: string[] = [];
      for (const value of values)
        if (typeof value === "object")
          JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? strings.push(each) : each));
      for (const said of strings) expect(text).toContain(said);
    }),
    { numRuns: runs(100) },
  );
  const deep = `${"[".repeat(5000)}"here"${"]".repeat(5000)}`;
  expect(textOfLines([deep]).text).toBe("here");
});

it("gives names that may be secrets, whatever they name, and text without its colours", () => {
  const name = "a-name-that-is-long-enough";
  expect(textOfLines([`{"${name}":{"b":true}}`, `{"${name}":1}`]).text).toBe(`${name}\n${name}`);
  const { text, lineAt } = textOfLines([JSON.stringify({ a: "\u001b[01;31m\u001b[Kone\u001b[m\u001b[Ktwo" }), "three"]);
  expect(text).toBe("a: onetwo\nthree");
  expect(lineAt(text.indexOf("three"))).toBe(1);
});

it("gives escaped text unescaped, too, and words that two parts of a content make", () => {
  const parts = [
    { type: "text", text: "a to" },
    { type: "text", text: "ken b" },
    { type: "text", text: " c" },
  ];
  expect(textOfLines([JSON.stringify([JSON.stringify("p\\u0061ss")])]).text).toBe('"p\\\\u0061ss"\n"pass"');
  const seams = textOfLines([JSON.stringify({ parts })]).text.split("\n");
  expect(seams).toContain("a token");
  expect(seams).toContain("a token b c");
  const key = [{ text: "-----BEGIN PRIVATE KEY-----\nabc" }, { text: "def\nghi" }];
  expect(textOfLines([JSON.stringify(key)]).text).toContain("abcdef\nghi");
});

it("joins a word that spans more than two parts, and a name in one part with its value in the next", () => {
  const said = (...texts: string[]): readonly string[] =>
    textOfLines([JSON.stringify(texts.map((text) => ({ type: "text", text })))]).text.split("\n");
  expect(said("a to", "k", "en b")).toContain("a token");
  expect(said("first\nAPI_TOKEN=", "abc\nlast")).toContain("API_TOKEN=abc");
  expect(said("the password is ", "abc def")).toContain("the password is abc");
});

it("joins a name and a value in two fields, and the words of a command in a list", () => {
  const text = (value: unknown): readonly string[] => textOfLines([JSON.stringify(value)]).text.split("\n");
  expect(text([{ name: "API_TOKEN", value: "abc" }])).toContain("API_TOKEN: abc");
  expect(text({ Key: "db_password", Value: "abc" })).toContain("db_password: abc");
  expect(text({ name: "COLOUR", value: "red" })).not.toContain("COLOUR: red");
  expect(text({ command: ["tide", "--token", "abc"] })).toContain("tide --token abc");
  const long = "a".repeat(900);
  expect(text({ session_token: long, other: long })).toEqual([`session_token: ${long}`, long]);
});
