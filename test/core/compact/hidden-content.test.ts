import { describe, expect, it } from "vitest";
import {
  commandFacts,
  commandLineOf,
  commandsRun,
  filesNamed,
  firstLine,
  formatLoss,
  hiddenContent,
  stringsIn,
  textsOf,
} from "../../../src/core/compact/hidden-content.ts";
import { FACT_KINDS, type FactCounts, type FactKind } from "../../../src/core/conversation/compaction.ts";
import type { Content, Event, Turn, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";

let next = 0;
const id = (): { id: string; timestamp: string } => ({ id: `x${next++}`, timestamp: "2026-01-01T00:00:00Z" });

function call(name: string, args: unknown, content: string, is_error = false): Event[] {
  const call_id = `c${next}`;
  return [
    { type: "tool_call_request", ...id(), call_id, name, arguments: args },
    { type: "tool_call_response", ...id(), call_id, content, is_error },
  ];
}

const turn: Turn = {
  index: 0,
  events: [
    { type: "turn_start", ...id() },
    { type: "chat_request", ...id(), content: "  fix the parser\nplease" },
    { type: "chat_response", ...id(), reasoning: "hmm" },
    ...call("Read", { file_path: "src/b.ts" }, "grün".repeat(100)),
    ...call("Bash", { command: "npm test\necho done", description: "tests" }, "boom", true),
    ...call("Bash", { command: ["ls", "-l"] }, "out"),
    ...call("Edit", { edits: [{ path: "src/a.ts" }, { path: "src/b.ts" }], notebook_path: "n.ipynb" }, "ok"),
    { type: "chat_request", ...id(), role: "system", content: "mind the gap", metadata: { origin: "harness" } },
    { type: "chat_response", ...id(), message: "done" },
  ],
};

const shown = (more: object): Event[] =>
  projectTurns(
    [turn],
    [{ type: "compaction", id: "k", timestamp: "2026-02-01T00:00:00Z", from_turn: 0, to_turn: 0, ...more }],
  ).turns.flatMap(({ events }) => events);

const bytesOf = (events: readonly Event[]): number => hiddenContent(events, []).bytes.before;

describe("hiddenContent", () => {
  it("counts what stripping takes out, tool by tool", () => {
    const hidden = hiddenContent(
      turn.events,
      shown({ reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } }),
    );
    expect(hidden).toMatchObject({ events_removed: 1, events_changed: 8, requests: [] });
    expect(hidden.tools.map(({ name, calls, errors }) => [name, calls, errors])).toEqual([
      ["Read", 1, 0],
      ["Bash", 2, 1],
      ["Edit", 1, 0],
    ]);
    expect(hidden.files).toEqual(["n.ipynb", "src/a.ts", "src/b.ts"]);
    expect(hidden.commands).toEqual(["npm test", "ls -l"]);
    expect(hidden.tokens.after).toBeLessThan(hidden.tokens.before);
  });

  it("counts UTF-8 bytes of what a model is sent", () => {
    const [result] = call("x", {}, "grün€😀\ud800").slice(1) as [Event];
    expect(hiddenContent([result], []).bytes).toEqual({ before: 5 + 3 + 4 + 2, after: 0 });
  });

  it("gives the first lines of the user's requests that are gone", () => {
    const hidden = hiddenContent(turn.events, shown({ summary: { summary: "a short one" } }));
    expect(hidden.requests).toEqual(["fix the parser"]);
    expect(hidden.events_removed).toBe(12);
    expect(hidden.bytes.after).toBeGreaterThan("a short one".length);
  });

  it("is empty when everything is shown", () => {
    const hidden = hiddenContent(turn.events, turn.events);
    expect(hidden).toMatchObject({
      events_removed: 0,
      events_changed: 0,
      tools: [],
      files: [],
      commands: [],
      requests: [],
    });
    expect(hidden.tokens.after).toBe(hidden.tokens.before);
    expect(hiddenContent([], [])).toMatchObject({ events_removed: 0, tools: [] });
  });

  it("adds up what the halves of each tool's calls lose, most tokens first, then by name", () => {
    const events = [
      ...call("b", { a: "x" }, "12345"),
      ...call("a", { a: "x" }, "12345"),
      ...call("b", { a: "xyz" }, "123", true),
      ...call("c", { a: "x" }, "12345"),
    ];
    const tool = {
      calls: 1,
      errors: 0,
      bytes: bytesOf(events.slice(0, 2)),
      tokens: estimateEvents(events.slice(0, 2)),
    };
    const twice = [...events.slice(0, 2), ...events.slice(4, 6)];
    expect(hiddenContent(events, []).tools).toEqual([
      { name: "b", calls: 2, errors: 1, bytes: bytesOf(twice), tokens: estimateEvents(twice) },
      { name: "a", ...tool },
      { name: "c", ...tool },
    ]);
  });

  it("counts what is left of a shortened call, and never less than nothing as lost", () => {
    const [request, result] = call("x", {}, "y".repeat(300)) as [Event, Event];
    const shorter = { ...result, content: "y".repeat(30) } as Event;
    const [half] = hiddenContent([request, result], [request, shorter]).tools;
    expect(half).toEqual({ name: "x", calls: 1, errors: 0, bytes: 270, tokens: 90 });
    const longer = { ...result, content: "y".repeat(600) } as Event;
    const hidden = hiddenContent([request, result], [request, longer]);
    expect(hidden.tools).toEqual([{ name: "x", calls: 1, errors: 0, bytes: 0, tokens: 0 }]);
    expect(hidden).toMatchObject({ events_removed: 0, events_changed: 1, requests: [] });
    expect(hidden.tokens.after - hidden.tokens.before).toBe(100);
    expect(hidden.bytes.after - hidden.bytes.before).toBe(300);
  });

  it("takes a failed call for one that failed only when its result is touched", () => {
    const [request, result] = call("x", { path: "long/enough" }, "boom", true) as [Event, Event];
    expect(hiddenContent([request, result], [result]).tools).toMatchObject([{ calls: 1, errors: 0 }]);
    expect(hiddenContent([request, result], [request]).tools).toMatchObject([{ calls: 1, errors: 1 }]);
    expect(hiddenContent([result], []).tools).toEqual([]);
  });

  it("counts what a view adds, and skips what no model is sent", () => {
    const note: Event = { type: "note", ...id(), kind: "progress", data: { path: "a" } };
    const summary: Event = { type: "chat_response", ...id(), message: "x".repeat(40) };
    expect(hiddenContent([note], [summary])).toEqual({
      tokens: { before: 0, after: 10 },
      bytes: { before: 0, after: 40 },
      events_removed: 0,
      events_changed: 0,
      tools: [],
      files: [],
      commands: [],
      requests: [],
    });
  });

  it("finds the call of a result as a projection does: in its own turn, else in an earlier one", () => {
    const start = (): Event => ({ type: "turn_start", ...id() });
    const [open] = call("open", {}, "") as [Event, Event];
    const [own, ownResult] = call("own", {}, "x".repeat(30)) as [Event, Event];
    const at = (event: Event): Event => ({ ...event, call_id: "same" }) as Event;
    const turns = [at(open), start(), at(own), at(ownResult)];
    expect(hiddenContent(turns, turns.slice(0, 3)).tools).toMatchObject([{ name: "own", tokens: 10 }]);
    const late = [start(), at(open), start(), at(ownResult)];
    expect(hiddenContent(late, late.slice(0, 3)).tools).toMatchObject([{ name: "open", tokens: 10 }]);
  });

  it("names each file and each command once", () => {
    const twice = [
      ...call("Bash", { command: "npm test" }, ""),
      ...call("Read", { file_path: "z.ts" }, ""),
      ...call("Read", { file_path: "a.ts" }, ""),
      ...call("Bash", { command: "ls" }, ""),
      ...call("Bash", { command: "npm test" }, ""),
      ...call("Read", { file_path: "z.ts" }, ""),
    ];
    expect(hiddenContent(twice, [])).toMatchObject({ files: ["a.ts", "z.ts"], commands: ["npm test", "ls"] });
  });

  it.each<[string, object, readonly string[]]>([
    ["a text", { content: "one\ntwo" }, ["one"]],
    [
      "the first text of several parts",
      { content: [{ type: "image" }, { type: "text", text: "one" }, { type: "text", text: "two" }] },
      ["one"],
    ],
    ["no text of parts without one", { content: [{ type: "image" }] }, []],
    ["no blank text", { content: " \n " }, []],
    ["no moved text", { content: { $attachment: "a" } }, []],
    ["no moved text of a part", { content: [{ type: "text", text: { $attachment: "a" } }] }, []],
    ["nothing that the harness said", { content: "mind", metadata: { origin: "harness" } }, []],
    ["what was queued", { content: "also", metadata: { origin: "queued" } }, ["also"]],
  ])("names of the requests that are gone %s", (_what, fields, lines) => {
    const request = { type: "chat_request", ...id(), ...fields } as unknown as Event;
    expect(hiddenContent([request], []).requests).toEqual(lines);
    expect(hiddenContent([request], [{ ...request }]).requests).toEqual([]);
    expect(hiddenContent([{ ...request, type: "chat_response" } as Event], []).requests).toEqual([]);
  });

  it("shortens long lines", () => {
    const events = call("Bash", { cmd: `echo ${"x".repeat(500)}` }, "");
    expect(hiddenContent(events, []).commands[0]).toHaveLength(120);
  });
});

