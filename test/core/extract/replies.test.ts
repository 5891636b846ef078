import { describe, expect, it } from "vitest";
import { isChoice, questionOf, repliesTo } from "../../../src/core/compact/decisions.ts";

const OPTIONS = "Two ways:\n\n1. **Cache** the tree\n2. Read it again\n\nWhich do you want?";

describe("repliesTo", () => {
  it.each([
    ["yes", "I can fix it.\n\nShall I do it? It takes a minute.", "Shall I do it? It takes a minute."],
    ["2", OPTIONS, "Which do you want? / 2: Read it again"],
    [
      "Yes. And sort the rest by name, with the newest of each name first, please.",
      "I would stop. Shall I?",
      "I would stop. Shall I?",
    ],
    ["let's do option 1", OPTIONS, "Which do you want? / 1: Cache the tree"],
    ["B", "| **A. Now** | soon |\n| **B. Later** | late |\n\nWhich one?", "Which one? / B: Later | late |"],
    ["ja, bitte", "Soll ich das tun?", "Soll ich das tun?"],
    ["好的", "要我修复吗？", "要我修复吗？"],
    ["try again", "The key is locked. Unlock it first.", "Unlock it first."],
  ])("%j carries what it replies to", (reply, answer, question) => {
    expect(repliesTo(reply, answer)).toBe(question);
  });

  it.each([
    ["a reply of its own", "update the tests too", "All is done."],
    ["a question", "why?", "Shall I do it?"],
    ["a long reply", `sort it ${"and that ".repeat(10)}`, "Shall I do it?"],
    ["several lines", "sort\nit", "Shall I do it?"],
    ["a slash command", "/review", "Shall I do it?"],
    ["nothing", " ", "Shall I do it?"],
  ])("%s carries nothing", (_, reply, answer) => {
    expect(repliesTo(reply, answer)).toBeNull();
  });

  it("carries nothing where nothing was said before", () => {
    expect(repliesTo("yes", undefined)).toBeNull();
  });
});

describe("questionOf", () => {
  it.each([
    ["Done.", null],
    ["Is it so? I looked.\n\nIt is.", null],
    ["It is done. Want me to commit?", "It is done. Want me to commit?"],
    [
      "It is done. Do you want me to commit it all to the branch now?",
      "Do you want me to commit it all to the branch now?",
    ],
    ["**Want me to commit?**", "**Want me to commit?**"],
    ["See:\n\n```\nwhy?\n```", null],
  ])("of %j is %j", (answer, question) => {
    expect(questionOf(answer)).toBe(question);
  });
});

describe("isChoice", () => {
  it.each([
    ["yes, go on", "Shall I?", true],
    ["nein", "Soll ich?", true],
    ["Refuse, yes.", "I would refuse. OK?", true],
    ["да", "Сделать?", true],
    ["2", OPTIONS, true],
    ["but that is slow", "Shall I?", false],
    ["yes", "It is done.", false],
    ["3", OPTIONS, false],
  ])("%j to %j: %j", (reply, answer, expected) => {
    expect(isChoice(reply, answer)).toBe(expected);
  });
});
