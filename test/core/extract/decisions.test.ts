import { describe, expect, it } from "vitest";
import { decisionsIn, type Reply } from "../../../src/core/compact/decisions.ts";
import type { Said } from "../../../src/core/compact/passages.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { type CallSpec, call, callTurns, failed } from "../../helpers/call-conversation.ts";

const of = (found: {
  readonly requests?: readonly Reply[];
  readonly answers?: readonly Said[];
  readonly calls?: readonly CallSpec[];
}): readonly string[] => {
  const { requests = [], answers = [], calls = [] } = found;
  return decisionsIn(listToolCalls(callTurns(calls)), { requests, answers }).map(({ text }) => text);
};
const told = (text: string, next?: string) =>
  of({ answers: [{ turn: 0, text }], requests: next === undefined ? [] : [{ turn: 1, text: next, after: text }] });

describe("decisionsIn", () => {
  it("takes what the user answered, to tools and to the assistant", () => {
    const questions = [{ question: "Which store?", options: [] }];
    const asked = call("AskUserQuestion", { questions }, 'User has answered: "Which store?"="SQLite"');
    expect(of({ calls: [asked] })).toEqual(['Which store? → User has answered: "Which store?"="SQLite"']);
    expect(of({ requests: [{ turn: 3, text: "yes", after: "Shall I use SQLite?" }] })).toEqual([
      "yes (to: Shall I use SQLite?)",
    ]);
  });

  it("takes plans that were approved, and none that was refused", () => {
    const plan = "# Move the cache\n\nIn steps.";
    expect(of({ calls: [call("ExitPlanMode", { plan }, "approved")] })).toEqual([
      "the user approved the plan: # Move the cache In steps.",
    ]);
    expect(of({ calls: [failed("ExitPlanMode", { plan })] })).toEqual([]);
  });

  it("takes what the user settled", () => {
    const say = (text: string) => of({ requests: [{ turn: 0, text }] });
    expect(say("Good point. Let's store it in metadata.")).toEqual(["Let's store it in metadata."]);
    expect(say("wir bleiben bei SQLite")).toEqual(["wir bleiben bei SQLite"]);
    expect(say("I wonder if we go with SQLite")).toEqual([]);
    expect(say("should we use SQLite?")).toEqual([]);
  });

  it("takes what the assistant says that it decided, and no proposal", () => {
    expect(told("Done. I chose a stack because errors must name their column.")).toEqual([
      "I chose a stack because errors must name their column.",
    ]);
    expect(told("**Key design decisions:**\n- One file a turn\n- No locks\n\nOther:\n- a.ts")).toEqual([
      "One file a turn",
      "No locks",
    ]);
    expect(told("I would suggest a stack because it is fast. A tree is an option. Always use a queue.")).toEqual([]);
  });

  it.each(["no, use a tree", "revert that", "nein, lieber ein Baum", "不要用栈"])(
    "takes nothing that the next request turns down: %j",
    (next) => {
      expect(told("I decided to keep a stack.", next).filter((text) => text.includes("keep a stack"))).toEqual([]);
    },
  );

  it("says nothing twice", () => {
    const after = "Shall I take option A?\n\nA. SQLite";
    expect(of({ requests: [{ turn: 0, text: "yes, let's go with A", after: "Want option A?" }] })).toHaveLength(1);
    expect(of({ requests: [{ turn: 0, text: "let's go with A", after }] })).toHaveLength(1);
  });
});
