// Agents that keep the sessions of all projects in one folder, or in folders by day: all levels are searched, and sessions of
// others are skipped, by their beginning.
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { agentSessionFolders, findAgentSessions } from "../../../src/app/sessions/kept-files.ts";
import type { AgentFormat } from "../../../src/formats/agent-format.ts";
import { createTempFolder, type TempFolder, writeText } from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

vi.mock("../../../src/formats/agents.ts", async () => {
  const { PLAIN } = await import("../../helpers/plain-agent/agent.ts");
  const files: AgentFormat["files"] = {
    endings: [".jsonl", ".json"],
    folders: ({ home, join }) => [{ path: join(home, "sessions"), levels: 1 }],
    directory: (beginning) => ({ path: beginning.line(0) }),
  };
  return { AGENTS: [{ ...PLAIN, files }] };
});

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

function placeAt(cwd: string): Parameters<typeof findAgentSessions>[0] {
  const runtime = createTestRuntime(cwd, { HOME: folder.path });
  return { runtime, location: { root: "/store", kind: "user", exists: true } };
}

describe("sessions in folders of days", () => {
  it("are found in as many levels as the agent says, if they are of the directory", async () => {
    const path = (name: string): string => `${folder.path}/sessions/${name}`;
    const mine = ["b.jsonl", "05-01/a.json", "05-02/c.jsonl"].map(path);
    const here = `${folder.path}/mine`;
    for (const directory of [here, `${folder.path}/other`]) mkdirSync(directory);
    for (const name of mine) writeText(name, `${here}\n${"x".repeat(100_000)}\n`);
    for (const name of ["05-01/other.jsonl", "05-01/notes.txt", "05-01/deeper/d.jsonl"])
      writeText(path(name), name.endsWith("other.jsonl") ? `${folder.path}/other\n` : `${here}\n`);
    const { files } = await findAgentSessions(placeAt(here));
    expect(files.map((file) => file.path).sort()).toEqual([...mine].sort());
    const folders = await agentSessionFolders(placeAt(here));
    expect(folders).toEqual([`${folder.path}/sessions`, path("05-01"), path("05-02")]);
  });

  it("are none where the agent was never used", async () => {
    expect(await findAgentSessions(placeAt(folder.path))).toEqual({ files: [], unclear: [] });
  });
});
