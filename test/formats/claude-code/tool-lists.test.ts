// The tools that Claude Code says it offers.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import type { ToolList } from "../../../src/formats/imported-session.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { buildSession, type SessionStep } from "../../helpers/session-builder.ts";

const listsOf = (bytes: Buffer): readonly ToolList[] => readClaudeSession(createBufferSource(bytes)).toolLists ?? [];
const namesOf = (...steps: SessionStep[]): readonly [number, string][] =>
  listsOf(buildSession(steps).text()).map(({ turn, tools }) => [turn, tools.map(({ name }) => name).join()]);

/** A session whose snapshot has these tools. */
function withTools(tools: unknown, more: Json = {}): Buffer {
  const { lines } = buildSession(["prompt", { offers: 1 }, "say"]);
  const changed = lines.map((line) =>
    line["type"] === "attachment" ? { ...line, ...more, attachment: { type: "prompt_snapshot", tools } } : line,
  );
  return Buffer.from(changed.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

describe("lists of tools", () => {
  it("are given once a change, with the turn that they stand in", () => {
    expect(namesOf("prompt", { offers: 0 }, "say", { offers: 2 }, "prompt", { offers: 2 }, "say")).toEqual([
      [0, "Bash,Read"],
    ]);
    expect(namesOf("prompt", { offers: 1 }, "say", "prompt", { offers: 3 }, "say", { offers: 1 })).toEqual([
      [0, "Bash"],
      [1, "Bash,Read,Write"],
      [1, "Bash"],
    ]);
    expect(namesOf("prompt", "say")).toEqual([]);
  });

  it("hold what a request says of a tool", () => {
    expect(listsOf(buildSession(["prompt", { offers: 1 }, "say"]).text())).toMatchObject([
      {
        id: expect.stringMatching(/^0{8}-/) as string,
        timestamp: expect.stringMatching(/^2026-/) as string,
        tools: [{ name: "Bash", description: "Does Bash.", parameters: { type: "object", properties: { input: {} } } }],
      },
    ]);
  });

  it("leave out what is no tool, and take one that is named only with any arguments", () => {
    const tools = [{ name: "Bash" }, { description: "nameless" }, "Read", null, { name: "", schema: {} }];
    expect(listsOf(withTools(tools))).toMatchObject([{ tools: [{ name: "Bash", parameters: { type: "object" } }] }]);
    for (const none of [[], {}, "Bash", [{ description: "nameless" }]]) expect(listsOf(withTools(none))).toEqual([]);
  });

  it("are not those of a sub-agent", () => {
    expect(listsOf(withTools([{ name: "Bash" }], { isSidechain: true }))).toEqual([]);
  });
});
