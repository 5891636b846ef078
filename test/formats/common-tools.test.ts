// Calls of one agent as another makes them: names and keys change, and nothing else.
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/conversation/event.ts";
import { AGENTS } from "../../src/formats/agents.ts";
import { translateCalls } from "../../src/formats/common-tools.ts";

const DIALECTS = AGENTS.flatMap(({ tools }) => tools ?? []);

function translated(agent: string, name: string, args: unknown): unknown {
  const call: Event = { type: "tool_call_request", id: "e", timestamp: "", call_id: "c", name, arguments: args };
  const view = { turns: [{ index: 0, events: [call] }] } as never;
  const target = AGENTS.find((each) => each.name === agent)!.tools;
  const [turn] = translateCalls(view, target, DIALECTS).turns;
  const { name: own, arguments: renamed, ...rest } = turn!.events[0] as typeof call;
  expect(rest).toEqual({ type: "tool_call_request", id: "e", timestamp: "", call_id: "c" });
  return [own, renamed];
}

describe("calls of another agent", () => {
  it("are written as the agent makes them, arguments that only one knows kept, in their order", () => {
    expect(translated("codex", "Bash", { command: "ls", description: "look", timeout: 5 })).toEqual([
      "exec_command",
      { cmd: "ls", description: "look", timeout: 5 },
    ]);
    expect(translated("claude-code", "exec_command", { workdir: "/x", cmd: "ls" })).toEqual([
      "Bash",
      { workdir: "/x", command: "ls" },
    ]);
    expect(translated("pi", "Read", { file_path: "/k.md", offset: 3 })).toEqual(["read", { path: "/k.md", offset: 3 }]);
    expect(translated("claude-code", "read", { path: "/k.md", limit: 3 })).toEqual([
      "Read",
      { file_path: "/k.md", limit: 3 },
    ]);
    expect(translated("claude-code", "edit", { path: "/k.md", old_str: "a", new_str: "b" })).toEqual([
      "Edit",
      { file_path: "/k.md", old_string: "a", new_string: "b" },
    ]);
    expect(JSON.stringify(translated("codex", "Bash", { timeout: 5, command: "ls" }))).toBe(
      '["exec_command",{"timeout":5,"cmd":"ls"}]',
    );
  });

  it("stay where nothing of the kind is there, or they are not what their name says", () => {
    for (const [agent, name, args] of [
      ["codex", "Read", { file_path: "/k.md" }],
      ["codex", "mcp__kelp__count", { command: "ls" }],
      ["claude-code", "shell", { command: ["ls", "-a"] }],
      ["claude-code", "read", { url: "x" }],
      ["pi", "Bash", { command: ["ls"] }],
      ["pi", "Bash", "cut sh"],
      ["pi", "edit", { path: "/k", edits: [] }],
      ["anthropic", "Bash", { command: "ls" }],
    ] as const)
      expect(translated(agent, name, args)).toEqual([name, args]);
  });

  it("go there and back without a change, for every pair of agents and what both can do", () => {
    const dialects = AGENTS.flatMap(({ name, tools }) => (tools === undefined ? [] : [{ name, tools }]));
    for (const from of dialects) {
      for (const to of dialects) {
        for (const [act, tool] of Object.entries(from.tools)) {
          if (to.tools[act as keyof typeof to.tools] === undefined) continue;
          const args = Object.fromEntries(
            Object.values(tool.keys as Record<string, string>).map((key, at) => [key, `v${at}`]),
          );
          const [name, there] = translated(to.name, tool.name, args) as [string, unknown];
          expect([from.name, to.name, act, name]).toEqual([
            from.name,
            to.name,
            act,
            to.tools[act as keyof typeof to.tools]!.name,
          ]);
          expect(translated(from.name, name, there)).toEqual([tool.name, args]);
        }
      }
    }
  });
});
