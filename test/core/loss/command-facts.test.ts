import { describe, expect, it } from "vitest";
import { commandFacts, commandLineOf } from "../../../src/core/compact/hidden-content.ts";
import type { Event, View } from "../../../src/core/conversation/event.ts";

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
