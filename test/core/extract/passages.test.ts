import { describe, expect, it } from "vitest";
import { listPassages, pickPassages } from "../../../src/core/extract/passages.ts";

const said = (...texts: readonly string[]) => texts.map((text, turn) => ({ turn, text }));
const pick = (texts: readonly string[], chars: number, known: readonly string[] = []): string[] =>
  pickPassages(listPassages(said(...texts)), { chars, lineChars: 0, isKnown: (text) => known.includes(text) }).map(
    ({ text }) => text,
  );

describe("picking passages", () => {
  const parser = "The parser keeps a stack of open brackets with their positions.";
  const again = "The parser keeps open brackets and their positions on a stack.";
  const deploy = "Deployment goes through the staging cluster before production traffic.";

  it("passes over what was picked already in other words", () => {
    expect(pick([parser, again, deploy], 140)).toEqual([parser, deploy]);
  });

  it("passes over announcements, headings, table rows, code and what is too short", () => {
    const texts = [
      "Let me look at the theme file and its settings first.",
      "Here are the files that belong to the colour theme:",
      "| column one | column two | column three | column four |",
      "```\nconst theme = loadTheme(settings, palette, colours);\n```",
      "All done now.",
      deploy,
    ];
    expect(pick(texts, 1000)).toEqual([deploy]);
  });

  it("keeps an announcement that gives a reason", () => {
    const reason = "Let me move the cache into the worker because threads share nothing.";
    expect(pick([reason], 1000)).toEqual([reason]);
  });

  it("leaves out what the reader has seen, and list marks", () => {
    expect(pick([`- ${parser}`, deploy], 1000, [deploy])).toEqual([parser]);
  });

  it("gives every stretch its turn", () => {
    const texts = Array.from({ length: 40 }, (_, n) =>
      [0, 1, 2]
        .map((k) => `Fact${n}x${k} concerns subject${n}y${k} within module${n}z${k} entirely alpha${n}.`)
        .join(" "),
    );
    const turns = pickPassages(listPassages(said(...texts)), { chars: 2000, lineChars: 0, isKnown: () => false }).map(
      ({ turn }) => turn,
    );
    expect(turns.some((turn) => turn < 10)).toBe(true);
    expect(turns.some((turn) => turn >= 30)).toBe(true);
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
  });

  it("picks nothing where there is no room or nothing to pick", () => {
    expect(pick([parser], 10)).toEqual([]);
    expect(pick([], 100)).toEqual([]);
  });
});
