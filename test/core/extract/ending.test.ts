import { describe, expect, it } from "vitest";
import { endingOf } from "../../../src/core/compact/gather.ts";
import { listToolCalls } from "../../../src/core/compact/tool-call.ts";
import { groupTurns, type PlacedEvent } from "../../../src/core/compact/transcript.ts";
import type { Event } from "../../../src/core/conversation/event.ts";

let made = 0;
const base = () => ({ id: `e${made++}`, timestamp: "2026-01-01T00:00:00Z" });
const ask = (content: string, origin?: string): Event => ({
  type: "chat_request",
  ...base(),
  content,
  ...(origin === undefined ? {} : { metadata: { origin } }),
});
const say = (message: string): Event => ({ type: "chat_response", ...base(), message });
const think = (reasoning: string): Event => ({ type: "chat_response", ...base(), reasoning });
const run = (command: string, result: string | null = "ok", is_error = false): readonly Event[] => {
  const call_id = `c${made++}`;
  const request: Event = { type: "tool_call_request", ...base(), call_id, name: "Bash", arguments: { command } };
  if (result === null) return [request];
  return [request, { type: "tool_call_response", ...base(), call_id, content: result, is_error }];
};
const ending = (...events: readonly Event[]) => {
  const placed: readonly PlacedEvent[] = events.map((event) => ({ turn: 0, event }));
  return endingOf(placed, listToolCalls(groupTurns(placed)));
};
const why = (...events: readonly Event[]) => ending(...events).unfinished;

describe("endingOf", () => {
  it.each([
    "Done. All tests pass.",
    "Committed as 1a2b3c4. Working tree is clean.",
    "Fixed. Let me know if you need anything else!",
    "It is fixed.\n\nIs there anything else you need?",
    "Running with an empty config makes the whole suite of the project green again, as expected.",
    "Erledigt.",
  ])("takes %j for the end of the work", (text) => {
    expect(ending(ask("fix it"), ...run("npm test"), say(text))).toEqual({ unfinished: null, actions: [] });
  });

  it.each([
    "Let me check the parser.",
    "The parser is fine. Now let me look at the lexer:",
    "I'll run the tests next.",
    "Five agents are at it. Waiting for their results.",
    "The key is locked. Once you've unlocked it, say the word and I'll go on.",
    "Ich werde jetzt die Tests ausführen.",
    "Je vais lancer les tests.",
    "接下来运行测试。",
    "Das sind die Schritte:",
  ])("takes %j for an announcement", (text) => {
    expect(why(ask("fix it"), say(text))).toBe("announced");
  });

  it("knows a question to the user, with its words", () => {
    expect(ending(ask("fix it"), say("I see two ways.\n\nWhich one do you want?"))).toMatchObject({
      unfinished: "asked",
      question: "Which one do you want?",
    });
  });

  it("knows a request without an answer, a call, a result, and an interruption", () => {
    expect(why(ask("one"), say("1"), ask("two"))).toBe("unanswered");
    expect(why(ask("one"), think("hm"))).toBe("unanswered");
    expect(why(ask("one"), say("I look"), ...run("ls", null))).toBe("working");
    expect(why(ask("one"), ...run("ls"))).toBe("working");
    expect(why(ask("one"), ...run("ls"), think("hm"))).toBe("working");
    expect(why(ask("one"), say("I look"), ask("[Request interrupted by user]", "harness"))).toBe("interrupted");
  });

  it("knows an answer behind a call that failed", () => {
    expect(why(ask("one"), ...run("npm test", "1 failing", true), say("The tests were run."))).toBe("failed");
    expect(why(ask("one"), ...run("npm test", "1 failing", true), ...run("npm test"), say("All pass."))).toBeNull();
  });

  it("passes over what a harness adds and commands that ask for nothing", () => {
    const exit = ask("<command-name>/exit</command-name>");
    expect(why(ask("one"), say("Done."), ask("a hook ran", "harness"), exit)).toBeNull();
    expect(why()).toBeNull();
  });

  it("tells the last actions, with how they ended", () => {
    const calls = [1, 2, 3, 4].flatMap((n) => run(`make part-${n}`));
    const { actions } = ending(
      ask("one"),
      ...calls,
      ...run("make it", "make: *** [it] Error 2", true),
      ...run("ls", null),
    );
    expect(actions).toEqual([
      "`make part-2`",
      "`make part-3`",
      "`make part-4`",
      "`make it` (failed: make: *** [it] Error 2)",
      "`ls` (no result yet)",
    ]);
  });
});
