// Journals of writers that are gone: the next command commits them, once, whatever state they were left in.

import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  formatJournalLine,
  type JournalHead,
  type JournalLine,
  journalPath,
  openJournal,
} from "../../../src/app/conversation/journal.ts";
import { recoverTurns } from "../../../src/app/conversation/record-turn.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadTurns } from "../../../src/app/conversation/view.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { markThisProcess } from "../../../src/store/running-process.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import {
  createImportedWorkspace,
  type GitWorkspace,
  importBytes,
  removeWorkspace,
  tipOf,
} from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;
let head: JournalHead;
const said: string[] = [];
const voice = {
  info: (text: string) => void said.push(text),
  warn: (text: string) => void said.push(`warning: ${text}`),
};
const timestamp = "2026-05-01T12:00:00.000Z";
const REQUEST: readonly JournalLine[] = [
  { event: { type: "turn_start", id: "live0", timestamp } },
  { event: { type: "chat_request", id: "live1", timestamp, content: "How high?" } },
];
const HALF: readonly JournalLine[] = [
  { open: { type: "chat_response", id: "live2", timestamp, message: "", metadata: { model: "m" } } },
  { delta: "Five me", id: "live2" },
];
const WHOLE: readonly JournalLine[] = [
  { event: { type: "chat_response", id: "live2", timestamp, message: "Five metres." } },
];

beforeEach(async () => {
  ({ workspace, branch } = await createImportedWorkspace(smallSession({ turns: 2 })));
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const writer = { ...(await markThisProcess()), started: "1" };
  head = { journal: 1, branch, turn: 2, start: "live0", parent: tree.commit, prev: tree.turnOids.at(-1)!, writer };
  said.length = 0;
});

afterEach(() => removeWorkspace(workspace));

function leave(lines: readonly JournalLine[], changed: Partial<JournalHead> = {}): string {
  const path = journalPath(workspace.store.journal(), changed.branch ?? branch);
  mkdirSync(workspace.store.journal(), { recursive: true });
  writeFileSync(path, [{ ...head, ...changed }, ...lines].map(formatJournalLine).join(""));
  return path;
}

async function lastTurn(name = branch): Promise<readonly Event[]> {
  const tree = await loadBranchTree(workspace.store, name, await tipOf(workspace, name));
  const last = tree.turnOids.length - 1;
  return (await loadTurns(workspace.store, tree, [last])).get(last)?.events ?? [];
}