const counts = (fields: Partial<FactCounts>): FactCounts => ({
  total: 0,
  visible: 0,
  summary: 0,
  pointer: 0,
  hidden: 0,
  mentioned_later: 0,
  ...fields,
});

describe("formatLoss", () => {
  it("gives one line a kind that loses anything", () => {
    const facts = {
      files: counts({ total: 12, visible: 9, summary: 1, pointer: 1, hidden: 1, mentioned_later: 1 }),
      shas: counts({ total: 2, hidden: 2, mentioned_later: 1 }),
      requests: counts({ total: 4, visible: 4 }),
    };
    const mentioned_later = [{ kind: "files", text: "src/a.ts", turn: 7 }] as const;
    expect(formatLoss({ facts, mentioned_later })).toEqual([
      "files: 12, of them 9 visible, 1 in the summary, 1 by pointer, 1 hidden",
      "shas: 2, of them 2 hidden",
      "all visible: 4 requests",
      "gone but mentioned later: 2, such as src/a.ts (turn 7)",
    ]);
    expect(formatLoss({ facts: {}, mentioned_later: [] })).toEqual([]);
  });

  it("names three of the facts that are mentioned later", () => {
    const facts = { shas: counts({ total: 9, hidden: 9, mentioned_later: 4 }) };
    const mentioned_later = [1, 2, 3, 4].map((turn) => ({ kind: "shas", text: `sha${turn}`, turn }) as const);
    expect(formatLoss({ facts, mentioned_later })).toEqual([
      "shas: 9, of them 9 hidden",
      "gone but mentioned later: 4, such as sha1 (turn 1), sha2 (turn 2), sha3 (turn 3)",
    ]);
  });

  describe("with many kinds", () => {
    /** What of 20 facts of each kind is hidden, in the order of kinds. */
    const HIDDEN = [3, 20, 5, 18, 7, 16, 9, 14, 11, 1];
    const hiding = (kinds: number) =>
      Object.fromEntries(
        FACT_KINDS.slice(0, kinds).map((kind, at) => {
          const hidden = HIDDEN[at] as number;
          return [kind, counts({ total: 20, hidden, pointer: 20 - hidden })];
        }),
      );
    const line = (kind: FactKind): string => {
      const hidden = HIDDEN[FACT_KINDS.indexOf(kind)] as number;
      return hidden === 20
        ? `${kind}: 20, of them 20 hidden`
        : `${kind}: 20, of them ${20 - hidden} by pointer, ${hidden} hidden`;
    };
    const mentioned_later = [{ kind: "files", text: "src/a.ts", turn: 7 }] as const;

    it("gives eight lines for eight kinds", () => {
      expect(formatLoss({ facts: hiding(8), mentioned_later: [] })).toEqual(FACT_KINDS.slice(0, 8).map(line));
    });

    it("puts the kinds with the fewest hidden facts together, to stay within eight lines", () => {
      const own = ["commands", "numbers", "shas", "issues", "errors", "identifiers", "urls", "requests"] as const;
      expect(formatLoss({ facts: hiding(9), mentioned_later: [] })).toEqual([
        ...own.filter((kind) => kind !== "numbers").map(line),
        "also hidden: 3 of 20 files, 5 of 20 numbers",
      ]);
      expect(formatLoss({ facts: hiding(10), mentioned_later: [] })).toEqual([
        ...own.filter((kind) => kind !== "numbers").map(line),
        "also hidden: 3 of 20 files, 5 of 20 numbers, 1 of 20 pins",
      ]);
    });

    it("leaves room for the lines of whole and of mentioned kinds", () => {
      const facts = { ...hiding(8), pins: counts({ total: 2, visible: 2 }) };
      expect(formatLoss({ facts, mentioned_later })).toEqual([
        ...(["commands", "shas", "errors", "identifiers", "urls"] as const).map(line),
        "also hidden: 3 of 20 files, 5 of 20 numbers, 7 of 20 issues",
        "all visible: 2 pins",
        "gone but mentioned later: 0, such as src/a.ts (turn 7)",
      ]);
      expect(formatLoss({ facts: { ...hiding(6), pins: facts.pins }, mentioned_later })).toHaveLength(8);
    });
  });
});

