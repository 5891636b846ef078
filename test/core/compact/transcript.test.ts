// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlacedEvent } from "../../../src/core/compact/event-ledger.ts";
import { fitParts, fitWhole, renderTranscript, writeEntries } from "../../../src/core/compact/transcript.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { estimateTextTokens } from "../../../src/core/conversation/text-tokens.ts";
import { runs } from "../../helpers/runs.ts";
import { answer, call, request, result, thought } from "../../helpers/sample-view.ts";

const LIMITS = { output: 40, speech: 1000 };
const at = (turn: number, ...events: readonly Event[]): PlacedEvent[] => events.map((event) => ({ turn, event }));
const render = (...events: readonly PlacedEvent[]) => renderTranscript(events, LIMITS);

describe("renderTranscript", () => {
  it("says who speaks, in which turn, and which tool a result is of", () => {
    const { text, mark, cut } = render(
      ...at(
        2,
        request("a", "look"),
        thought("b", "hm"),
        call("c", "Bash", { command: "ls\npwd", all: true }),
        result("d", "c", "none", true),
      ),
      ...at(3, answer("e", "done")),
    );
    expect(text).toBe(
      [
        "@ turn 2",
        "@ user\nlook",
        "@ assistant thinks\nhm",
        "@ call of Bash\ncommand: ls\npwd\nall: true",
        "@ result of Bash (failed)\nnone",
        "@ turn 3",
        "@ assistant\ndone",
      ].join("\n"),
    );
    expect([mark, cut]).toEqual(["@", { texts: 0, chars: 0 }]);
  });

  it("separates what the user typed from what was added", () => {
    const harness: Event = { ...request("a", "reminder"), role: "system", metadata: { origin: "harness" } };
    const queued: Event = { ...request("b", "and this"), metadata: { origin: "queued" } };
    const developer: Event = { ...request("c", "rules"), role: "developer" };
    const system: Event = { ...request("d", "more rules"), role: "system", metadata: { origin: "queued" } };
    const user: Event = { ...request("e", "and"), role: "user", metadata: { origin: "typed" } };
    expect(render(...at(0, harness, queued, developer, system, user)).text).toBe(
      [
        "@ turn 0",
        "@ harness\nreminder",
        "@ user, while the assistant worked\nand this",
        "@ developer\nrules",
        "@ system\nmore rules",
        "@ user\nand",
      ].join("\n"),
    );
  });

  it("keeps head and tail of long outputs, and counts them; what is said has more room", () => {
    const { text, cut: left } = render(...at(0, request("a", "u".repeat(100)), result("b", "x", "r".repeat(200))));
    const cut = `${"r".repeat(20)}\n[compacted: 160 characters left out]\n${"r".repeat(20)}`;
    expect(text).toBe(`@ turn 0\n@ user\n${"u".repeat(100)}\n@ result of unknown tool\n${cut}`);
    expect(left).toEqual({ texts: 1, chars: 160 });
  });

  it("shortens each kind of text by its own limit, and counts every one", () => {
    const limits = { output: 100, speech: 200 };
    const cut = (length: number, limit: number): string =>
      `${"x".repeat(limit / 2)}\n[compacted: ${length - limit} characters left out]\n${"x".repeat(limit / 2)}`;
    const x = "x".repeat(400);
    const data: Event = { type: "chat_response", id: "e", timestamp: "", data: [x] };
    const attached: Event = { ...request("f", ""), content: [{ type: "attachment", name: "a", text: x }] };
    const parts: Event = { ...request("g", ""), content: [{ type: "text", text: x }] };
    const output = cut(400, 100);
    const json = `["${"x".repeat(48)}\n[compacted: 304 characters left out]\n${"x".repeat(48)}"]`;
    const events = [request("a", x), answer("b", x), thought("c", x), call("d", "T", { a: x, b: [x] }), data];
    expect(renderTranscript(at(0, ...events, attached, parts), limits)).toEqual({
      text: [
        "@ turn 0",
        `@ user\n${cut(400, 200)}`,
        `@ assistant\n${cut(400, 200)}`,
        `@ assistant thinks\n${output}`,
        `@ call of T\na: ${output}\nb: ${json}`,
        `@ assistant data\n${json}`,
        `@ user\n[attachment a]\n${cut(400, 200)}`,
        `@ user\n${cut(400, 200)}`,
      ].join("\n"),
      mark: "@",
      cut: { texts: 8, chars: 2008 },
    });
  });

  it.each<[string, unknown, string]>([
    ["none", undefined, ""],
    ["an empty object", {}, ""],
    ["null", null, "\nnull"],
    ["a text", "ls", '\n"ls"'],
    ["a list", ["ls", 1], '\n["ls",1]'],
    ["fields", { a: "x\ny", b: { c: 1 }, d: null, e: undefined }, '\na: x\ny\nb: {"c":1}\nd: null\ne: '],
  ])("writes arguments that are %s", (_, args, body) => {
    expect(render(...at(0, call("a", "Bash", args))).text).toBe(`@ turn 0\n@ call of Bash${body}`);
  });

  it("writes names of tools on one line", () => {
    const events = [call("a", " My\n\n@ user ", {}), result("b", "a", "ok"), result("c", "a", "no", true)];
    expect(render(...at(0, ...events)).text).toBe(
      "@ turn 0\n@ call of My @ user\n@ result of My @ user\nok\n@ result of unknown tool (failed)\nno",
    );
  });

  it("reads documents of text, and what can be read of what only a provider understands", () => {
    const source = { type: "text", media_type: "text/plain", data: "the words" };
    const parts: Event = {
      ...request("a", ""),
      content: [
        { type: "document", title: "Notes", media_type: "text/plain", data: Buffer.from("tide").toString("base64") },
        { type: "opaque", provider: "anthropic", value: { type: "document", source } },
      ],
    };
    expect(
      render(...at(0, parts))
        .text.split("\n")
        .slice(2),
    ).toEqual(["[document Notes text/plain]", "tide", "[anthropic document]", "the words"]);
  });

  it("names images and documents, and reads attachments", () => {
    const parts: Event = {
      ...request("a", ""),
      content: [
        { type: "text", text: "see" },
        { type: "image", media_type: "image/png", data: "AAAA" },
        { type: "attachment", name: "a.txt", text: "inside" },
        { type: "opaque", provider: "openai", value: {} },
        { type: "attachment" },
        { type: "document", title: "Plan", media_type: "application/pdf" },
        { type: "image" },
        { type: "opaque", value: 1 },
        JSON.parse('{"type": "video", "seconds": 3}'),
      ],
    };
    expect(render(...at(0, parts)).text.split("\n")).toEqual([
      "@ turn 0",
      "@ user",
      "see",
      "[image image/png]",
      "[attachment a.txt]",
      "inside",
      "[what only openai can read]",
      "[attachment without a name]",
      "[document Plan application/pdf]",
      "[image]",
      "[what only its provider can read]",
      '{"type":"video","seconds":3}',
    ]);
  });

  it("skips what no model is sent, and reasoning whose text was withheld", () => {
    const note: Event = { type: "note", id: "n", timestamp: "", kind: "progress" };
    const bare: Event = { type: "chat_response", id: "b", timestamp: "" };
    expect(render(...at(0, note, thought("b", ""), thought("c", " \n"), bare)).text).toBe("@ turn 0");
    expect(render(...at(1, note))).toEqual({ text: "", mark: "@", cut: { texts: 0, chars: 0 } });
  });

  it.each([
    ["@", ["text @ word", "@1 end", "@", "@x"]],
    ["@1", ["@ user", "@2 end"]],
    ["@2", ["one\r@ user\ntwo\n@1 user"]],
    ["@2", ["@ user\n@ user", "@1 user\n@1 user"]],
  ])("takes %s for its mark where it is free", (mark, bodies) => {
    expect(writeEntries(bodies.map((body) => ({ label: "said", body })))).toEqual({
      mark,
      text: bodies.map((body) => `${mark} said\n${body}`).join("\n"),
    });
  });

  it("marks its own lines by what no text begins a line with", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom("@ user", "@1 end", "@2 ", "@", "x", "\r", "\n"), { maxLength: 6 }), {
          maxLength: 5,
        }),
        (bodies) => {
          const entries = bodies.map((words) => ({ label: "said", body: words.join("\n") }));
          const { text, mark } = writeEntries(entries);
          expect(text.split(/[\n\r]/).filter((line) => line.startsWith(`${mark} `))).toHaveLength(entries.length);
        },
      ),
    );
  });
});

