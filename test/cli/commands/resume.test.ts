// An agent that takes sessions into its own store first: both commands are printed, and run, in their order.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { command } from "../../../src/cli/commands/resume.ts";
import type { CommandContext } from "../../../src/cli/frame/command.ts";
import type { AgentFormat } from "../../../src/formats/agent-format.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import {
  createGitWorkspace,
  type GitWorkspace,
  importBytes,
  inFolder,
  removeWorkspace,
} from "../../helpers/workspace.ts";

const note = (text: string, code = 0): string[] => [
  process.execPath,
  "-e",
  `require("node:fs").appendFileSync("ran", "${text};"); process.exit(${code})`,
];

vi.mock("../../../src/formats/agents.ts", async (original) => {
  const [{ AGENTS }, { PLAIN }] = await Promise.all([
    original<typeof import("../../../src/formats/agents.ts")>(),
    import("../../helpers/plain-agent/agent.ts"),
  ]);
  const storing = (name: string, code: number): AgentFormat => ({
    ...PLAIN,
    name,
    resume: ({ home, join }) => ({
      path: join(home, "taken.jsonl"),
      before: note("take in", code),
      command: note("go on"),
      hints: [],
    }),
  });
  return { AGENTS: [...AGENTS, storing("storing", 0), storing("refusing", 7)] };
});

let workspace: GitWorkspace;
let printed: string[];
beforeEach(async () => {
  workspace = await createGitWorkspace();
  await importBytes(workspace, buildSession(plainTurns(2)).text());
  printed = [];
});
afterEach(() => removeWorkspace(workspace));

async function resume(agent: string): Promise<number> {
  const print = (text: string): unknown => printed.push(text);
  const output = { raw: print, warn: print, info: () => undefined };
  const context = {
    args: [],
    options: { with: agent, exec: true },
    runtime: workspace.runtime,
    output,
    json: false,
    open: () => Promise.resolve(workspace),
  };
  return (await command.run(context as unknown as CommandContext)) ?? 0;
}

describe("jpg resume with an agent that takes sessions in", () => {
  it("runs what takes it in, then what goes on", async () => {
    expect(await resume("storing")).toBe(0);
    expect(printed[0]).toMatch(/ -e '.*take in.*' && .* -e '.*go on.*'\n$/);
    expect(readFileSync(inFolder(workspace, "ran"), "utf8")).toBe("take in;go on;");
  });

  it("stops where the session was not taken in", async () => {
    expect(await resume("refusing")).toBe(7);
    expect(readFileSync(inFolder(workspace, "ran"), "utf8")).toBe("take in;");
    expect(printed[1]).toMatch(/ ended with exit code 7\. It was to continue "/);
  });
});
