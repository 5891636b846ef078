import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import { readSource } from "../../../src/app/sessions/open-session.ts";
import type { PieceLimits } from "../../../src/app/sessions/sources.ts";
import { turnPath } from "../../../src/core/conversation/turn-file.ts";
import { createEmbeddedStore } from "../../../src/store/embedded/store.ts";
import { createMemoryRepository } from "../../helpers/embedded-store.ts";
import { buildSession, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});

async function treeOf(branch: string): Promise<BranchTree> {
  return loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
}

async function originalOf(branch: string, session: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readSource(workspace.store, { commit: await tipOf(workspace, branch) }, session))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function subjects(branch: string): Promise<string[]> {
  const log = await workspace.store.readLog({ from: await tipOf(workspace, branch) });
  return log.map(({ message }) => message.split("\n", 1)[0]!);
}

/** Adds a turn that no session holds, as a conversation with a model would. */
async function addOtherTurn(branch: string): Promise<void> {
  const tree = await treeOf(branch);
  const index = tree.turnOids.length;
  const events = [
    { type: "turn_start", id: "own.turn", timestamp: "2026-04-01T00:00:00.000Z", prev: tree.turnOids[index - 1] },
    { type: "chat_request", id: "own.1", timestamp: "2026-04-01T00:00:00.000Z", content: "asked elsewhere" },
  ];
  const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const person = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
  const commit = { message: `turn ${index}: asked elsewhere\n`, author: person, committer: person };
  await workspace.store.write([
    {
      branch,
      expected: tree.commit,
      parent: tree.commit,
      commits: [{ ...commit, changes: [{ path: turnPath(index), bytes }] }],
    },
  ]);
}

const SESSION = "5e551073-0000-4000-8000-00000000000a";

