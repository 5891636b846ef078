// @module-tag law
// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPhrase, parsePhrase } from "../../../src/core/compact/phrase.ts";
import { normalText } from "../../../src/core/compact/words.ts";
import { runs } from "../../helpers/runs.ts";

const words = fc.array(fc.stringMatching(/^[a-z]{1,6}$|^[1-9][0-9]{0,8}$/), { minLength: 1, maxLength: 5 });
/** Ways to spell a word that are all the same word. */
const SPELLINGS: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => `**${word}**`,
  (word) => `${word.slice(0, 1)}\`${word.slice(1)}\``,
  (word) => (/^\d+$/.test(word) ? word.replace(/\B(?=(\d{3})+$)/g, ",") : word),
  (word) => [...word].map((letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join(""),
];
const GAPS = [" ", "\n", "  ", "\u00a0", "\r\n\t"];
const find = (texts: readonly string[], phrase: string) => findPhrase(texts, parsePhrase(phrase));

describe("findPhrase", () => {
  it("finds a phrase however its words are spelt", () => {
    const how = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(words, how, fc.string(), (phrase, choices, around) => {
        const text = phrase
          .map((word, at) => (SPELLINGS[(choices[at] ?? 0) % SPELLINGS.length] as (word: string) => string)(word))
          .reduce((all, word, at) => `${all}${GAPS[(choices[at + 5] ?? 0) % GAPS.length] ?? " "}${word}`);
        expect(find([`${around} ${text} ${around}`], phrase.join(" "))).not.toBeNull();
      }),
    );
  });

  it("finds what stands in the text or in its normal text, and nothing else", () => {
    const piece = fc.constantFrom(
      "a",
      "B",
      "b",
      "*",
      "`",
      "1",
      "234",
      ",",
      "ﬁ",
      "fi",
      "Σ",
      "ς",
      "e\u0301",
      "\u0301",
      " ",
      "\n",
      "—",
      "-",
      "K",
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, text, (said, wanted) => {
        fc.pre(wanted.trim() !== "");
        const normal = normalText(wanted).trim();
        const isThere = said.includes(wanted) || (normal !== "" && normalText(said).includes(normal));
        expect(find([said], wanted) !== null).toBe(isThere);
      }),
      { numRuns: runs(500) },
    );
  });

  it("says which match it is, how often, and gives the line", () => {
    expect(find(["no", "one two, one\ntwo", "one two"], "one two")).toEqual({
      match: "exact",
      times: 2,
      line: "one two, one",
      from: 0,
      to: 7,
    });
    const found = find([`${"x".repeat(300)}\nthe **Limit** is 4,096 bytes`, "limit is 4096"], "limit is 4096 bytes");
    expect(found).toMatchObject({ match: "normalised", times: 1 });
    expect(found?.line.slice(found.from, found.to)).toBe("Limit** is 4,096 bytes");
  });

  it("never joins what stands in two texts", () => {
    expect(find(["one", "two"], "one two")).toBeNull();
  });

  it("takes a phrase of marks only as it stands, and one of several lines", () => {
    expect(find(["a ** b"], "**")).toMatchObject({ match: "exact" });
    expect(find(["a ` b"], "**")).toBeNull();
    expect(find(["first line\nsecond line"], "First line\n  second")).toMatchObject({ match: "normalised" });
  });

  it("refuses a phrase without a character to look for", () => {
    for (const text of ["", " \n\t\u00a0"]) expect(() => parsePhrase(text)).toThrow(/phrase is empty/);
  });

  it("takes a phrase of a MB, and texts of 10 MB, in seconds", () => {
    const started = process.cpuUsage().user;
    const long = "word ".repeat(200_000);
    expect(find([long.toUpperCase()], long)).toMatchObject({ match: "normalised", times: 1 });
    const texts = Array.from({ length: 100 }, (_, at) => `${at} lines of a log\n`.repeat(6000));
    expect(find([...texts, "a Zebra"], "zebra")).toMatchObject({ match: "normalised" });
    expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(5);
  });
});
