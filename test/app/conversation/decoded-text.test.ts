import { expect, it } from "vitest";
import { decodeText } from "../../../src/app/conversation/tree.ts";
import { decodeLines } from "../../../src/app/conversation/turns.ts";

const refused = expect.objectContaining({ kind: "repository", code: "text_too_long" });

it("a text is refused only if it is too long for a string", () => {
  expect(decodeText(Buffer.from("abcd"), 4)).toBe("abcd");
  expect(() => decodeText(Buffer.from("abcde"), 4)).toThrow(refused);
});

it.each(["one\ntwo\nthree\n", "one\nzwö\nthree"])("lines are read even if the whole file is too long: %j", (text) => {
  expect([...decodeLines(Buffer.from(text), 6)]).toEqual(text.split(/(?<=\n)/));
  expect(() => [...decodeLines(Buffer.from(text), 4)]).toThrow(refused);
});
