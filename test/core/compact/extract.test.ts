// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlacedEvent } from "../../../src/core/compact/event-ledger.ts";
import {
  charsOf,
  createBudget,
  extractBudget,
  extractSummary,
  fairCap,
  takeLines,
} from "../../../src/core/compact/extract.ts";
import { checkGrounding } from "../../../src/core/compact/grounding.ts";
import type { Content, Event, Turn } from "../../../src/core/conversation/event.ts";
import { textTokens } from "../../../src/core/conversation/text-tokens.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";
import { randomTurns } from "../../helpers/random-conversation.ts";

const SECTIONS = ["TASK STATE", "FILES", "TOOL HISTORY", "ERRORS", "DECISIONS", "USER GUIDANCE", "NEXT STEPS"];

let made = 0;
const ask = (content: Content, origin?: string): Event => ({
  type: "chat_request",
  id: `q${made++}`,
  timestamp: "2026-01-01T00:00:00Z",
  content,
  ...(origin === undefined ? {} : { metadata: { origin } }),
});
const say = (message: Content): Event => ({
  type: "chat_response",
  id: `m${made++}`,
  timestamp: "2026-01-01T00:00:01Z",
  message,
});

const place = (...turns: readonly (readonly Event[])[]): PlacedEvent[] =>
  turns.flatMap((events, turn) => events.map((event) => ({ turn, event })));
const placed = (turns: readonly Turn[]): PlacedEvent[] => place(...turns.map(({ events }) => events));

/** The lines of a section. */
function section(summary: string, name: string): string[] {
  const lines = summary.split("\n");
  const start = lines.indexOf(`## ${name}`) + 1;
  const end = lines.findIndex((line, at) => at >= start && line.startsWith("## "));
  return lines.slice(start, end < 0 ? lines.length : end).filter((line) => line !== "");
}

const words = (count: number, seed: string): string =>
  Array.from({ length: count }, (_, n) => `${seed}${n % 7}word${n}`).join(" ");

const MIDDLE = `## TASK STATE
- [t0] Request: Fix the parser:
  - brackets
  - quotes

  Never touch vendor/.
- [t0] Answer: Two ways:

  1. a stack
  2. a counter

  Which one?
- [t1] Request: 1 (to: Which one? / 1: a stack)
- [t1] Answer: Brackets are done:

  \`\`\`go
  stack.push(b)
  \`\`\`

  Now let me look at the quotes.

## FILES
Changed:
- parse.go (t1)

## TOOL HISTORY
Calls: Bash 3x, Edit 1x
Commits:
- [t1] 1a2b3c4 Parse brackets
Commands:
- \`go test ./...\`

## ERRORS
- [t1] \`go test ./...\` failed: --- FAIL: TestParse (0.1s) → worked in t1 after changes to parse.go

## DECISIONS
- [t1] 1 (to: Which one? / 1: a stack)

## USER GUIDANCE
- [t0] Never touch vendor/.

## NEXT STEPS
- These turns end with an announcement, before what it announces.
- Request [t1]: 1 (to: Which one? / 1: a stack)
- Said last: Brackets are done:

  \`\`\`go
  stack.push(b)
  \`\`\`

  Now let me look at the quotes.
- Done last:
  - \`go test ./...\` (failed: --- FAIL: TestParse (0.1s))
  - Edit parse.go
  - \`go test ./...\`
  - \`git commit -am 'Parse brackets'\`
`;