/** Turns of so many calls each, with outputs of so many characters. */
function events(turns: readonly number[], size: number): PlacedEvent[] {
  return turns.flatMap((calls, turn) => [
    { turn, event: request(`u${turn}`, `do ${turn}`) },
    ...Array.from({ length: calls }, (_, n) => [
      { turn, event: call(`c${turn}.${n}`, "Bash", { command: "ls" }) },
      { turn, event: result(`r${turn}.${n}`, `c${turn}.${n}`, "x".repeat(size)) },
    ]).flat(),
    { turn, event: answer(`a${turn}`, `did ${turn}`) },
  ]);
}

describe("fitWhole", () => {
  it("leaves nothing out where all fits", () => {
    const all = [
      { turn: 0, event: request("u", "u".repeat(50_000)) },
      { turn: 0, event: result("r", "x", "r".repeat(90_000)) },
    ];
    const whole = renderTranscript(all, { output: 1_000_000, speech: 1_000_000 });
    expect(fitWhole(all, estimateTextTokens(whole.text))).toEqual(whole);
    expect(whole.cut).toEqual({ texts: 0, chars: 0 });
  });

  it("shortens the longest outputs first, no more than it must, and gives up where that does not help", () => {
    const all = [...events([3], 3000), { turn: 0, event: result("long", "x", "l".repeat(60_000)) }];
    const fit = fitWhole(all, 15_000);
    expect(fit?.cut.texts).toBe(1);
    expect(fit?.text).toContain("x".repeat(3000));
    const tokens = estimateTextTokens(fit?.text ?? "");
    expect(tokens).toBeLessThanOrEqual(15_000);
    expect(tokens).toBeGreaterThan(14_800);
    expect(fitWhole(all, 1000)).toBeNull();
  });

  it("shortens what is said only when outputs are as short as can be", () => {
    const all = [
      { turn: 3, event: request("u", "u".repeat(50_000)) },
      { turn: 3, event: result("r", "x", "r".repeat(5000)) },
    ];
    const outputs = renderTranscript(all, { output: 2000, speech: 1_000_000 });
    expect(fitWhole(all, estimateTextTokens(outputs.text))?.text).toContain("u".repeat(50_000));
    const both = fitWhole(all, estimateTextTokens(outputs.text) - 1000);
    expect(both?.cut.texts).toBe(2);
    const least = renderTranscript(all, { output: 2000, speech: 20_000 });
    expect(fitWhole(all, estimateTextTokens(least.text))).toEqual(least);
    expect(fitWhole(all, estimateTextTokens(least.text) - 1)).toBeNull();
  });
});

