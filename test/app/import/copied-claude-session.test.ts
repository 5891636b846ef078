// Sessions that Claude Code continues under a new id (`--fork-session`, background, `/branch`) are forks of one conversation.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import { searchConversations } from "../../../src/app/look/search.ts";
import { readSource } from "../../../src/app/sessions/open-session.ts";
import { conversationOf } from "../../../src/core/conversation/name.ts";
import { type ClaudeWriter, createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});

const FORK = "5e551073-0000-4000-8000-00000000000f";
const SECOND = "5e551073-0000-4000-8000-0000000000f2";

/** A session of so many turns about birds. */
function birds(turns: number): ClaudeWriter {
  const writer = createClaudeWriter();
  for (let turn = 0; turn < turns; turn++) {
    writer.prompt(`Which bird is number ${turn}?`);
    writer.say(`Bird ${turn} is a plover.`);
  }
  return writer;
}

/** The lines under another session id, as `--fork-session` writes them. */
const copy = (lines: readonly Json[], session = FORK): Json[] => lines.map((line) => ({ ...line, sessionId: session }));

/** As `/branch` writes them; `renames` = with new ids, as some versions did. */
function branch(lines: readonly Json[], { renames = false, session = FORK } = {}): Json[] {
  const name = (id: unknown) => (renames && typeof id === "string" ? id.replace(/^0/, "b") : id);
  return lines.map((line) => ({
    ...line,
    uuid: name(line["uuid"]),
    parentUuid: name(line["parentUuid"]),
    sessionId: session,
    forkedFrom: { sessionId: line["sessionId"], messageUuid: line["uuid"] },
  }));
}

/** Adds turns to copied lines. */
function goOn(lines: readonly Json[], words: readonly string[]): Json[] {
  const all = [...lines];
  for (const [at, text] of words.entries()) {
    const last = all.at(-1)!;
    const mark = `${String(last["sessionId"]).slice(-2)}${String(all.length).padStart(6, "0")}`;
    const common = { isSidechain: false, sessionId: last["sessionId"], version: "2.1.332" };
    const timestamp = `2026-04-0${(at % 8) + 1}T10:00:00.000Z`;
    const [asked, said] = [`a${mark}-0000-4000-8000-000000000001`, `a${mark}-0000-4000-8000-000000000002`];
    all.push(
      {
        ...common,
        type: "user",
        uuid: asked,
        parentUuid: last["uuid"],
        timestamp,
        message: { role: "user", content: text },
      },
      {
        ...common,
        type: "assistant",
        uuid: said,
        parentUuid: asked,
        timestamp,
        message: {
          id: `msg_${said}`,
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [{ type: "text", text: `${text}: yes.` }],
        },
      },
    );
  }
  return all;
}

const load = (lines: readonly Json[]) => importBytes(workspace, sessionBytes(lines));
const treeOf = async (name: string) => loadBranchTree(workspace.store, name, await tipOf(workspace, name));
const conversations = async () =>
  new Set((await workspace.store.listBranches()).map(({ name }) => conversationOf(name)));
const hits = async (pattern: string) => (await searchConversations(workspace, { pattern })).hits.length;

async function viewOf(name: string): Promise<string[]> {
  const { view } = await loadView(workspace.store, await treeOf(name));
  return view.turns.flatMap(({ events }) =>
    events.flatMap((event) =>
      event.type === "turn_start" || event.type === "note"
        ? []
        : String((event as { content?: unknown }).content ?? (event as { message?: unknown }).message),
    ),
  );
}

async function originalOf(name: string, session: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readSource(workspace.store, { commit: await tipOf(workspace, name) }, session))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const COPIES = {
  "--fork-session": (lines: readonly Json[]) => copy(lines),
  "/branch": (lines: readonly Json[]) => branch(lines),
  "/branch with new ids": (lines: readonly Json[]) => branch(lines, { renames: true }),
};