describe("import", () => {
  it("reports the branch as it is afterwards", async () => {
    const first = await importBytes(workspace, buildSession(plainTurns(3)).text());
    expect(first).toMatchObject({ status: "created", turns: 3, compactions: 0, skipped_lines: 0, turns_added: 3 });
    const grown = await importBytes(workspace, buildSession([...plainTurns(3), { compact: 0 }, "prompt"]).text());
    expect(grown).toMatchObject({ status: "updated", branch: first.branch, turns: 4, compactions: 1, turns_added: 1 });
    const again = await importBytes(workspace, buildSession([...plainTurns(3), { compact: 0 }, "prompt"]).text());
    expect(again).toMatchObject({ status: "unchanged", turns: 4, compactions: 1, turns_added: 0 });
    expect(again.events).toBe(grown.events);
    expect(grown.events).toBeGreaterThan(first.events);
  });

  it("makes a fork at the last common turn when the session was rewound, and makes it active", async () => {
    const steps: SessionStep[] = [...plainTurns(4)];
    const main = await importBytes(workspace, buildSession(steps).text());
    const rewound = await importBytes(workspace, buildSession([...steps, { rewind: 1 }, "say"]).text());
    expect(rewound).toMatchObject({ status: "forked", id: main.id, turns: 4, turns_added: 1 });
    expect(await workspace.store.readActiveBranch()).toBe(rewound.branch);
    const [mine, other] = [await treeOf(main.branch), await treeOf(rewound.branch)];
    expect(other.turnOids.slice(0, 3)).toEqual(mine.turnOids.slice(0, 3));
    expect(other.turnOids[3]).not.toBe(mine.turnOids[3]);
    expect(await subjects(main.branch)).toContain("turn 3: request 7");

    const later = await importBytes(workspace, buildSession([...steps, { rewind: 1 }, "say", "prompt"]).text());
    expect(later).toMatchObject({ status: "updated", branch: rewound.branch, turns: 5 });
  });

  it("gives the same rewind the same fork everywhere", async () => {
    const bytes = [plainTurns(3), [...plainTurns(3), { rewind: 1 } as const]].map((steps) =>
      buildSession(steps).text(),
    );
    const other = await createMemoryWorkspace();
    const tips: string[] = [];
    for (const one of [workspace, other]) {
      let branch = "";
      for (const state of bytes) ({ branch } = await importBytes(one, state));
      tips.push(`${branch} ${await tipOf(one, branch)}`);
    }
    expect(tips[1]).toBe(tips[0]);
  });

  it("continues in a fork when the branch got other turns meanwhile", async () => {
    const main = await importBytes(workspace, buildSession(plainTurns(3)).text());
    await addOtherTurn(main.branch);
    const forked = await importBytes(workspace, buildSession(plainTurns(5)).text());
    expect(forked).toMatchObject({ status: "forked", turns: 5, turns_added: 2 });
    expect(forked.branch).not.toBe(main.branch);
    expect((await treeOf(main.branch)).turnOids).toHaveLength(4);
    const grown = await importBytes(workspace, buildSession(plainTurns(6)).text());
    expect(grown).toMatchObject({ status: "updated", branch: forked.branch, turns: 6, turns_added: 1 });
  });

  it("does not take other turns for a change of the session", async () => {
    const main = await importBytes(workspace, buildSession(plainTurns(3)).text());
    await addOtherTurn(main.branch);
    const again = await importBytes(workspace, buildSession(plainTurns(3)).text());
    expect(again).toMatchObject({ status: "unchanged", branch: main.branch, turns: 4 });
  });

  it("keeps lines that are no events with the newest turn", async () => {
    const { branch } = await importBytes(workspace, buildSession(plainTurns(2)).text());
    const bytes = Buffer.concat([buildSession(plainTurns(2)).text(), Buffer.from('not json\n{"half":')]);
    const report = await importBytes(workspace, bytes);
    expect(report).toMatchObject({ status: "updated", branch, turns: 2, turns_added: 0, skipped_lines: 2 });
    expect(report.skipped?.map(({ line }) => line)).toEqual([9, 10]);
    expect(await originalOf(branch, SESSION)).toBe(bytes.toString());
    expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged" });
    expect((await subjects(branch)).filter((subject) => subject.startsWith("turn 1"))).toHaveLength(1);
  });

  it("refuses a session in which nobody asked anything, and writes nothing", async () => {
    const empty = buildSession(["snapshot", "title"]).text();
    const refused = importBytes(workspace, empty, { format: "claude-code" });
    await expect(refused).rejects.toMatchObject({
      code: "empty_session",
      message: "Standard input holds no turn: nothing was asked in it.",
    });
    await expect(importBytes(workspace, Buffer.alloc(0))).rejects.toMatchObject({ code: "empty_session" });
    expect(await workspace.store.listBranches()).toEqual([]);
  });

  it("reads a session that is named twice once, and does not mind its states in any order", async () => {
    const folder = createTempFolder();
    const [long, short] = [join(folder.path, "long.jsonl"), join(folder.path, "short.jsonl")];
    writeFileSync(long, buildSession(plainTurns(4)).text());
    writeFileSync(short, buildSession(plainTurns(2)).text());
    const request = { paths: [short, long, long, short], allBranches: false };
    const { sessions } = await importSessions(workspace, request);
    expect(sessions.map(({ status }) => status)).toEqual(["created", "updated", "unchanged", "unchanged"]);
    expect(new Set(sessions.map(({ branch }) => branch)).size).toBe(1);
    folder.remove();
  });

  it("passes over files of a folder that are no sessions, and says which", async () => {
    const folder = createTempFolder();
    writeFileSync(join(folder.path, "a.jsonl"), buildSession(plainTurns(2)).text());
    writeFileSync(join(folder.path, "b.jsonl"), '{"kind":"something else"}\n');
    const outcome = await importSessions(workspace, { paths: [folder.path], allBranches: false });
    expect(outcome.sessions).toHaveLength(1);
    expect(outcome.failed.map(({ error }) => error.code)).toEqual(["not_a_session"]);
    const named = importSessions(workspace, { paths: [join(folder.path, "b.jsonl")], allBranches: false });
    await expect(named).rejects.toMatchObject({ code: "not_a_session" });
    folder.remove();
  });
});