const at = { timestamp: "2026-01-01T00:00:00Z" };
const run = (id: string, args: unknown): Event => ({
  type: "tool_call_request",
  id,
  ...at,
  call_id: `k${id}`,
  name: "Bash",
  arguments: args,
});
const answer = (id: string, is_error: boolean): Event => ({
  type: "tool_call_response",
  id: `r${id}`,
  ...at,
  call_id: `k${id}`,
  content: "out",
  is_error,
});
const viewOf = (...turns: readonly (readonly Event[])[]): View => ({
  turns: turns.map((events, turn) => ({ origin: { kind: "kept", turn }, events })),
});

function factsIn(view: View): Record<string, readonly string[]> {
  return Object.fromEntries([...commandFacts(view)].map(([event, facts]) => [event.id, facts]));
}

describe("commandFacts", () => {
  it("gives the commands of calls alone, with how they ended where a result is shown", () => {
    const said: Event = { type: "chat_response", id: "m", ...at, message: "npm test" };
    const view = viewOf([
      said,
      run("a", { command: "npm test\nnpm run lint" }),
      answer("a", true),
      run("b", { command: ["git", "status"], script: "make" }),
      answer("b", false),
      run("c", { command: "sleep 9" }),
      run("d", { file_path: "a.ts" }),
      answer("d", false),
    ]);
    expect(factsIn(view)).toEqual({
      a: ["npm test → failed"],
      b: ["git status → ok", "make → ok"],
      c: ["sleep 9"],
    });
  });

  it("finds the result that a later turn shows", () => {
    expect(factsIn(viewOf([run("a", { cmd: "make" })], [answer("a", false)]))).toEqual({ a: ["make → ok"] });
  });
});