describe.each(Object.entries(COPIES))("a session copied by %s", (_, copied) => {
  it("is a fork that shares the copied turns", async () => {
    const parent = birds(3);
    const before = await load(parent.lines);
    const lines = goOn(copied(parent.lines), ["On the fork"]);
    const report = await load(lines);
    expect(report).toMatchObject({ status: "forked", id: before.id, turns: 4, turns_added: 1 });
    expect((await treeOf(report.branch)).turnOids.slice(0, 3)).toEqual((await treeOf(before.branch)).turnOids);
    expect(await hits("Bird 1 is")).toBe(1);
    expect(await originalOf(report.branch, FORK)).toBe(sessionBytes(lines).toString());
  });

  it("is one conversation with its original, whichever is imported first", async () => {
    const parent = birds(2);
    const first = await load(goOn(copied(parent.lines), ["On the fork"]));
    parent.prompt("And on the main road?");
    const second = await load(parent.lines);
    expect(second).toMatchObject({ status: "forked", id: first.id, turns: 3, turns_added: 1 });
    expect(await hits("Bird 1 is")).toBe(1);
  });

  it.each([
    ["a.jsonl", "b.jsonl"],
    ["b.jsonl", "a.jsonl"],
  ])("comes in with its original in one import: %s, %s", async (one, other) => {
    const folder = createTempFolder();
    const parent = birds(2);
    writeFileSync(join(folder.path, one), sessionBytes(parent.lines));
    writeFileSync(join(folder.path, other), sessionBytes(goOn(copied(parent.lines), ["On the fork"])));
    const { sessions } = await importSessions(workspace, { paths: [folder.path], allBranches: false });
    folder.remove();
    expect(sessions.map(({ status }) => status).toSorted()).toEqual(expect.arrayContaining(["created"]));
    expect(await conversations()).toHaveProperty("size", 1);
    expect(await hits("Bird 1 is")).toBe(1);
  });

  it("grows on its own branch, as does its original", async () => {
    const parent = birds(2);
    const before = await load(parent.lines);
    const lines = goOn(copied(parent.lines), ["On the fork"]);
    const first = await load(lines);
    expect(await load(lines)).toMatchObject({ status: "unchanged", branch: first.branch });
    const grown = goOn(lines, ["More of it", "And more"]);
    expect(await load(grown)).toMatchObject({ status: "updated", branch: first.branch, turns: 5, turns_added: 2 });
    expect(await originalOf(first.branch, FORK)).toBe(sessionBytes(grown).toString());
    parent.prompt("And on the main road?");
    parent.say("Nothing.");
    expect(await load(parent.lines)).toMatchObject({ status: "updated", branch: before.branch, turns: 3 });
    expect(await workspace.store.listBranches()).toHaveLength(2);
  });

  it("adds nothing as long as it is only a copy", async () => {
    const parent = birds(2);
    const before = await load(parent.lines);
    expect(await load(copied(parent.lines))).toMatchObject({ status: "unchanged", branch: before.branch });
  });

  it("is a conversation of its own when its original was never imported, or deleted", async () => {
    const parent = birds(2);
    const lines = goOn(copied(parent.lines), ["On the fork"]);
    const first = await load(lines);
    expect(first).toMatchObject({ status: "created", turns: 3 });
    expect(await load(goOn(lines, ["More"]))).toMatchObject({ status: "updated", branch: first.branch, turns: 4 });
  });

  it("keeps its branch when its original is deleted", async () => {
    const parent = birds(2);
    const before = await load(parent.lines);
    const lines = goOn(copied(parent.lines), ["On the fork"]);
    const first = await load(lines);
    const { store } = workspace;
    const listBranches = async () => (await store.listBranches()).filter(({ name }) => name !== before.branch);
    workspace = { ...workspace, store: { ...store, listBranches } };
    expect(await load(lines)).toMatchObject({ status: "unchanged", branch: first.branch });
    expect(await load(goOn(lines, ["More"]))).toMatchObject({ status: "updated", branch: first.branch, turns: 4 });
  });

  it("of a copy belongs to the same conversation", async () => {
    const parent = birds(2);
    const before = await load(parent.lines);
    const lines = goOn(copied(parent.lines), ["On the fork"]);
    await load(lines);
    const again = goOn(copy(lines, SECOND), ["On the fork of the fork"]);
    const report = await load(again);
    expect(report).toMatchObject({ status: "forked", id: before.id, turns: 4, turns_added: 1 });
    expect(await originalOf(report.branch, SECOND)).toBe(sessionBytes(again).toString());
  });
});

