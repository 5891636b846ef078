import { describe, expect, it } from "vitest";
import {
  isAnnouncement,
  isRejecting,
  isYesOrNo,
  listPassages,
  pickPassages,
  typedText,
  weightOf,
} from "../../../src/core/compact/passages.ts";

const said = (...texts: readonly string[]) => texts.map((text, turn) => ({ turn, text }));
const pick = (texts: readonly string[], chars: number, known: readonly string[] = []): string[] =>
  pickPassages(listPassages(said(...texts)), { chars, lineChars: 0, isKnown: (text) => known.includes(text) }).map(
    ({ text }) => text,
  );

describe("picking passages", () => {
  const parser = "The parser keeps a stack of open brackets with their positions.";
  const again = "The parser keeps open brackets and their positions on a stack.";
  const deploy = "Deployment goes through the staging cluster before production traffic.";

  it("skips what was picked already in other words", () => {
    expect(pick([parser, again, deploy], 140)).toEqual([parser, deploy]);
  });

  it("skips announcements, headings, table rows, code and what is too short", () => {
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

  it("leaves out an announcement, also one that gives a reason", () => {
    const reason = "Let me move the cache into the worker because threads share nothing.";
    expect(pick([reason], 1000)).toEqual([]);
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

  it("counts the characters of a line besides its text", () => {
    const passages = listPassages(said(parser));
    const pickIn = (chars: number) => pickPassages(passages, { chars, lineChars: 10, isKnown: () => false });
    expect(pickIn(parser.length + 10)).toEqual(passages);
    expect(pickIn(parser.length + 9)).toEqual([]);
  });

  it("picks nothing where there is no room or nothing to pick", () => {
    expect(pick([parser], 10)).toEqual([]);
    expect(pick([], 100)).toEqual([]);
  });
});

describe("listPassages", () => {
  const texts = (...all: readonly string[]): readonly string[] => listPassages(said(...all)).map(({ text }) => text);

  it("scores rare terms, each text's once, by what the sentence is for", () => {
    const [first, second] = listPassages(
      said("alpha beta gamma delta epsilon alpha.", "alpha zetas thetas iotas kappas."),
    );
    const score = (2 * Math.log(3) * 2 + Math.log(2)) / Math.sqrt(5);
    expect(first).toMatchObject({ turn: 0, order: 0, terms: new Set(["alpha", "beta", "gamma", "delta", "epsilon"]) });
    expect(second).toMatchObject({ turn: 1, order: 1 });
    expect(first?.score).toBeCloseTo(score, 10);
    const again = listPassages(said("alpha beta gamma delta epsilon. alpha zetas thetas iotas kappas."));
    expect(again.map(({ score: one }) => one)).toEqual([5, 5].map((n) => (n * Math.log(2)) / Math.sqrt(5)).map(near));
  });

  const near = (value: number): unknown => expect.closeTo(value, 10);

  it.each([
    ["30 characters", "alphas betas gammas deltas eps", ["alphas betas gammas deltas eps"]],
    ["29 characters", "alphas betas gammas deltas ep", []],
    ["four terms", "alphabetical bewildering deltoids eps", ["alphabetical bewildering deltoids eps"]],
    ["three terms", "alphabetical bewildering deltoids and the", []],
    ["list marks", "12) alphas betas gammas deltas eps", ["alphas betas gammas deltas eps"]],
    ["one bold mark", "alphas **betas gammas deltoids. eps", ["alphas betas gammas deltoids."]],
    ["two bold marks", "alphas **betas** gammas deltas eps", ["alphas **betas** gammas deltas eps"]],
    [
      "code between fences",
      "```\nalphas betas gammas deltas eps\n```\nzetas thetas iotas kappas lambdas",
      ["zetas thetas iotas kappas lambdas"],
    ],
  ])("minds %s", (_, text, sentences) => {
    expect(texts(text)).toEqual(sentences);
  });

  it("cuts a sentence at 320 characters, and looks at both ends of a long text", () => {
    const long = Array.from({ length: 90 }, (_, n) => `word${n + 10}`).join(" ");
    expect(texts(long)[0]).toMatch(/^word10 .* …$/);
    expect(texts(long)[0]?.length).toBeLessThanOrEqual(320);
    const [start, end] = ["alphas betas gammas deltas eps.", "zetas thetas iotas kappas lambdas."];
    const middle = "middles muddles meddles moddles.";
    const filled = `${start} ${"x ".repeat(3500)}\n${middle}\n${"y ".repeat(3500)}\n${end}`;
    expect(texts(filled)).toEqual([start, end]);
    expect(texts(`${start}\n${middle}\n${end}`)).toEqual([start, middle, end]);
  });
});

describe("typedText", () => {
  it.each([
    ["fix it", "fix it"],
    ["<system-reminder>\nmind this\n</system-reminder>\nfix it", "fix it"],
    ["fix it<ide_opened_file>a.ts</ide_opened_file> now", "fix it now"],
    ["<environment_context>\n<cwd>/p</cwd>\n</environment_context>", ""],
    ["<user_query>\nfix it\n</user_query>", "fix it"],
    [
      "<command-name>/goal</command-name>\n<command-message>goal</command-message>\n<command-args>be done</command-args>",
      "/goal be done",
    ],
    ["<command-name>review</command-name>", "/review"],
    ["<command-name>/exit</command-name><command-args></command-args>", ""],
    ["<command-name>/compact</command-name><command-args>keep the plan</command-args>", ""],
    ["/compact", ""],
    ["/compact keep the plan and the names of the tests", ""],
    [" /model opus \n", ""],
    ["/approvals", ""],
    ["<command-name>/add-dir</command-name><command-args>../lib</command-args>", ""],
    ["/review", "/review"],
    ["/init", "/init"],
    ["/model is undefined in the routes, please fix it", "/model is undefined in the routes, please fix it"],
    ["/config\nis the folder that you want", "/config\nis the folder that you want"],
    ["/home/ada/compact is missing", "/home/ada/compact is missing"],
    ["<bash-input>git pull</bash-input>", "! git pull"],
    ["[Request interrupted by user for tool use]", ""],
    ["No response requested.", ""],
    ["why does <Button> render <div>x</div>?", "why does <Button> render <div>x</div>?"],
    ["a <system-reminder> that is never closed", "a <system-reminder> that is never closed"],
    ["if a < b and c > d", "if a < b and c > d"],
  ])("of %j is %j", (text, typed) => {
    expect(typedText(text)).toBe(typed);
  });

  it("takes many tags that are never closed", () => {
    const text = "<system-reminder>".repeat(50_000);
    expect(typedText(text)).toBe(text);
  });
});

describe("weightOf", () => {
  it.each([
    ["a plain sentence", "The parser has a stack.", 1],
    ["trouble", "The build is broken again.", 1.5],
    ["a reason", "It stops there because of a typo.", 1.5],
    ["an announcement", "Let me fix the parser.", 0],
    ["what is done at the moment", "Now the test file as well.", 0],
    ["a heading of a list", "These are the files:", 0],
    ["a row of a table", "| because | the |", 0],
    ["a rule", "--- because", 0],
    ["code", "return because;", 0],
    ["a comment in code", "// because of this", 0],
  ])("weighs %s: %j", (_, sentence, weight) => {
    expect(weightOf(sentence)).toBe(weight);
  });
});

describe("isAnnouncement", () => {
  it.each(["Let me look.", "Now let me look.", "Great! I'll run it.", "Voy a probarlo.", "让我看看"])(
    "is %j",
    (text) => {
      expect(isAnnouncement(text)).toBe(true);
    },
  );

  it.each(["I should note that it is slow.", "It lets me look.", "Letters are read."])("is not %j", (text) => {
    expect(isAnnouncement(text)).toBe(false);
  });
});

describe("isYesOrNo and isRejecting", () => {
  it("know the beginning of a reply", () => {
    expect(["yes!", "ok", "oui, merci", "はい", "No."].map(isYesOrNo)).toEqual([true, true, true, true, true]);
    expect(["yesterday", "okra", "note this"].map(isYesOrNo)).toEqual([false, false, false]);
    expect(["no, not so", "Stop", "не так"].map(isRejecting)).toEqual([true, true, true]);
    expect(["now go on", "nice", "note"].map(isRejecting)).toEqual([false, false, false]);
  });
});
