// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FirstKey, type KeyName, readKey } from "../../../src/cli/chat/keys.ts";

const PASTE = (text: string): string => `\u001b[200~${text}\u001b[201~`;
const named = (name: KeyName, length: number): FirstKey => ({ key: { kind: "named", name }, length });
const text = (typed: string): FirstKey => ({ key: { kind: "text", text: typed }, length: typed.length });

describe("the first key", () => {
  it.each<[string, FirstKey]>([
    ["abc\rdef", text("abc")],
    ["\r", named("enter", 1)],
    ["\r\nx", named("enter", 2)],
    ["\n", named("newline", 1)],
    ["\u001b\r", named("newline", 2)],
    ["\u001b\n", named("newline", 2)],
    ["\u001b[13;2u", named("newline", 7)],
    ["\u001b[27;2;13~", named("newline", 10)],
    ["\u001b\u0003", named("escape", 1)],
    ["\u001bhello", named("escape", 1)],
    ["\u001b\u001b[A", named("escape", 1)],
    ["\u001bb", named("word-left", 2)],
    ["\u001b[A", named("up", 3)],
    ["\u001bOA", named("up", 3)],
    ["\u001b[1;5Cx", named("word-right", 6)],
    ["\u001b[3~", named("delete", 4)],
    ["\u001b[3;5~", named("delete-word-right", 6)],
    ["\u001b[15~x", named("ignored", 5)],
    ["\u0007", named("external", 1)],
    ["\u009bA", named("ignored", 1)],
    [PASTE("x\r\ny\rz"), { key: { kind: "paste", text: "x\ny\nz" }, length: 18 }],
    ["\u001b[200~x\u0003y", named("interrupt", 8)],
  ])("of %j", (typed, expected) => {
    expect(readKey(typed, false)).toEqual(expected);
  });

  it.each(["\u001b", "\u001b[", "\u001b[20", "\u001bO"])("of %j is still to come, until nothing follows", (typed) => {
    expect(readKey(typed, false)).toBeNull();
    expect(readKey(typed, true)).toEqual(named("escape", 1));
  });

  it("of a paste whose end has not come is still to come, however long that takes", () => {
    expect(readKey("\u001b[200~x\ry", true)).toBeNull();
  });

  it("is always there once nothing follows, and takes something: nothing that is typed holds the keyboard", () => {
    const typed = fc.array(fc.constantFrom("\u001b", "[", "O", "a", "b", "1", ";", "~", "\r", "\u0003", "é"), {
      minLength: 1,
    });
    fc.assert(
      fc.property(typed, (characters) => {
        for (let rest = characters.join(""); rest !== ""; ) {
          const first = readKey(rest, true);
          expect(first?.length).toBeGreaterThan(0);
          rest = rest.slice(first?.length ?? rest.length);
        }
      }),
    );
  });
});
