// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byUse, lostFacts } from "../../../src/core/compact/lost-facts.ts";
import { lossReceipt } from "../../../src/core/compact/receipt.ts";
import { FACT_KINDS } from "../../../src/core/conversation/compaction.ts";
import { type Event, splitTurns } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

let next = 0;
const base = (): { id: string; timestamp: string } => ({ id: `x${next++}`, timestamp: "2026-01-01T00:00:00Z" });

function call(name: string, args: unknown, content: string): Event[] {
  const call_id = `c${next}`;
  return [
    { type: "tool_call_request", ...base(), call_id, name, arguments: args },
    { type: "tool_call_response", ...base(), call_id, content, is_error: false },
  ];
}

describe("lostFacts", () => {
  const turns = splitTurns(
    [
      { type: "turn_start", ...base() },
      { type: "chat_request", ...base(), content: "Fix it." },
      ...call("Read", { file_path: "/src/once.ts" }, "ok"),
      ...call("Read", { file_path: "/src/often.ts" }, "the number 512"),
      ...call("Edit", { file_path: "/src/often.ts" }, "calls fooBar()"),
      ...call("Read", { file_path: "/src/later.ts" }, "Error: no such port"),
      { type: "turn_start", ...base() },
      { type: "chat_request", ...base(), content: "Look at /src/later.ts again, and at later2.ts" },
    ],
    () => true,
  );

  it("names first what a person looks for: files before words, and of them what was shown most often", () => {
    const compaction = makeCompaction("k", [0, 0], STRIP_TOOLS);
    const lost = lostFacts(projectTurns(turns, []), projectTurns(turns, [compaction]), [compaction]);
    expect(lost.map(({ kind }) => kind)).toEqual(["files", "errors", "identifiers", "numbers"]);
    // What the next turn shows in full is not lost.
    expect(lost[0]).toEqual({ kind: "files", facts: ["/src/often.ts", "/src/once.ts"], mentioned: 0 });
  });

  it("does not count what the summary says as lost", () => {
    const all = {
      from_turn: 0,
      to_turn: 1,
      summary: { summary: "/src/often.ts and /src/once.ts; 512; fooBar(); Error: no such port" },
    };
    const [before, after] = [projectTurns(turns, []), { turns: [] }];
    expect(lostFacts(before, after, [{ from_turn: 0, to_turn: 1 }]).map(({ kind }) => kind)).toContain("files");
    expect(lostFacts(before, after, [all]).find(({ kind }) => kind === "files")?.facts).not.toContain("/src/often.ts");
  });

  it("names as many as the receipt of the compaction counts as hidden or by pointer", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: some, compactions: [one, ...rest] }) => {
        if (one === undefined) return;
        const [before, after] = [projectTurns(some, rest), projectTurns(some, [...rest, one])];
        const raw = some
          .filter(({ index }) => one.from_turn <= index && index <= one.to_turn)
          .flatMap(({ events }) => events);
        const { facts } = lossReceipt({ raw, before, after, summary: one.summary?.summary });
        const lost = lostFacts(before, after, [one]);
        for (const kind of FACT_KINDS) {
          const { hidden = 0, pointer = 0 } = facts[kind] ?? {};
          expect([kind, lost.find((own) => own.kind === kind)?.facts.length ?? 0]).toEqual([kind, hidden + pointer]);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("byUse", () => {
  it("puts first what later turns mention, then what nothing replaces, then what was shown most often", () => {
    const facts = [
      { name: "in the summary", fate: "summary", mentionedIn: null, times: 9 },
      { name: "by pointer", fate: "pointer", mentionedIn: null, times: 9 },
      { name: "hidden", fate: "hidden", mentionedIn: null, times: 1 },
      { name: "hidden, shown often", fate: "hidden", mentionedIn: null, times: 4 },
      { name: "mentioned", fate: "pointer", mentionedIn: 7, times: 1 },
    ] as const;
    expect(byUse(facts).map(({ name }) => name)).toEqual([
      "mentioned",
      "hidden, shown often",
      "hidden",
      "by pointer",
      "in the summary",
    ]);
  });
});