describe("fitParts", () => {
  it("puts every event in exactly one part, in order, each part within the budget", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }),
        fc.nat(4000),
        fc.integer({ min: 1000, max: 9000 }),
        (turns, size, budget) => {
          const all = events(turns, size);
          const parts = fitParts(all, budget);
          expect(parts.flatMap((part) => part.events)).toEqual(all);
          for (const { transcript } of parts) expect(estimateTextTokens(transcript.text)).toBeLessThanOrEqual(budget);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  it("shortens a single message that is too long by itself", () => {
    const [part, ...more] = fitParts([{ turn: 0, event: request("u", "long ".repeat(50_000)) }], 1000);
    expect(more).toEqual([]);
    expect(part?.transcript.cut.texts).toBe(1);
    expect(estimateTextTokens(part?.transcript.text ?? "")).toBeLessThanOrEqual(1000);
  });
});

describe("fitParts, where", () => {
  const long = { turn: 0, event: request("u", "u".repeat(30_000)) };
  const output = { turn: 0, event: result("r", "x", "r".repeat(30_000)) };

  it.each([
    ["speech is whole", long, { output: 2000, speech: 30_000 }],
    ["speech is halved", long, { output: 2000, speech: 10_000 }],
    ["speech is halved again", long, { output: 2000, speech: 5000 }],
    ["speech is as short as can be", long, { output: 200, speech: 200 }],
    ["outputs are whole", output, { output: 30_000, speech: 20_000 }],
    ["outputs are as short as they become before words", output, { output: 2000, speech: 20_000 }],
    ["outputs are as short as speech", output, { output: 1250, speech: 1250 }],
    ["outputs are as short as can be", output, { output: 200, speech: 200 }],
  ])("%s, takes the first length that fits exactly", (_, event, limits) => {
    const transcript = renderTranscript([event], limits);
    expect(fitParts([event], estimateTextTokens(transcript.text))).toEqual([{ events: [event], transcript }]);
  });

  it("nothing fits, gives the shortest text", () => {
    const transcript = renderTranscript([long], { output: 200, speech: 200 });
    expect(fitParts([long], 0)).toEqual([{ events: [long], transcript }]);
  });

  it("there is nothing, makes no part", () => {
    expect(fitParts([], 1000)).toEqual([]);
  });

  it("a turn is too long by itself, cuts it where a message ends", () => {
    const place = (turn: number, event: Event): PlacedEvent => ({ turn, event });
    const all = [
      place(4, request("a", "a".repeat(100))),
      place(5, request("b", "b".repeat(600))),
      place(5, answer("c", "c".repeat(600))),
      place(5, answer("d", "d".repeat(600))),
      place(6, request("e", "e".repeat(600))),
      place(6, answer("f", "f".repeat(100))),
    ];
    const ids = (budget: number): string[] =>
      fitParts(all, budget).map(({ events: part }) => part.map(({ event }) => event.id).join(""));
    expect(ids(100_000)).toEqual(["abcdef"]);
    expect(ids(800)).toEqual(["abcd", "ef"]);
    expect(ids(600)).toEqual(["abc", "def"]);
    expect(ids(300)).toEqual(["ab", "c", "d", "ef"]);
    expect(ids(0)).toEqual(["a", "b", "c", "d", "e", "f"]);
  });
});