describe("commandLineOf", () => {
  it.each([
    ["npm test → failed", "npm test"],
    ["npm test", "npm test"],
    ["echo a → b → ok", "echo a → b"],
    ["a very long com… → ok", "a very long com"],
    ["a very long com…", "a very long com"],
    ["echo … end → ok", "echo … end"],
    [" → ok", ""],
  ])("takes the ending off %j", (fact, line) => {
    expect(commandLineOf(fact)).toBe(line);
  });
});

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const ref = { $attachment: "abc.txt" };

describe("textsOf", () => {
  it.each<[string, Event, readonly string[]]>([
    ["a request", { type: "chat_request", ...base, content: "ask" }, ["ask"]],
    ["a message", { type: "chat_response", ...base, message: "said" }, ["said"]],
    ["reasoning", { type: "chat_response", ...base, reasoning: "thought" }, ["thought"]],
    ["data of a provider", { type: "chat_response", ...base, data: { secret: "x" } }, [""]],
    ["a result", { type: "tool_call_response", ...base, call_id: "c", content: "out", is_error: false }, ["out"]],
    [
      "a call",
      { type: "tool_call_request", ...base, call_id: "c", name: "Edit", arguments: { a: ["x", { b: "y" }] } },
      ["x", "y"],
    ],
    ["a note", { type: "note", ...base, kind: "progress", data: "hidden" }, []],
    ["a long text that was moved away", { type: "chat_request", ...base, content: ref }, []],
  ])("gives what a model reads of %s", (_, event, texts) => {
    expect(textsOf(event)).toEqual(texts);
  });

  it("reads texts, names and titles of parts, and nothing that is no text", () => {
    const opaque = { type: "opaque", value: "v", title: "a field of its provider" } as const;
    const content: Content = [
      { type: "text", text: "one" },
      { type: "text", text: ref },
      { type: "attachment", name: "notes.txt", text: "two" },
      { type: "attachment", text: "three" },
      { type: "attachment", name: "big.txt", text: ref },
      { type: "attachment" },
      { type: "document", title: "four", data: "AAAA" },
      { type: "image", title: "five" },
      { type: "image", data: "AAAA" },
      opaque,
    ];
    const texts = ["one", "notes.txt", "two", "three", "big.txt", "four", "five"];
    expect(textsOf({ type: "chat_request", ...base, content })).toEqual(texts);
  });
});

