// Agents that keep the sessions of all projects in one folder, in folders of days: levels are walked, and sessions of others
// are left, told from their beginning.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { agentSessionFolders, findAgentSessions } from "../../../src/app/sessions/session-files.ts";
import type { AgentFormat } from "../../../src/formats/agent-format.ts";
import { createTempFolder, type TempFolder, writeText } from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

vi.mock("../../../src/formats/agents.ts", async () => {
  const { PLAIN } = await import("../../../examples/plain-agent/agent.ts");
  const files: AgentFormat["files"] = {
    endings: [".jsonl", ".json"],
    folders: ({ home, join }, directory) => [
      { path: join(home, "sessions"), levels: 1, holds: (beginning) => beginning.line(0) === directory },
    ],
  };
  return { AGENTS: [{ ...PLAIN, files }] };
});

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

describe("sessions in folders of days", () => {
  it("are found in as many levels as the agent says, if they are of the directory", async () => {
    const runtime = createTestRuntime(folder.path);
    const path = (name: string): string => `${folder.path}/sessions/${name}`;
    const mine = ["b.jsonl", "05-01/a.json", "05-02/c.jsonl"].map(path);
    for (const name of mine) writeText(name, `/work/mine\n${"x".repeat(100_000)}\n`);
    for (const name of ["05-01/other.jsonl", "05-01/notes.txt", "05-01/deeper/d.jsonl"])
      writeText(path(name), name.endsWith("other.jsonl") ? "/work/other\n" : "/work/mine\n");
    const found = await findAgentSessions(runtime, ["/work/mine", "/work/mine"]);
    expect(found.map((file) => file.path).sort()).toEqual([...mine].sort());
    const folders = await agentSessionFolders(runtime, ["/work/mine"]);
    expect(folders).toEqual([`${folder.path}/sessions`, path("05-01"), path("05-02")]);
  });

  it("are none where the agent was never used", async () => {
    expect(await findAgentSessions(createTestRuntime(folder.path), ["/work/mine"])).toEqual([]);
  });
});
