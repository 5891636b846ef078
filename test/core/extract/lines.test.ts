import { describe, expect, it } from "vitest";
import { bothEnds, newestLines, showAnswers, showPassages, showRequests } from "../../../src/core/compact/extract.ts";
import { listPassages } from "../../../src/core/compact/passages.ts";

const said = (...texts: readonly string[]) => texts.map((text, turn) => ({ turn, text }));
const a = (count: number): string => "a".repeat(count);

describe("showRequests", () => {
  it("shows what has room as it is, its lines set in", () => {
    expect(showRequests(said("one\n two", a(200)), 500)).toEqual(said("one\n   two", a(200)));
  });

  it("shows what a short reply replies to", () => {
    const reply = { turn: 1, text: "yes", after: "Shall I fix it?" };
    expect(showRequests([reply], 500)).toEqual([{ turn: 1, text: "yes (to: Shall I fix it?)" }]);
  });

  it("cuts long ones to a fair share, counting 16 characters beside each", () => {
    // 600 less 16 and 100 for the first leave 484, less 16; six are for the mark of the cut.
    expect(showRequests(said(a(100), a(1000)), 600)).toEqual(said(a(100), `${a(460)}\n  …`));
  });

  it("cuts none below 130 characters and none above 3000", () => {
    const [whole, cut] = showRequests(said(a(130), a(131)), 0);
    expect(whole).toEqual({ turn: 0, text: a(130) });
    expect(cut?.text).toMatch(/^a{122}\n {2}…$/);
    expect(showRequests(said(a(3000), a(3001)), 100_000)[0]?.text).toBe(a(3000));
    expect(showRequests([], 0)).toEqual([]);
  });
});

describe("showAnswers", () => {
  it("shows the newest that have room for 136 characters each", () => {
    const three = said(a(10), a(20), a(30));
    expect(showAnswers(three, 1000)).toEqual(three);
    expect(showAnswers(three, 408)).toEqual(three);
    expect(showAnswers(three, 407)).toEqual(three.slice(1));
    expect(showAnswers(three, 136)).toEqual(three.slice(2));
    expect(showAnswers(three, 135)).toEqual([]);
  });

  it("cuts the middle out of long ones, to a fair share or to 3000 characters", () => {
    const [, long] = showAnswers(said(a(10), a(900)), 542);
    expect(long?.text.length).toBeLessThanOrEqual(500);
    expect(long?.text).toMatch(/^a+\n {2}…\n {2}a+$/);
    expect(showAnswers(said(a(4000)), 10_000)[0]?.text.length).toBeLessThanOrEqual(3010);
    expect(showAnswers(said(a(3000)), 10_000)).toEqual(said(a(3000)));
  });

  it("leaves out answers that say nothing, and keeps lines and code", () => {
    const code = "see\n```ts\nconst a = 1;\n```";
    expect(showAnswers(said("", " \n", code), 10_000)).toEqual([
      { turn: 2, text: "see\n  ```ts\n  const a = 1;\n  ```" },
    ]);
  });
});

describe("showPassages", () => {
  const parser = "The parser keeps a stack of open brackets with their positions.";
  const long = `Deployment ${Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ")}.`;

  it("makes lines of what fits, 16 characters counted beside each", () => {
    const passages = listPassages(said(parser));
    expect(showPassages(passages, parser.length + 16, "")).toEqual([`- [t0] ${parser}`]);
    expect(showPassages(passages, parser.length + 15, "")).toEqual([]);
  });

  it("leaves out what was seen, whole or up to where it is cut", () => {
    const passages = listPassages(said(parser, long));
    expect(showPassages(passages, 1000, `It says: ${parser}`)).toMatchObject(
      [/^- \[t1\] Deployment .* …$/].map(matching),
    );
    expect(showPassages(passages, 1000, long)).toEqual([`- [t0] ${parser}`]);
    expect(showPassages(passages, 1000, long.slice(0, 100))).toHaveLength(2);
  });

  const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
});

describe("newestLines", () => {
  it("takes the newest that fit, in their order", () => {
    expect(newestLines(["one", "two", "three"], 10)).toEqual(["two", "three"]);
    expect(newestLines(["one", "two", "three"], 14)).toEqual(["one", "two", "three"]);
    expect(newestLines(["one", "a long line", "two"], 8)).toEqual(["one", "two"]);
  });
});

describe("bothEnds", () => {
  it("takes all that fit, each once, else the oldest and the newest", () => {
    expect(bothEnds(said("one", "two"), 100)).toEqual(["- [t0] one", "- [t1] two"]);
    expect(bothEnds([...said("one"), ...said("one")], 100)).toEqual(["- [t0] one"]);
    expect(bothEnds(said("one", "two", "six", "ten"), 24)).toEqual(["- [t0] one", "- [t3] ten"]);
  });
});