describe("a journal whose writer is gone", () => {
  it("becomes an interrupted turn, once", async () => {
    const path = leave([...REQUEST, ...HALF]);
    const bytes = readFileSync(path);
    await recoverTurns(workspace, voice);
    expect(await lastTurn()).toMatchObject([
      { id: "live0", prev: head.prev },
      { id: "live1" },
      { id: "live2", message: "Five me", metadata: { model: "m", interrupted: true } },
      { id: "live0-interrupted", type: "note", kind: "interrupted", data: { reason: "process_ended" } },
    ]);
    expect(said).toEqual([`Turn 2 of ${branch} was interrupted; it is committed now.`]);
    expect(existsSync(path)).toBe(false);
    // The process that committed it was killed before it removed the journal.
    const tip = await tipOf(workspace, branch);
    writeFileSync(path, bytes);
    await recoverTurns(workspace, voice);
    expect(await tipOf(workspace, branch)).toBe(tip);
    expect(existsSync(path)).toBe(false);
  });

  it("that was complete becomes a whole turn", async () => {
    leave([...REQUEST, ...WHOLE, { complete: true }]);
    await recoverTurns(workspace, voice);
    expect((await lastTurn()).map(({ type }) => type)).toEqual(["turn_start", "chat_request", "chat_response"]);
    expect(said).toEqual([`Turn 2 of ${branch} was complete but not committed; it is committed now.`]);
  });

  it("without an answer adds no turn, and saves the text of the request", async () => {
    const tip = await tipOf(workspace, branch);
    leave(REQUEST);
    await recoverTurns(workspace, voice);
    expect(await tipOf(workspace, branch)).toBe(tip);
    const unsent = join(workspace.store.gitDir, "jpg-unsent.txt");
    expect(readFileSync(unsent, "utf8")).toBe("How high?");
    expect(said.join()).toContain(unsent);
    expect(readdirSync(workspace.store.journal())).toEqual([]);
  });

  it("goes to a fork when the branch has another turn there, the same one each time", async () => {
    leave([...REQUEST, ...WHOLE]);
    const bytes = readFileSync(journalPath(workspace.store.journal(), branch));
    await importBytes(workspace, smallSession({ turns: 3 }));
    await recoverTurns(workspace, voice);
    const fork = /new fork (\S+)\.$/.exec(said[0] ?? "")?.[1] ?? "";
    expect((await lastTurn(fork))[2]).toMatchObject({ message: "Five metres." });
    expect((await lastTurn())[0]?.id).not.toBe("live0");
    const branches = (await workspace.store.listBranches()).length;
    writeFileSync(journalPath(workspace.store.journal(), branch), bytes);
    await recoverTurns(workspace, voice);
    expect((await workspace.store.listBranches()).length).toBe(branches);
  });

  it("creates the conversation that it was to begin", async () => {
    const root = { format: 1, id: "new-k3f9", title: "New", created_at: timestamp, source: null };
    leave([...REQUEST, ...WHOLE], { branch: "new-k3f9/main", turn: 0, parent: null, prev: null, root });
    await recoverTurns(workspace, voice);
    expect((await lastTurn("new-k3f9/main"))[0]).not.toHaveProperty("prev");
    expect(await workspace.store.readActiveBranch()).toBe(branch);
  });

  it("without a whole head is nothing, once its writer had time to begin", async () => {
    const path = leave([]);
    writeFileSync(path, '{"journal":1,"bra');
    const now = workspace.runtime.now().getTime() / 1000;
    utimesSync(path, now, now);
    await recoverTurns(workspace, voice);
    expect(existsSync(path)).toBe(true);
    utimesSync(path, now - 60, now - 60);
    await recoverTurns(workspace, voice);
    expect(existsSync(path)).toBe(false);
    expect(said).toEqual([]);
  });

  it("that cannot be committed stays, with a warning", async () => {
    const path = leave([...REQUEST, ...WHOLE], { parent: "1".repeat(40), branch: "gone-k3f9/main" });
    await recoverTurns(workspace, voice);
    expect(said.join()).toMatch(/^warning: a turn that was interrupted cannot be committed and stays in /);
    expect(existsSync(path)).toBe(true);
  });
});

describe("a journal whose writer runs", () => {
  it("is left alone", async () => {
    const path = leave([...REQUEST, ...WHOLE], { writer: await markThisProcess() });
    await recoverTurns(workspace, voice);
    expect(existsSync(path)).toBe(true);
    expect(said).toEqual([]);
  });

  it("is committed once the writer has abandoned it", async () => {
    const journal = await openJournal(workspace.store.journal(), { ...head, writer: await markThisProcess() });
    for (const line of [...REQUEST, ...WHOLE]) if ("event" in line) journal.event(line.event);
    const path = await journal.abandon();
    await recoverTurns(workspace, voice);
    expect(existsSync(path)).toBe(false);
    expect((await lastTurn())[0]?.id).toBe("live0");
  });

  it("on another machine counts as abandoned when nothing was written for long", async () => {
    const path = leave([...REQUEST, ...WHOLE], { writer: { ...head.writer, place: "elsewhere boot ns" } });
    const now = workspace.runtime.now().getTime() / 1000;
    utimesSync(path, now - 60, now - 60);
    await recoverTurns(workspace, voice);
    expect(existsSync(path)).toBe(true);
    utimesSync(path, now - 3600, now - 3600);
    await recoverTurns(workspace, voice);
    expect(existsSync(path)).toBe(false);
  });

  it("keeps its journal when another turn's is removed at its place", async () => {
    const journal = await openJournal(workspace.store.journal(), { ...head, writer: await markThisProcess() });
    const { removeJournal } = await import("../../../src/app/conversation/journal.ts");
    await removeJournal(journal.path, "another");
    expect(existsSync(journal.path)).toBe(true);
    await journal.remove();
    expect(existsSync(journal.path)).toBe(false);
  });
});
