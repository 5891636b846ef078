import fc from "fast-check";
import { expect, it } from "vitest";
import { textOfLines } from "../../../src/core/secrets/line-text.ts";
import { runs } from "../../helpers/runs.ts";

it("gives every string as it was said, a short one beside its name, and knows its line", () => {
  const lines = [
    '{"a":"one\\ntwo","b":["three",{"c":"four"}]}',
    "no JSON",
    '"text alone"',
    `{"long":"${"x".repeat(300)}"}`,
  ];
  const { text, lineAt } = textOfLines(lines);
  expect(text).toBe(["a: one\ntwo", "three", "c: four", "no JSON", '"text alone"', "x".repeat(300)].join("\n"));
  expect(["two", "four", "no JSON", "text alone", "xxx"].map((word) => lineAt(text.indexOf(word)))).toEqual([
    0, 0, 1, 2, 3,
  ]);
});

it("leaves no string out, however deep it stands", () => {
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
