// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { factsShown, factsWritten, kindOfFact, textOfFact } from "../../../bench/hindsight/fact.ts";
import { createFactReader } from "../../../bench/hindsight/fact-reader.ts";
import { saidEvents } from "../../helpers/said-events.ts";

function written(text: string, cwd?: string): readonly string[] {
  return [...factsWritten(text, cwd)];
}

describe("factsWritten", () => {
  it.each<[string, readonly string[]]>([
    ["see ./src/a.ts:12 and /usr/lib/node", ["path src/a.ts", "path /usr/lib/node"]],
    [
      "call parseLine() of snake_case in std::vec::Vec",
      ["identifier parseLine", "identifier snake_case", "identifier std::vec::Vec"],
    ],
    ["at a1b2c3d, not at abcdefa or 1234567z", ["sha a1b2c3d"]],
    ["1,234 rows, 2048 kb, 12.345, port 8080", ["number 1234", "number 2048", "number 12.345", "number 8080"]],
    ["three digits: 999, 0099, 12 ms, 45%, 1.5", []],
    ["#12, PROJ-77 and https://example.com/a/b.html are none of these", []],
    ["plain words, and/or nothing else", []],
    ["", []],
  ])("reads %j", (text, facts) => {
    expect(written(text)).toEqual(facts);
  });

  it("takes paths relative to the folder that the agent works in", () => {
    const cwd = "/home/ann/shop";
    expect(written("/home/ann/shop/src/till.ts src/till.ts", cwd)).toEqual(["path src/till.ts"]);
    expect(written("/home/ann/shop-two/src/till.ts", cwd)).toEqual(["path /home/ann/shop-two/src/till.ts"]);
  });

  it("takes no fact from that folder and those above it: the agent is told them with every request", () => {
    expect(written("cd /home/ann/shop && ls /home/ann", "/home/ann/shop")).toEqual([]);
  });

  it.each([
    ["one word of many letters", "aB".repeat(5_000_000)],
    ["slashes", "/".repeat(10_000_000)],
    ["short segments", "a/".repeat(5_000_000)],
    ["dots", "a.".repeat(5_000_000)],
    ["digits and commas", "1,234".repeat(2_000_000)],
    ["colons", "a::".repeat(3_333_333)],
    ["brackets", "((([[[{{{".repeat(1_111_111)],
    ["an address without an end", `https://${"a".repeat(10_000_000)}`],
    ["underscores", "_".repeat(10_000_000)],
  ])("ends on a line of 10 MB of %s", { tags: ["slow"] }, (_, line) => {
    const [event] = saidEvents([{ call: "Bash", args: {}, result: line }]).slice(1);
    expect(factsWritten(line).size).toBeLessThan(10);
    expect(createFactReader().errors(event!)).toEqual([]);
  });
});

describe("factsShown", () => {
  it("shows what a longer path and a longer SHA tell word for word", () => {
    const shown = factsShown(factsWritten("app/src/till.ts at 85b3faf0a2"));
    expect([...shown].sort()).toEqual(
      [
        "path app/src/till.ts",
        "path src/till.ts",
        "path till.ts",
        "sha 85b3faf0a2",
        "sha 85b3faf0a",
        "sha 85b3faf0",
        "sha 85b3faf",
      ].sort(),
    );
  });

  it("does not guess the longer from the shorter", () => {
    expect(factsShown(["path till.ts"]).has("path src/till.ts")).toBe(false);
  });

  it("never shows less than what is written", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const facts = factsWritten(text);
        const shown = factsShown(facts);
        return [...facts].every((fact) => shown.has(fact));
      }),
    );
  });
});

describe("a fact as one text", () => {
  it("gives back kind and text", () => {
    expect(kindOfFact("error cannot open it")).toBe("error");
    expect(textOfFact("error cannot open it")).toBe("cannot open it");
  });
});

describe("createFactReader", () => {
  it("reads error lines of results, neither short nor endless, and of nothing else", () => {
    const reader = createFactReader();
    const [asked, result] = saidEvents([
      {
        call: "Bash",
        args: { command: "make" },
        result: `ok\nError: the tide table has no row for Tuesday\nError: short\nError: ${"long ".repeat(80)}`,
      },
    ]);
    expect(reader.errors(result!)).toEqual(["Error: the tide table has no row for Tuesday"]);
    expect(reader.errors(asked!)).toEqual([]);
  });

  it("reads what stands in arguments, however deep", () => {
    const [call] = saidEvents([{ call: "Edit", args: { edits: [{ path: "src/tide.ts" }] }, result: "" }]);
    expect([...createFactReader().written(call!)]).toEqual(["path src/tide.ts"]);
  });
});
