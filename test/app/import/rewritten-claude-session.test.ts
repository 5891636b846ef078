// A session's file that no longer begins as it did when it was imported: what jpg says of it, and that nothing stored is lost.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadHistory } from "../../../src/app/conversation/view.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import { readSource } from "../../../src/app/sessions/open-session.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

type Lines = readonly (Json | string)[];

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});

const writer = createClaudeWriter();
for (const place of ["reef", "shoal", "bar", "sound"]) {
  writer.prompt(`How wide is the ${place}?`);
  writer.say(`The ${place}: a mile.`);
}
const first: readonly Json[] = writer.lines;
const SESSION = String(first[0]!["sessionId"]);

const load = (lines: Lines) => importBytes(workspace, sessionBytes(lines));
const said = (line: Json, text: string): Json => {
  const message = line["message"] as Json;
  return { ...line, message: { ...message, content: [{ type: "text", text }] } };
};
const renamed = (line: Json): Json =>
  JSON.parse(JSON.stringify(line).replaceAll('"0000', '"dddd').replaceAll("mile", "league")) as Json;

/** Adds a request after the newest message. */
function grown(lines: Lines): Lines {
  const last = lines.findLast((line): line is Json => typeof line !== "string");
  const common = { sessionId: SESSION, timestamp: "2026-05-01T00:00:00.000Z", parentUuid: last?.["uuid"] };
  const uuid = "eeeeeeee-0000-4000-8000-000000000001";
  return [...lines, { ...common, type: "user", uuid, message: { role: "user", content: "And the strait?" } }];
}

async function bytesAt(commit: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readSource(workspace.store, { commit }, SESSION)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The session's bytes at each commit of each branch. */
async function everyState(): Promise<Set<string>> {
  const states = new Set<string>();
  for (const { commit: tip } of await workspace.store.listBranches())
    for (const { commit } of await workspace.store.readLog({ from: tip })) states.add(await bytesAt(commit));
  return states;
}

async function historyOf(name: string): Promise<number> {
  const tree = await loadBranchTree(workspace.store, name, await tipOf(workspace, name));
  return (await loadHistory(workspace.store, tree)).turns.length;
}

const CHANGES: Readonly<Record<string, { change: (lines: readonly Json[]) => Lines; status: string; state: string }>> =
  {
    "is cut off after a turn": { change: (lines) => lines.slice(0, 4), status: "unchanged", state: "shorter" },
    "is cut off in a turn": { change: (lines) => lines.slice(0, 5), status: "unchanged", state: "shorter" },
    "is cut off in a line": {
      change: (lines) => [...lines.slice(0, 5), JSON.stringify(lines[5]).slice(0, 40)],
      status: "forked",
      state: "rewritten",
    },
    "lost rows in the middle": {
      change: (lines) => [...lines.slice(0, 2), ...lines.slice(4)],
      status: "forked",
      state: "rewritten",
    },
    "lost rows in the middle and was linked again": {
      change: (lines) => [...lines.slice(0, 2), { ...lines[4]!, parentUuid: lines[1]!["uuid"] }, ...lines.slice(5)],
      status: "forked",
      state: "rewritten",
    },
    "lost its first rows": { change: (lines) => lines.slice(2), status: "forked", state: "rewritten" },
    "has a row with other words": {
      change: (lines) => lines.map((line, at) => (at === 3 ? said(line, "[removed]") : line)),
      status: "forked",
      state: "rewritten",
    },
    "has other words in its newest row": {
      change: (lines) => lines.map((line, at) => (at === 7 ? said(line, "[removed]") : line)),
      status: "forked",
      state: "rewritten",
    },
    "has rows with other fields that say the same": {
      change: (lines) => lines.map((line) => ({ ...line, cleaned: true })),
      status: "updated",
      state: "rewritten",
    },
    "has its rows in another order": {
      change: (lines) => [lines[1]!, lines[0]!, ...lines.slice(2)],
      status: "updated",
      state: "rewritten",
    },
    "holds another session's text": { change: (lines) => lines.map(renamed), status: "forked", state: "rewritten" },
  };

describe.each(Object.entries(CHANGES))("a file that %s", (_, { change, status, state }) => {
  it("becomes a fork, or is told, and what was imported before is still there", async () => {
    const before = await load(first);
    const changed = change(first);
    const report = await load(changed);
    expect(report).toMatchObject({ status, id: before.id, file_state: state });
    expect(await historyOf(before.branch)).toBe(4);
    const states = await everyState();
    expect(states.has(sessionBytes(first).toString())).toBe(true);
    if (state === "rewritten")
      expect(await bytesAt(await tipOf(workspace, report.branch))).toBe(sessionBytes(changed).toString());
  });

  it("goes on where it is when it grows, and comes back", async () => {
    const before = await load(first);
    const changed = change(first);
    await load(changed);
    const report = await load(grown(changed));
    expect(report.id).toBe(before.id);
    expect(await bytesAt(await tipOf(workspace, report.branch))).toBe(sessionBytes(grown(changed)).toString());
    await load(first);
    await load(grown(first));
    const states = await everyState();
    for (const one of [first, grown(first), grown(changed)])
      expect(states.has(sessionBytes(one).toString())).toBe(true);
    expect(await historyOf(before.branch)).toBeGreaterThanOrEqual(4);
  });
});

describe("a file that only grew", () => {
  it("is not said to have changed", async () => {
    await load(first.slice(0, 4));
    expect((await load(first)).file_state).toBeUndefined();
    expect((await load(first)).file_state).toBeUndefined();
  });
});

describe("a file that was emptied", () => {
  it("is named although nobody named it, and its conversation stays", async () => {
    const folder = createTempFolder();
    const file = join(folder.path, `${SESSION}.jsonl`);
    writeFileSync(file, sessionBytes(first));
    writeFileSync(join(folder.path, "never.jsonl"), "");
    const take = () => importSessions(workspace, { paths: [folder.path], allBranches: false });
    const { sessions } = await take();
    writeFileSync(file, "");
    const { failed } = await take();
    folder.remove();
    expect(failed.map(({ path, error }) => [path, error.code])).toEqual([[file, "empty_session"]]);
    expect(await historyOf(sessions[0]!.branch)).toBe(4);
  });
});
