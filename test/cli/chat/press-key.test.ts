// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyCompletion, textOf } from "../../../src/cli/chat/edit-line.ts";
import { typeKeys } from "../../helpers/typed-keys.ts";

const ESC = "\u001b";
const [LEFT, UP, DOWN] = [`${ESC}[D`, `${ESC}[A`, `${ESC}[B`];
const CTRL = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96);
const PASTE = (text: string): string => `${ESC}[200~${text}${ESC}[201~`;
/** The line after the keys, `|` where the cursor stands. */
const line = (typed: string, history: readonly string[] = []): string => {
  const { cells, cursor } = typeKeys(typed, history).state;
  const shown = cells.map((cell) => cell.shown);
  return [...shown.slice(0, cursor), "|", ...shown.slice(cursor)].join("");
};

describe("a line that is typed", () => {
  it.each([
    [`helo${LEFT}l`, "hell|o"],
    [`hello${CTRL("a")}>`, ">|hello"],
    [`one two three${ESC}b${ESC}b!`, "one !|two three"],
    [`one two${CTRL("w")}x`, "one x|"],
    [`one two${CTRL("u")}x`, "x|"],
    [`one two${CTRL("a")}${ESC}d`, "| two"],
    [`one two${CTRL("w")}${CTRL("a")}${CTRL("y")}`, "two|one "],
    [`ab${LEFT}${CTRL("d")}`, "a|"],
    ["e\u0301x\u007f\u007f", "|"],
    ["👩‍👩‍👧\u007f", "|"],
    ["e\u0301", "e\u0301|"],
    [`a${CTRL("z")}b`, "ab|"],
    [`x${ESC}[A${ESC}[B`, "x|"],
    [`${ESC}hello`, "hello|"],
  ])("%j is %j", (typed, expected) => {
    expect(line(typed)).toBe(expected);
  });

  it("has several lines by Alt+Enter, Ctrl-J and a backslash, and the cursor goes between them", () => {
    expect(line(`one${ESC}\rtwo\nthree\\\rfour`)).toBe("one\ntwo\nthree\nfour|");
    expect(line(`one\ntwo${UP}!`)).toBe("one!|\ntwo");
    expect(line(`one\ntwo${UP}${UP}!`)).toBe("one!|\ntwo");
    expect(line(`one\nt${UP}${DOWN}!`)).toBe("one\nt!|");
    expect(line(`one\ntwo${CTRL("u")}`)).toBe("one\n|");
  });

  it("is sent by Enter, unless it ends in a backslash; two stand for themselves", () => {
    expect(typeKeys("a\r").effects).toEqual(["submit"]);
    expect(typeKeys("a\\\r").effects).toEqual([]);
    expect(typeKeys("a\\\\\r").effects).toEqual(["submit"]);
  });

  it("asks for nothing by Alt+Enter, and Escape loses nothing that follows it", () => {
    expect(typeKeys(`a${ESC}\r`).effects).toEqual([]);
    expect(typeKeys(`a${ESC}${CTRL("c")}`).effects).toEqual(["escape", "interrupt"]);
    expect(textOf(typeKeys(`${ESC}q${ESC}[`).state)).toBe("q[");
  });

  it("never leaves its cursor outside the text", () => {
    const key = fc.constantFrom(
      "a",
      "é",
      " ",
      "\n",
      "\u007f",
      LEFT,
      UP,
      DOWN,
      CTRL("w"),
      CTRL("k"),
      CTRL("y"),
      CTRL("r"),
      PASTE("x\ny"),
      `${ESC}f`,
      "\u001b[3~",
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
        const { cells, cursor } = typeKeys(keys.join(""), ["an earlier text", "é\nx"]).state;
        expect(cursor).toBeGreaterThanOrEqual(0);
        expect(cursor).toBeLessThanOrEqual(cells.length);
      }),
    );
  });
});

describe("a paste", () => {
  it("of one line stands as it is; of several, with a tab or very long it has a name, and is one step", () => {
    expect(line(PASTE("a small text"))).toBe("a small text|");
    expect(line(PASTE("one\r\ntwo\rthree"))).toBe("[pasted #1: 3 lines]|");
    expect(line(`${PASTE("a\tb")} ${PASTE("x".repeat(501))}`)).toBe("[pasted #1: 1 line] [pasted #2: 1 line]|");
    expect(line(`a${PASTE("1\n2")}\u007f`)).toBe("a|");
  });

  it("is sent whole, sends nothing itself, and names no file", () => {
    const { state, effects } = typeKeys(`see ${PASTE("@a.ts\n@b.ts\\\n")}`);
    expect(textOf(state)).toBe("see \\@a.ts\n\\@b.ts\\\n");
    expect(effects).toEqual([]);
    expect(textOf(typeKeys(`${PASTE("@a.ts")} @b.ts`).state)).toBe("\\@a.ts @b.ts");
    expect(typeKeys(`${PASTE("@a.ts\\")}\r`).effects).toEqual(["submit"]);
  });

  it("that somebody types the name of is text", () => {
    expect(textOf(typeKeys(`${PASTE("1\n2")}[pasted #1: 2 lines]`).state)).toBe("1\n2[pasted #1: 2 lines]");
  });
});

describe("what was typed before", () => {
  const history = ["newest", "older\nof two lines", "oldest"];

  it("comes back with the arrow keys, and what was being typed stays", () => {
    expect(line(UP, history)).toBe("newest|");
    expect(line(`draft${UP}${UP}`, history)).toBe("older\nof two lines|");
    expect(line(`draft${UP}${UP}${UP}${UP}`, history)).toBe("oldest|");
    expect(line(`draft${UP}${UP}${CTRL("n")}${CTRL("n")}${CTRL("n")}`, history)).toBe("draft|");
  });

  it("is searched with Ctrl-R, again further back; the search can be left and thrown away", () => {
    expect(line(`${CTRL("r")}OLD`, history)).toBe("older\nof two lines|");
    expect(line(`${CTRL("r")}old${CTRL("r")}`, history)).toBe("oldest|");
    expect(line(`${CTRL("r")}old${CTRL("r")}${CTRL("r")}!`, history)).toBe("|");
    expect(line(`${CTRL("r")}new${CTRL("a")}x`, history)).toBe("x|newest");
    expect(line(`draft${CTRL("r")}new${CTRL("c")}`, history)).toBe("draft|");
    expect(line(`${CTRL("r")}newx\u007f${ESC}`, history)).toBe("newest|");
    expect(typeKeys(`${CTRL("r")}new\r`, history).effects).toEqual(["submit"]);
  });
});

describe("a completion", () => {
  const complete = (typed: string, candidates: readonly string[], replaced: string) => {
    const { state, listed } = applyCompletion(typeKeys(typed).state, [candidates, replaced]);
    return [textOf(state), listed];
  };

  it("replaces what stands before the cursor, as far as the candidates agree; else it lists them", () => {
    expect(complete("see @sr", ["@src/a.ts "], "@sr")).toEqual(["see @src/a.ts ", []]);
    expect(complete("@s", ["@src/a", "@src/b"], "@s")).toEqual(["@src/", []]);
    expect(complete("@src/", ["@src/a", "@src/b"], "@src/")).toEqual(["@src/", ["@src/a", "@src/b"]]);
    expect(complete("x", [], "x")).toEqual(["x", []]);
  });
});