describe("a session copied after a compaction", () => {
  /** As the agent writes it: the boundary, its summary, the kept messages below it, what came after. */
  function compacted(keepLast: number) {
    const parent = birds(3);
    const before = parent.lines.length;
    parent.compact("Three plovers were named.", { keepLast, followTail: false });
    const [boundary, summary] = parent.lines.slice(before);
    parent.prompt("Which one sings?");
    parent.say("The second.");
    const after = parent.lines.slice(before + 2);
    const kept = keepLast === 0 ? [] : parent.lines.slice(before - keepLast, before);
    const chain = [boundary!, summary!, ...kept, ...after];
    const linked = chain.map((line, at) => ({ ...line, parentUuid: at === 0 ? null : chain[at - 1]!["uuid"] }));
    return { parent, linked };
  }

  describe.each([0, 1, 2])("with %i messages kept", (keepLast) => {
    it.each(Object.entries(COPIES))("by %s is a fork that begins with all of its original", async (_, copied) => {
      const { parent, linked } = compacted(keepLast);
      const before = await load(parent.lines);
      const shown = await viewOf(before.branch);
      const lines = goOn(copied(linked), ["On the fork"]);
      const report = await load(lines);
      expect(report).toMatchObject({ status: "forked", id: before.id, turns: 5, turns_added: 1, compactions: 1 });
      expect(await viewOf(report.branch)).toEqual([...shown, "On the fork", "On the fork: yes."]);
      expect(await load(goOn(lines, ["More"]))).toMatchObject({ status: "updated", branch: report.branch, turns: 6 });
      expect(await hits("Bird 1 is")).toBe(1);
    });

    it("shows what the agent sends when the original is not there", async () => {
      const { parent, linked } = compacted(keepLast);
      const before = await load(parent.lines);
      const shown = await viewOf(before.branch);
      workspace = await createMemoryWorkspace();
      const report = await load(goOn(copy(linked), ["On the fork"]));
      expect(await viewOf(report.branch)).toEqual([...shown, "On the fork", "On the fork: yes."]);
    });
  });

  it("is imported after its original in one import", async () => {
    const { parent, linked } = compacted(1);
    const folder = createTempFolder();
    writeFileSync(join(folder.path, "a.jsonl"), sessionBytes(goOn(copy(linked), ["On the fork"])));
    writeFileSync(join(folder.path, "b.jsonl"), sessionBytes(parent.lines));
    const { sessions } = await importSessions(workspace, { paths: [folder.path], allBranches: false });
    folder.remove();
    expect(sessions.map(({ status }) => status)).toEqual(["created", "forked"]);
    expect(await conversations()).toHaveProperty("size", 1);
  });
});

describe("a copy of a session that jpg exported", () => {
  /** The copy lacks jpg's side line. */
  async function exported(name: string): Promise<Json[]> {
    const text = await exportConversation(workspace, await treeOf(name), { to: "claude-code", fullHistory: false });
    const lines = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Json);
    return lines.filter(({ uuid }) => typeof uuid === "string");
  }

  it.each(["--fork-session", "/branch"] as const)("by %s continues its conversation", async (how) => {
    const { branch: main } = await load(birds(3).lines);
    const lines = goOn(COPIES[how](await exported(main)), ["On the copy"]);
    expect(await load(lines)).toMatchObject({ status: "updated", branch: main, turns: 4, turns_added: 1 });
    expect(await load(lines)).toMatchObject({ status: "unchanged", branch: main });
    expect(await load(goOn(lines, ["More"]))).toMatchObject({ status: "updated", branch: main, turns: 5 });
    expect(await hits("Bird 1 is")).toBe(1);
  });

  it("is a fork where the conversation went on otherwise", async () => {
    const parent = birds(3);
    const { branch: main, id } = await load(parent.lines);
    const lines = goOn(copy(await exported(main)), ["On the copy"]);
    parent.prompt("And on the main road?");
    await load(parent.lines);
    expect(await load(lines)).toMatchObject({ status: "forked", id, turns: 4, turns_added: 1 });
  });

  it("adds nothing before somebody continues it", async () => {
    const { branch: main } = await load(birds(3).lines);
    expect(await load(copy(await exported(main)))).toMatchObject({ status: "unchanged", branch: main });
  });
});

describe("sessions that are no copies", () => {
  it("stay apart although they begin with the same words", async () => {
    await load(birds(2).lines);
    const other = birds(2).lines.map((line) => ({
      ...line,
      sessionId: FORK,
      uuid: String(line["uuid"]).replace(/^0/, "c"),
      parentUuid: line["parentUuid"] === null ? null : String(line["parentUuid"]).replace(/^0/, "c"),
    }));
    expect(await load(other)).toMatchObject({ status: "created" });
  });

  it("are one session if the file was copied with its session id", async () => {
    const parent = birds(2);
    const before = await load(parent.lines);
    expect(await load(parent.lines)).toMatchObject({ status: "unchanged", branch: before.branch });
    expect(await load(goOn(parent.lines, ["More"]))).toMatchObject({ status: "updated", branch: before.branch });
  });
});