describe("import of side files", () => {
  let folder: TempFolder;
  beforeEach(() => {
    folder = createTempFolder();
  });
  afterEach(() => folder.remove());
  const side = (name: string, text: string): void => {
    const path = join(folder.path, "s", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  };
  const load = async (turns: number) => {
    writeFileSync(join(folder.path, "s.jsonl"), buildSession(plainTurns(turns)).text());
    const request = { paths: [join(folder.path, "s.jsonl")], allBranches: false };
    return (await importSessions(workspace, request)).sessions[0]!;
  };
  const stored = async (branch: string): Promise<string[]> => {
    const files = await workspace.store.listTree(await tipOf(workspace, branch), {
      under: [`sources/${SESSION}/files`],
    });
    const texts: string[] = [];
    for await (const bytes of workspace.store.readBlobs(files.map(({ oid }) => oid)))
      texts.push(Buffer.from(bytes).toString());
    return files.map(({ path }, at) => `${path.split("/files/")[1]}=${texts[at]}`);
  };

  it("stores side files of the session and updates them, even when only they changed", async () => {
    side("subagents/agent-1.jsonl", "one");
    side("tool-results/r.txt", "big");
    const { branch } = await load(2);
    expect(await stored(branch)).toEqual(["subagents/agent-1.jsonl=one", "tool-results/r.txt=big"]);
    expect(await load(2)).toMatchObject({ status: "unchanged" });
    side("subagents/agent-1.jsonl", "one and more");
    side("subagents/agent-2.jsonl", "two");
    expect(await load(2)).toMatchObject({ status: "updated", branch, turns: 2, turns_added: 0 });
    expect(await stored(branch)).toEqual([
      "subagents/agent-1.jsonl=one and more",
      "subagents/agent-2.jsonl=two",
      "tool-results/r.txt=big",
    ]);
    expect(await load(2)).toMatchObject({ status: "unchanged" });
    expect(await load(3)).toMatchObject({ status: "updated", turns_added: 1 });
    expect(await stored(branch)).toHaveLength(3);
  });

  it("does not take side files for the session's own lines", async () => {
    side("subagents/agent-1.jsonl", "not the session\n");
    const { branch } = await load(2);
    expect(await originalOf(branch, SESSION)).toBe(buildSession(plainTurns(2)).text().toString());
  });

  it("does not import side files as sessions when given the folder", async () => {
    side("subagents/agent-1.jsonl", buildSession(["prompt", "say"]).text().toString());
    await load(2);
    const { sessions } = await importSessions(workspace, { paths: [folder.path], allBranches: false });
    expect(sessions.map(({ status }) => status)).toEqual(["unchanged"]);
  });
});

describe("import --all-branches", () => {
  const before = plainTurns(3);
  const after: SessionStep[] = [...before, { rewind: 1 }, "say", { rewind: 0 }, "say"];

  it("makes a fork of each branch that the agent left", async () => {
    const report = await importBytes(workspace, buildSession(after).text(), { allBranches: true });
    expect(report.abandoned).toHaveLength(1);
    const left = await treeOf(report.abandoned![0]!);
    const main = await treeOf(report.branch);
    expect(left.turnOids.slice(0, 2)).toEqual(main.turnOids.slice(0, 2));
    expect(left.turnOids).toHaveLength(3);
    expect(await workspace.store.readActiveBranch()).toBe(report.branch);
  });

  it("makes them also when the session was imported without, and only once", async () => {
    const bytes = buildSession(after).text();
    await importBytes(workspace, bytes);
    const report = await importBytes(workspace, bytes, { allBranches: true });
    expect(report).toMatchObject({ status: "unchanged" });
    expect(report.abandoned).toHaveLength(1);
    const branches = await workspace.store.listBranches();
    expect((await importBytes(workspace, bytes, { allBranches: true })).abandoned).toBeUndefined();
    expect(await workspace.store.listBranches()).toEqual(branches);
  });

  it("makes none of a path that a branch holds already", async () => {
    await importBytes(workspace, buildSession(before).text());
    const report = await importBytes(workspace, buildSession(after).text(), { allBranches: true });
    expect(report.status).toBe("forked");
    expect(report.abandoned).toBeUndefined();
  });

  it("continues in a fork when the agent goes back to it, and still has the file's bytes", async () => {
    const first = await importBytes(workspace, buildSession(after).text(), { allBranches: true });
    // The user takes the left branch up again: its last answer is followed by a new request.
    const session = buildSession(after);
    const answer = session.lines.findLast((line) => JSON.stringify(line).includes("answer 6"))!;
    const at = session.lines.at(-1)!;
    const node = { ...at, type: "user", message: { role: "user", content: "back here" }, parentUuid: answer["uuid"] };
    const line = { ...node, uuid: "00000000-0000-4000-8000-0000000000ff", timestamp: "2026-03-01T10:00:00.000Z" };
    const bytes = Buffer.concat([session.text(), Buffer.from(`${JSON.stringify(line)}\n`)]);
    const report = await importBytes(workspace, bytes);
    expect(report).toMatchObject({ status: "updated", branch: first.abandoned![0], turns_added: 1 });
    expect(await originalOf(report.branch, SESSION)).toBe(bytes.toString());
    expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged" });
  });
});

describe("import of long lines", () => {
  const limits: PieceLimits = { piece: 900, line: 1500 };
  const long = (turns: number): Buffer => {
    const lines = buildSession(plainTurns(turns)).text().toString().trimEnd().split("\n");
    const padded = lines.map((line, at) => (at % 4 === 1 ? line.replace("answer", "x".repeat(2000)) : line));
    return Buffer.from(`${padded.join("\r\n")}\r\n`);
  };

  it("gives them back byte for byte, imported at once or growing", async () => {
    const { branch } = await importBytes(workspace, long(2), { limits });
    expect(await originalOf(branch, SESSION)).toBe(long(2).toString());
    expect(await importBytes(workspace, long(5), { limits })).toMatchObject({ status: "updated", branch });
    expect(await originalOf(branch, SESSION)).toBe(long(5).toString());
    expect(await importBytes(workspace, long(5), { limits })).toMatchObject({ status: "unchanged" });
    expect(await importBytes(workspace, long(3), { limits })).toMatchObject({ status: "unchanged" });
    const files = await workspace.store.listTree(await tipOf(workspace, branch), { sizes: true });
    const pieces = files.filter(({ path }) => path.startsWith("sources/"));
    expect(Math.max(...pieces.map(({ size }) => size!))).toBeLessThanOrEqual(limits.line);
    expect(files.some(({ path }) => path.startsWith("attachments/"))).toBe(true);
  });
});

describe("imports at the same time", () => {
  it("neither lose nor double anything", async () => {
    const repository = await createMemoryRepository();
    const many = await Promise.all(
      Array.from({ length: 4 }, () => createMemoryWorkspace(undefined, createEmbeddedStore(repository))),
    );
    const reports = await Promise.all(many.map((one, at) => importBytes(one, buildSession(plainTurns(2 + at)).text())));
    workspace = many[0]!;
    expect(new Set(reports.map(({ branch }) => branch)).size).toBe(1);
    const tree = await treeOf(reports[0]!.branch);
    expect(tree.turnOids).toHaveLength(5);
    const alone = await createMemoryWorkspace();
    const once = await importBytes(alone, buildSession(plainTurns(5)).text());
    expect(tree.commit).toBe(await tipOf(alone, once.branch));
    expect(await readCompactionLog(workspace, tree)).toEqual([]);
  });
});
