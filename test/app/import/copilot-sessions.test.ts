// Sessions of Copilot CLI that it rewrote, forked, or in which sub-agents worked.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  begun,
  type CopilotLine,
  type CopilotRow,
  done,
  resumableCopilot,
  said,
  typed,
} from "../../helpers/copilot-session.ts";
import { createSandbox, type Sandbox } from "../../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

async function jpg(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await sandbox.jpg(args);
  if (code !== 0) throw new Error(`jpg ${args.join(" ")}: exit ${code}\n${stderr}${stdout}`);
  return stdout;
}

interface Report {
  readonly id: string;
  readonly status: string;
  readonly branch: string;
  readonly turns: number;
}
const bringIn = async (name: string, text: string): Promise<readonly Report[]> =>
  JSON.parse(await jpg("import", sandbox.session(name, text), "--json")) as Report[];

const SESSION = "7aa11111-1111-4111-8111-111111111111";
const OTHER = "7aa22222-2222-4222-8222-222222222222";
const turns = (count: number): readonly CopilotLine[] =>
  Array.from({ length: count }, (_, n) => [typed(`Question ${n}`), said(`Answer ${n}`)]).flat();
const info = (infoType: string, message: string): CopilotLine => ["session.info", { infoType, message }];

describe("a session of Copilot CLI", { tags: ["slow"] }, () => {
  it("that took back its newest turn goes on as a fork, and the turn stays where it was", async () => {
    const start = begun({ sessionId: SESSION });
    const [first] = await bringIn("events.jsonl", resumableCopilot([start, ...turns(3)]));
    const undone = [start, ...turns(2), info("rewind", "Rewound the conversation."), typed("Other"), said("Way")];
    const [second] = await bringIn("events.jsonl", resumableCopilot(undone));
    expect(second).toMatchObject({ status: "forked", turns: 3 });
    expect(second?.branch).not.toBe(first?.branch);
    expect(await jpg("print", first?.branch ?? "")).toContain("Answer 2");
    expect(await jpg("print", second?.branch ?? "")).not.toContain("Answer 2");
  });

  it("that `/fork` made becomes a fork of the other's conversation", async () => {
    const [first] = await bringIn("events.jsonl", resumableCopilot([begun({ sessionId: SESSION }), ...turns(2)]));
    const told = info("fork", `Forked from "Kelp (old) as "x"" (${SESSION}) as "Kelp (fork)" (${OTHER}).`);
    const copy = [begun({ sessionId: OTHER }), ...turns(2), told, typed("Other"), said("Way")];
    const [second] = await bringIn("fork.jsonl", resumableCopilot(copy));
    expect(second?.id.split("/")[0]).toBe(first?.id.split("/")[0]);
    expect(second).toMatchObject({ turns: 3 });
  });

  it("has the sessions of its sub-agents as conversations that are linked with it", async () => {
    const own = (agentId: string, [type, data]: CopilotLine): CopilotRow => ({
      type,
      data: data as CopilotRow["data"],
      agentId,
    });
    const prompt: CopilotLine = ["user.message", { content: "Look around", source: `agent-${SESSION}` }];
    const rows = [
      begun({ sessionId: SESSION }),
      typed("Explore"),
      said("", ["t1"]),
      own("a1", ["subagent.started", { toolCallId: "t1", agentName: "explore" }]),
      own("a1", prompt),
      own("a1", said("", ["s1"])),
      own("a1", done("s1", "a crab")),
      own("a1", said("I saw a crab.")),
      done("t1", "A crab."),
      said("There is a crab."),
    ];
    const reports = await bringIn("events.jsonl", resumableCopilot(rows));
    expect(reports).toHaveLength(2);
    const [agent] = reports.filter(({ turns: count, id }) => count === 1 && id !== reports[0]?.id);
    expect(await jpg("print", agent?.id ?? "")).toContain("I saw a crab.");
    expect(await jpg("print", reports[0]?.id ?? "")).not.toContain("I saw a crab.");
    expect(JSON.parse(await jpg("show", agent?.id ?? "", "--json"))).toMatchObject({
      parent: expect.objectContaining({ call: "t1" }),
    });
  });
});
