import { expect, it } from "vitest";
import { quoteForShell, shellWord } from "../../src/core/safe-text.ts";

it("quotes a text whatever it holds", () => {
  expect(quoteForShell("")).toBe("''");
  expect(quoteForShell("plain")).toBe("'plain'");
  expect(quoteForShell("it's 'a")).toBe("'it'\\''s '\\''a'");
});

it.each(["src/a_b.ts", "-x=1", "user@host:22", "A9"])("leaves %s as a person would type it", (word) => {
  expect(shellWord(word)).toBe(word);
});

it.each(["", "a b", " a", "a ", "$HOME", "a;b", "*", "ä", "a\nb"])(
  "quotes %j, which a shell would read otherwise",
  (word) => {
    expect(shellWord(word)).toBe(`'${word}'`);
  },
);