describe("stringsIn", () => {
  const nested = (levels: number): unknown => {
    let value: unknown = "deep";
    for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { key: value };
    return value;
  };

  it.each([
    ["a string", "x", ["x"]],
    ["values in order", { b: "x", a: ["y", { c: "z" }], n: 1, f: false, e: null }, ["x", "y", "z"]],
    ["a payload that was moved away", { old: ref, new: "x" }, ["x"]],
    ["nothing", null, []],
    ["a number", 5, []],
    ["100 levels", nested(100), ["deep"]],
    ["101 levels", nested(101), []],
  ])("finds the strings in %s", (_, value, strings) => {
    expect(stringsIn(value)).toEqual(strings);
  });
});

describe("traces of a call", () => {
  it.each<[unknown, string[]]>([
    [{ file_path: "a.ts" }, ["a.ts"]],
    [{ path: "a", other: "b" }, ["a"]],
    [{ paths: ["a", "b", 3, ""] }, ["a", "b"]],
    [{ edits: [{ filePath: "a" }, { filePath: "b" }] }, ["a", "b"]],
    [{ file_path: 7 }, []],
    [{ path: "b", files: ["a", "b"], notebook_path: "a\nb" }, ["b", "a", "b", "a"]],
    [{ edits: ["c", { path: "a" }, [{ path: "b" }]], one: { path: "d" } }, ["a", "b"]],
    [
      [{ path: "a" }, { filename: "b" }],
      ["a", "b"],
    ],
    ["a.ts", []],
    [null, []],
    [undefined, []],
  ])("name in %j the files %j", (args, files) => {
    expect(filesNamed(args)).toEqual(files);
  });

  it.each<[unknown, string[]]>([
    [{ command: "npm test\nnpm run lint" }, ["npm test"]],
    [{ cmd: ["bash", "-lc", "ls"] }, ["bash -lc ls"]],
    [{ command: " " }, []],
    [{ command: "", cmd: "ls", other: "rm", script: " pwd " }, ["ls", "pwd"]],
    [{ cmd: ["ls", 7, "-l"] }, ["ls -l"]],
    [{ cmd: [] }, []],
    [{ command: 7 }, []],
    ["ls", []],
    [null, []],
    [undefined, []],
  ])("name in %j the commands %j", (args, commands) => {
    expect(commandsRun(args)).toEqual(commands);
  });

  it("are shortened to one line", () => {
    expect(firstLine("\n  one\r\ntwo")).toBe("one");
    expect(firstLine("one  \n\ntwo")).toBe("one  ");
    expect(firstLine(" \n ")).toBe("");
    expect(firstLine("x".repeat(120))).toBe("x".repeat(120));
    expect(firstLine("x".repeat(121))).toBe(`${"x".repeat(119)}…`);
  });
});
