// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  errorLines,
  factsOf,
  factsOfText,
  requestSentences,
  scanLines,
  scanPieces,
  scanSentences,
  type VisitPiece,
} from "../../../src/core/compact/facts.ts";
import type { FactKind } from "../../../src/core/conversation/compaction.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { runs } from "../../helpers/runs.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };

function found(kind: FactKind, text: string): readonly string[] {
  return [...(factsOfText(text).get(kind) ?? [])];
}

function inEvent(kind: FactKind, event: Event): readonly string[] {
  return [...(factsOf(event).get(kind) ?? [])];
}

describe("factsOf", () => {
  it.each<[FactKind, string, readonly string[]]>([
    ["files", "see ./src/a.ts:12:3, /usr/lib/node and (docs/b.md#L4-L9).", ["src/a.ts", "/usr/lib/node", "docs/b.md"]],
    ["files", "open parser.rs; e.g. and/or 1/2 v1.2 Mr.Smith .ts //x/y.ts", ["parser.rs"]],
    [
      "numbers",
      "1,234 rows in 12 ms, 45% of 1_000.5, 7 apples, 99, 340KB",
      ["1234", "12 ms", "45%", "1000.5", "340 kb"],
    ],
    ["numbers", "  123→code\n456\tcode\n789: code\n2026-01-02 12:30:55 1735689600 x100", []],
    [
      "shas",
      "a1b2c3d..: 85b3faf0a202911526e388712dc1571545d9e2ff abcdefa 1234567 xa1b2c3d",
      ["a1b2c3d", "85b3faf0a202911526e388712dc1571545d9e2ff"],
    ],
    ["issues", "fixes #12, org/repo#345 and PROJ-77, not UTF-8, #0123 or #123456", ["#12", "#345", "PROJ-77"]],
    [
      "identifiers",
      "fooBar, snake_case, PascalCase, std::vec::Vec, list.push(), Word, iPad, this.innerName",
      ["fooBar", "snake_case", "PascalCase", "std::vec::Vec", "list.push()", "innerName"],
    ],
    [
      "urls",
      "(https://a.example/x?y=1&z=(2),3#f). See `git+ssh://h/r.git` :// x://",
      ["https://a.example/x?y=1&z=(2),3#f", "git+ssh://h/r.git"],
    ],
  ])("finds %s in %s", (kind, text, facts) => {
    expect(found(kind, text)).toEqual(facts);
  });

  it("takes the lines of a result that begin like errors", () => {
    const content =
      "\n  went wrong\nnext\nError: no such file\nsrc/a.ts(1,2): error TS1: x\nTraceback (most recent\nlast";
    const response: Event = { type: "tool_call_response", ...base, call_id: "c", content, is_error: true };
    const errors = ["Error: no such file", "src/a.ts(1,2): error TS1: x", "Traceback (most recent"];
    expect(inEvent("errors", response)).toEqual(errors);
    expect(inEvent("errors", { ...response, is_error: false })).toEqual(errors);
    expect(inEvent("errors", { type: "chat_response", ...base, message: "Error: said" })).toEqual([]);
  });

  it("takes the sentences of requests that a person wrote", () => {
    const request: Event = {
      type: "chat_request",
      ...base,
      content: "Fix a.ts please. Then test!\n\n- all of it\n---",
    };
    expect(inEvent("requests", request)).toEqual(["Fix a.ts please.", "Then test!", "- all of it"]);
    expect(inEvent("requests", { ...request, metadata: { origin: "harness" } })).toEqual([]);
    expect(inEvent("requests", { ...request, role: "system" })).toEqual([]);
  });

  it("takes files that only the name of an argument shows to be files", () => {
    const args = { file_path: "./Makefile", edits: [{ old: "deep_name" }] };
    const call: Event = { type: "tool_call_request", ...base, call_id: "c", name: "Edit", arguments: args };
    expect(inEvent("files", call)).toEqual(["Makefile"]);
    expect(inEvent("identifiers", call)).toEqual(["deep_name"]);
  });

  it("reads parts, attachments and titles, and does not follow a reference", () => {
    const content = [
      { type: "text", text: "part_one" },
      { type: "attachment", name: "notes.txt", text: "part_two" },
      { type: "document", title: "part_three" },
      { type: "text", text: { $attachment: "part_four" } },
      { type: "opaque", value: "part_five" },
    ] as const;
    expect(inEvent("identifiers", { type: "chat_request", ...base, content })).toEqual([
      "part_one",
      "part_two",
      "part_three",
    ]);
  });

  it("gives facts that are found again in themselves", () => {
    const word = fc.string({ unit: fc.constantFrom(..."aB3_./:#-,%é \n`".split("")), maxLength: 40 });
    fc.assert(
      fc.property(word, (text) => {
        for (const [kind, facts] of factsOfText(text)) {
          for (const fact of facts) expect(found(kind, ` ${fact} `)).toContain(fact);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  it("accepts no name of capitals and digits alone, and no path by its trailing marks", () => {
    expect(factsOfText("B33B3. /a// B33B3 /a/-/ /a/./ /a/.:3 /a/-:3")).toEqual(factsOfText(""));
    expect(found("files", "in /a/b/-/ and src/x.ts/")).toEqual(["/a/b", "src/x.ts"]);
  });
});

const baseFacts = { id: "e", timestamp: "2026-01-01T00:00:00Z" };

function pieces(scan: (text: string, visit: VisitPiece) => void, text: string): readonly string[] {
  const found: string[] = [];
  scan(text, (start, end) => found.push(text.slice(start, end)));
  return found;
}

describe("what is no fact", () => {
  const facts = (text: string): readonly string[] =>
    [...factsOfText(text)].flatMap(([kind, texts]) => [...texts].map((one) => `${kind} ${one}`));
  const hex = (length: number) =>
    fc
      .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
      .map((all) => all.join(""));
  const uuid = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((groups) => groups.join("-"));

  it("a group of a UUID is no SHA, where the UUID is there whole or its hyphen is", () => {
    fc.assert(
      fc.property(uuid, fc.constantFrom(" ", "\n", " (", '"'), (id, gap) => {
        const shas = (text: string): readonly string[] => facts(text).filter((fact) => fact.startsWith("shas"));
        expect(shas(`session ${id}${gap}${id.slice(0, 8)}${gap}${id.slice(-12)} of it`)).toEqual([]);
        expect(shas(`${id.slice(-12)}${gap}is the end of ${id}`)).toEqual([]);
        expect(shas(`open ${id.slice(0, 8)}-… again`)).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
    expect(facts("commit 3f2504e0 of 4f8a1b2c-0000")).toEqual(["shas 3f2504e0"]);
    expect(facts("commit 3f2504e and 9d64a58f3c21")).toEqual(["shas 3f2504e", "shas 9d64a58f3c21"]);
  });

  it("how long something took is none, a limit is", () => {
    fc.assert(
      fc.property(
        fc.nat(9999),
        fc.nat(999),
        fc.constantFrom("s", "ms", " ms", " seconds", "us"),
        (whole, part, unit) => {
          expect(facts(`ok in ${whole}.${part}${unit}, next`)).toEqual([]);
        },
      ),
      { numRuns: runs(100) },
    );
    expect(facts("timeout 30s, 250 ms, 1.5 GB, 0.25% and 2.5 hours")).toEqual([
      "numbers 30s",
      "numbers 250 ms",
      "numbers 1.5 gb",
      "numbers 0.25%",
      "numbers 2.5 hours",
    ]);
  });

  it("a year is none, another number of four digits is", () => {
    expect(facts("Copyright 1998, 2004 and 2026; until 2039")).toEqual([]);
    expect(facts("port 2048, 1969, 8080 and 2026 tokens")).toEqual([
      "numbers 2048",
      "numbers 1969",
      "numbers 8080",
      "numbers 2026 tokens",
    ]);
  });

  it("a file of the system is none", () => {
    expect(facts("ls >/dev/null 2>/dev/stderr; cat /proc/self/status /sys/class/net.conf")).toEqual([]);
    expect(facts("cat /device/null.txt /srv/dev/null")).toEqual(["files /device/null.txt", "files /srv/dev/null"]);
  });

  it("an escaped line feed is no letter of a name", () => {
    expect(facts(String.raw`"a\nThis is\tSummary of\rThat"`)).toEqual([]);
    expect(facts(String.raw`"a\nmakeThing\tdoSummary and \nnThis"`)).toEqual([
      "identifiers makeThing",
      "identifiers doSummary",
      "identifiers nThis",
    ]);
  });
});

describe("scanning texts", () => {
  it.each([
    ["one\ntwo", ["one", "two"]],
    ["  one \r\n\n\t\v\f\n\u00a0two\u00a0\n", ["one", "two"]],
    ["", []],
    [" \n ", []],
    ["a\bb\u000eb\n\u0008", ["a\bb\u000eb", "\u0008"]],
  ])("visits the lines of %j", (text, lines) => {
    expect(pieces(scanLines, text)).toEqual(lines);
  });

  it.each([
    ["One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]],
    ["v1.2 is out.\nNext", ["v1.2 is out.", "Next"]],
    ["What?! Yes.  No. ", ["What?!", "Yes.", "No."]],
    ["One.\tTwo, three; four", ["One.", "Two, three; four"]],
    [". a", [".", "a"]],
  ])("visits the sentences of %j", (text, sentences) => {
    expect(pieces(scanSentences, text)).toEqual(sentences);
  });

  it.each([
    ["one line", ["one line"]],
    ["One. Two", ["One. Two", "One.", "Two"]],
    ["One.", ["One."]],
    ["run `a b` or ` c `", ["run `a b` or ` c `", "a b", "or", "c"]],
    ["`a", ["`a"]],
    ["`` `a", ["`` `a"]],
    ["Run `a. b` now! Then", ["Run `a. b` now! Then", "Run `a.", "a. b", "b` now!", "Then"]],
  ])("visits the lines, sentences and spans of code of %j", (text, found) => {
    expect(pieces(scanPieces, text)).toEqual(found);
  });
});

describe("errorLines", () => {
  const result = (is_error: boolean, ...texts: readonly string[]): Event => ({
    type: "tool_call_response",
    ...baseFacts,
    call_id: "c",
    content: texts.map((text) => ({ type: "text", text })),
    is_error,
  });

  it("takes lines that begin like errors in all texts, and the first line of a failed result without any", () => {
    expect(errorLines(result(true, "\n one\ntwo", "three\nfatal: four"))).toEqual(["fatal: four"]);
    expect(errorLines(result(true, "error: one\ntwo"))).toEqual(["error: one"]);
    expect(errorLines(result(true, "\n one\ntwo", "three"))).toEqual(["one"]);
    expect(errorLines(result(true, "\n", " \t"))).toEqual([]);
  });

  it("prefers the first failed test to the first line of all, and takes no count for one", () => {
    const failed = ["FAIL  test/tide.test.ts > rises", "--- FAIL: TestTide (0.01s)", "FAIL\tlocal/tide\t0.01s"];
    failed.push("FAILED tests/test_tide.py::test_rises - assert 1 == 2", "× rises 3ms", "✖ rises (1.2ms)");
    for (const line of failed) {
      expect(errorLines(result(true, `RUN\n ${line}\n✓ ebbs\n${line} 2`))).toEqual([line]);
      expect(errorLines(result(true, line, "fatal: reef"))).toEqual(["fatal: reef"]);
      expect(errorLines(result(false, line))).toEqual([]);
    }
    for (const line of ["Failed: 0", "fail 0", "FAIL", "Tests  1 failed (3)", "2 × 3", "Failover works"])
      expect(errorLines(result(true, `RUN\n${line}`))).toEqual(["RUN"]);
  });

  it("passes over an exit code that stands alone before the error", () => {
    expect(errorLines(result(true, "Exit code 1\n\nno such reef\ntwo"))).toEqual(["no such reef"]);
    expect(errorLines(result(true, "exited with status: 127\r\nno such reef"))).toEqual(["no such reef"]);
    expect(errorLines(result(true, "Exit code 2", "no such reef"))).toEqual(["no such reef"]);
    expect(errorLines(result(true, "Exit code 143"))).toEqual([]);
    expect(errorLines(result(true, "Exit code 1: killed"))).toEqual(["Exit code 1: killed"]);
    expect(errorLines(result(false, "Exit code 1\nfatal: reef"))).toEqual(["fatal: reef"]);
    expect(errorLines(result(false, "one\ntwo", "three"))).toEqual([]);
  });

  it("looks at the first 160 characters of a line, and takes it whole", () => {
    const line = (blanks: number): string => `${"a".repeat(blanks - 1)}: error`;
    expect(errorLines(result(false, line(100)))).toEqual([line(100)]);
    const rest = `error: ${"b".repeat(300)}`;
    expect(errorLines(result(false, rest))).toEqual([rest]);
    const spaced = (blanks: number): string => `a.ts:${" ".repeat(blanks)}error`;
    expect(errorLines(result(false, spaced(1), spaced(2)))).toEqual([spaced(1)]);
    const thread = (name: number): string => `${"w".repeat(name)}Error: x`;
    expect(errorLines(result(false, thread(80), thread(81)))).toEqual([thread(80)]);
  });

  it("finds in a text what it finds in each of its lines", () => {
    const word = fc.constantFrom(
      ..."error: |Error:|ERROR |a.ts: error|npm ERR!|panic: |thread 'x' panicked|Traceback (|fatal: ".split("|"),
      ..."KeyException: |err|exception|FATAL|a|\u2003|\u00a0| |\t|\r".split("|"),
    );
    const text = fc.array(fc.oneof(word, fc.constant("\n")), { maxLength: 30 }).map((words) => words.join(""));
    fc.assert(
      fc.property(text, fc.boolean(), (whole, isError) => {
        const lines = pieces(scanLines, whole);
        const alone = lines.flatMap((line) => errorLines(result(false, line)));
        const first = isError ? lines.slice(0, 1) : [];
        expect(errorLines(result(isError, whole))).toEqual(alone.length === 0 ? first : alone);
      }),
    );
  });
});

describe("requestSentences", () => {
  it("takes the sentences of all texts that hold a word", () => {
    const content = ["One. --- Two", "***\n3"].map((text) => ({ type: "text", text }) as const);
    expect(requestSentences({ type: "chat_request", ...baseFacts, content })).toEqual(["One.", "--- Two", "3"]);
    expect(requestSentences({ type: "chat_response", ...baseFacts, message: "One." })).toEqual([]);
  });
});