describe("extractSummary", () => {
  it("says in its first line that it is an extract, and has the sections of a summary in order", () => {
    const { summary } = extractSummary(place([ask("hello"), say("hi")]));
    const label = (turns: string): string =>
      `[Extract of ${turns}: passages and facts taken from the conversation by fixed rules, not a summary written by a model. … marks what was cut.]`;
    expect(summary.split("\n\n", 1)[0]).toBe(label("turn t0"));
    const three = extractSummary(place([ask("hello")], [say("hi")], [ask("bye")]));
    expect(three.summary.split("\n\n", 1)[0]).toBe(label("turns t0 to t2"));
    expect(extractSummary([]).summary.split("\n\n", 1)[0]).toBe(label("turn t0"));
    expect(summary.match(/^## .*$/gm)).toEqual(SECTIONS.map((name) => `## ${name}`));
  });

  it("shows requests and answers in the order of the turns", () => {
    const { summary } = extractSummary(
      place([ask("fix the parser"), say("Which one?")], [ask("the second"), say("Let me look."), say("Fixed it.")]),
    );
    expect(section(summary, "TASK STATE")).toEqual([
      "- [t0] Request: fix the parser",
      "- [t0] Answer: Which one?",
      "- [t1] Request: the second (to: Which one?)",
      "- [t1] Answer: Fixed it.",
    ]);
  });

  it("takes what a harness or a summary put there for no request, and what was typed meanwhile for one", () => {
    const { summary } = extractSummary(
      place([
        ask("real request"),
        ask("mind the hook", "harness"),
        ask("[Summary of previous conversation]", "summary"),
        ask("also this", "queued"),
        { ...ask("be brief"), role: "system" } as Event,
        say("Done."),
      ]),
    );
    expect(section(summary, "TASK STATE").filter((line) => line.includes("Request"))).toEqual([
      "- [t0] Request: real request",
      "- [t0] Request: also this",
    ]);
  });

  it("lists changed files before read ones, and says where every change failed", () => {
    const turns = callTurns([
      call("Read", { file_path: "/p/read.ts" }),
      call("Edit", { file_path: "/p/edited.ts", old_string: "a", new_string: "b" }),
      failed("Write", { file_path: "/p/refused.ts", content: "x" }),
      call("apply_patch", "*** Begin Patch\n*** Update File: lib/patched.py\n*** End Patch"),
    ]);
    const { summary, files } = extractSummary(placed(turns), { budgetTokens: 1000 });
    expect(section(summary, "FILES")).toEqual([
      "Changed:",
      "- /p/edited.ts (t0)",
      "- lib/patched.py (t0)",
      "- /p/refused.ts (every change failed)",
      "Read:",
      "- /p/read.ts",
    ]);
    expect(files).toEqual(["/p/edited.ts", "lib/patched.py", "/p/refused.ts", "/p/read.ts"]);
  });

  it("gives two hundred files that were only read, and all that were changed", () => {
    const read = Array.from({ length: 201 }, (_, n) => `/p/read-${n}.ts`);
    const turns = callTurns([
      ...read.map((file_path) => call("Read", { file_path })),
      call("Write", { file_path: "/p/new.ts", content: "x" }),
    ]);
    expect(extractSummary(placed(turns)).files).toEqual(["/p/new.ts", ...read.slice(0, 200)]);
  });

  it("lists which commands ran and failed, and leaves out those that only look", () => {
    const turns = callTurns([
      call("Bash", { command: "npm test -- parser" }),
      call("Bash", { command: 'grep -n "a|b" src/x.ts | head -3; sed -n 1,4p y.ts' }),
      failed("Bash", { command: "npm run lint" }),
      call("Bash", { command: "echo done > result.txt" }),
    ]);
    const { summary } = extractSummary(placed(turns), { budgetTokens: 1000 });
    expect(section(summary, "TOOL HISTORY")).toEqual([
      "Calls: Bash 4x",
      "Commands:",
      "- `npm test -- parser`",
      "- `npm run lint` → failed",
      "- `echo done > result.txt`",
    ]);
  });

  it("shows what failed and what became of it, not errors that files or commands that succeeded speak of", () => {
    const output = "compiling\nerror: cannot find module 12\n--- FAIL: TestParse (0.1s)\nok";
    const turns = callTurns(
      [call("Bash", { command: "make" }, output), call("Read", { file_path: "log.txt" }, "error: an old one")],
      [call("Write", { file_path: "b.ts" }), call("Bash", { command: "make" }, "error: 13 is expected here")],
      [{ ...failed("Bash", { command: "grep x" }), result: "12:const x" } as CallSpec],
      [failed("Edit", { file_path: "a.ts" })],
    );
    expect(section(extractSummary(placed(turns), { budgetTokens: 2000 }).summary, "ERRORS")).toEqual([
      "- [t0] `make` failed: error: cannot find module 12; --- FAIL: TestParse (0.1s) → worked in t1 after changes to b.ts",
      "- [t3] Edit a.ts failed: no such file",
    ]);
  });

  it("keeps decisions and the user's constraints beyond what the requests show", () => {
    const long = `${words(60, "alpha")}. Never touch the generated files in that folder. ${words(60, "beta")}.`;
    const reason = "I decided to keep the place in the stream because errors must name line numbers";
    const turns = Array.from({ length: 12 }, (_, n) => [
      ask(n === 3 ? long : `${words(30, `q${n}`)}.`),
      say(words(150, `t${n}`)),
      say(`${words(40, `r${n}`)}. ${n === 5 ? `${reason}. ` : ""}${words(200, `s${n}`)}.`),
    ]);
    const { summary } = extractSummary(place(...turns), { budgetTokens: 1200 });
    expect(section(summary, "DECISIONS").join()).toContain(`- [t5] ${reason}.`);
    expect(section(summary, "USER GUIDANCE")).toEqual(["- [t3] Never touch the generated files in that folder."]);
  });

  it("gives the open tasks of the newest list", () => {
    const list = (...todos: [string, string][]): CallSpec =>
      call("TodoWrite", { todos: todos.map(([content, status]) => ({ content, status })) });
    const turns = callTurns(
      [list(["write it", "in_progress"], ["old idea", "pending"])],
      [list(["write it", "completed"], ["test it", "pending"])],
    );
    const { summary, open_tasks } = extractSummary(placed(turns), { budgetTokens: 1000 });
    expect(open_tasks).toEqual(["test it"]);
    expect(section(summary, "NEXT STEPS")).toEqual(["- Open: test it"]);
  });

  it("says when the last request has no answer", () => {
    const { summary } = extractSummary(place([ask("one"), say("1")], [ask("two")]));
    expect(section(summary, "NEXT STEPS")).toEqual([
      "- These turns end with a request that has no answer yet.",
      "- Request [t1]: two",
    ]);
  });

  it("reads so, of a session that was left in the middle", () => {
    const events = (specs: readonly CallSpec[]): readonly Event[] =>
      callTurns(specs)[0]!.events.filter(({ type }) => type.startsWith("tool"));
    const red = "Exit code 1\n--- FAIL: TestParse (0.1s)\n    at parse (a.go:3:1)";
    const { summary } = extractSummary(
      place(
        [
          ask(
            "<system-reminder>\nmind the hook\n</system-reminder>\nFix the parser:\n- brackets\n- quotes\n\nNever touch vendor/.",
          ),
          say("Two ways:\n\n1. a stack\n2. a counter\n\nWhich one?"),
        ],
        [
          ask("1"),
          ...events([
            { ...call("Bash", { command: "go test ./..." }, red), isError: true },
            call("Edit", { file_path: "parse.go" }, "ok"),
            call("Bash", { command: "cd /p && go test ./... 2>&1 | tail -3" }, "error: an example\nok"),
            call("Bash", { command: "git commit -am 'Parse brackets'" }, "[main 1a2b3c4] Parse brackets"),
          ]),
          say("Brackets are done:\n\n```go\nstack.push(b)\n```\n\nNow let me look at the quotes."),
        ],
      ),
      { budgetTokens: 1000 },
    );
    expect(`${summary.slice(summary.indexOf("## "))}\n`).toBe(MIDDLE);
  });

  it("keeps every request and every changed file when there is no room", () => {
    const turns = callTurns(
      ...Array.from({ length: 50 }, (_, n) => [call("Write", { file_path: `/work/src/part-${n}.ts`, content: "x" })]),
    );
    const { summary } = extractSummary(placed(turns), { budgetTokens: 0 });
    for (let n = 0; n < 50; n += 1) {
      expect(summary).toContain(`Request: do task ${n}\n`);
      expect(summary).toContain(`- /work/src/part-${n}.ts\n`);
    }
  });

  it("cuts a request after its first 80 characters at the least, between words", () => {
    const long = `${"a".repeat(60)} ${"b".repeat(60)} ${words(60, "w")}`;
    expect(extractSummary(place([ask(long)]), { budgetTokens: 0 }).summary).toContain(long.slice(0, 80));
    const request = words(60, "w");
    const { summary } = extractSummary(place([ask(request), say("ok")]), { budgetTokens: 0 });
    const shown = /Request: (.*)/.exec(summary)?.[1] ?? "";
    expect(shown.startsWith(request.slice(0, 80))).toBe(true);
    expect(request.split(" ")).toContain(shown.replace(/ …$/, "").split(" ").at(-1));
  });

  it("names images and attachments of a request, and leaves their content out", () => {
    const content: Content = [
      { type: "attachment", name: "notes.txt", text: "secret notes" },
      { type: "text", text: "what is this?" },
      { type: "image", data: "AAAA" },
    ];
    const { summary } = extractSummary(place([ask(content)]));
    expect(section(summary, "TASK STATE")).toEqual([
      "- [t0] Request: [attachment notes.txt]",
      "  what is this?",
      "  [image]",
    ]);
  });

  it("makes an extract of nothing, of calls alone, and of what no model sees", () => {
    expect(extractSummary([]).summary.match(/\nnone/g)).toHaveLength(7);
    const [turn] = callTurns([call("Bash", { command: "make" })]);
    const calls = turn!.events.filter(({ type }) => type.startsWith("tool"));
    expect(section(extractSummary(place(calls)).summary, "TOOL HISTORY")[0]).toBe("Calls: Bash 1x");
    const note: Event = { type: "note", id: "n", timestamp: "", kind: "progress" };
    expect(section(extractSummary(place([note])).summary, "TASK STATE")).toEqual(["none"]);
  });

  it("takes a line of a million characters, control characters and halves of pairs", () => {
    const { summary } = extractSummary(
      place([ask(`a\u0000b ${"x".repeat(1_000_000)}`), say(`${"y ".repeat(500_000)}\ud800 end`)]),
      { budgetTokens: 200 },
    );
    expect(summary).toContain("Request: a b xxx");
    expect(summary.length).toBeLessThan(2000);
    expect(summary).not.toMatch(/[\u0000-\u0009]|\p{Surrogate}/u);
  });

  it("takes ten thousand calls in one turn", () => {
    const calls = Array.from({ length: 10_000 }, (_, n) =>
      call(n % 2 === 0 ? "Edit" : "Bash", { file_path: `/src/${n % 500}.ts`, command: `make part-${n}` }),
    );
    const events = placed(callTurns(calls));
    const { summary } = extractSummary(events);
    expect(section(summary, "FILES").indexOf("Read:")).toBe(251);
  });

  it("stays within its budget but for requests, changed files and open tasks", () => {
    const turns = Array.from({ length: 20 }, (_, n) => [
      ask(words(100, `q${n}`)),
      say(`${words(100, `r${n}`)}.`),
      say(`${words(300, `s${n}`)}. It fails because the ${words(20, `d${n}`)}.`),
    ]);
    for (const budgetTokens of [800, 2000, 5000]) {
      const { summary } = extractSummary(place(...turns), { budgetTokens });
      expect(summary.length / 4).toBeLessThanOrEqual(budgetTokens);
      expect(summary.length / 4).toBeGreaterThan(budgetTokens * 0.6);
    }
  });

  it("gives the same extract for the same events, and says nothing that they do not", () => {
    fc.assert(
      fc.property(randomTurns, fc.nat({ max: 400 }), (turns, budgetTokens) => {
        const extract = extractSummary(placed(turns), { budgetTokens });
        expect(extractSummary(placed(structuredClone([...turns])), { budgetTokens })).toEqual(extract);
        expect(
          checkGrounding(
            extract.summary,
            turns.flatMap(({ events }) => events),
          ),
        ).toEqual([]);
      }),
    );
  });
});

describe("the budget", () => {
  it("is one of tokens, whatever script is spoken", () => {
    const tokensOf = (words: string): number => {
      const turns = Array.from({ length: 400 }, (_, at) => [ask(`${at} ${words}`), say(`${words} ${at}`)]);
      return textTokens(extractSummary(place(...turns), { budgetTokens: 2000 }).summary, 4);
    };
    const english = tokensOf("Check how the parser handles quotes and fix the bug.");
    for (const words of ["请检查解析器在处理引号时的行为，并修复错误。", "Проверьте, как парсер обрабатывает кавычки."])
      expect(tokensOf(words) / english, words).toBeLessThan(1.5);
  });
});

describe("extractBudget", () => {
  it("is a share of a small range, less of a large one, enough for the sections, and never more than 6,000 tokens", () => {
    expect(extractBudget(100)).toBe(250);
    expect(extractBudget(20_000)).toBe(1600);
    expect(extractBudget(50_000)).toBe(4000);
    expect(extractBudget(100_000)).toBe(5000);
    expect(extractBudget(10_000_000)).toBe(6000);
  });
});

describe("fairCap", () => {
  it("leaves what fits whole and shares the rest", () => {
    expect(fairCap([10, 20, 30], 60)).toBe(Number.POSITIVE_INFINITY);
    expect(fairCap([10, 100, 100], 90)).toBe(40);
    expect(fairCap([5], 0)).toBe(0);
    expect(fairCap([], 10)).toBe(Number.POSITIVE_INFINITY);
  });

  it("never takes more than there is, nor leaves room for a character each", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 1 }), fc.nat(5000), (lengths, chars) => {
        const cap = fairCap(lengths, chars);
        const taken = (most: number): number => lengths.reduce((sum, length) => sum + Math.min(length, most), 0);
        expect(taken(cap)).toBeLessThanOrEqual(chars);
        if (cap !== Number.POSITIVE_INFINITY) expect(taken(cap + 1)).toBeGreaterThan(chars);
      }),
    );
  });
});

describe("takeLines", () => {
  it("passes a line over that does not fit, and counts line ends", () => {
    expect(takeLines(["abc", "long line", "de"], 7)).toEqual(["abc", "de"]);
    expect(charsOf(["abc", "de"])).toBe(7);
  });
});

describe("createPurse", () => {
  it("hands on what a taker leaves", () => {
    const take = createBudget(100);
    const given: number[] = [];
    const use = (share: number, used: number) =>
      take(
        share,
        (chars) => {
          given.push(chars);
          return used;
        },
        (written) => written,
      );
    use(0.5, 20);
    use(0.25, 60);
    use(0.25, 0);
    expect(given).toEqual([50, 55, 25]);
    expect(createBudget(-5)(1, (chars) => chars, Number)).toBe(0);
  });
});
