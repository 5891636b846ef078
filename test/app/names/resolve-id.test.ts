import { beforeEach, describe, expect, it } from "vitest";
import { resolveId } from "../../../src/app/names/resolve-id.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { surveyedSession } from "../../helpers/surveyed-session.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
let main: string;
let other: string;

async function addCompaction(branch: string, id: string): Promise<void> {
  const tip = await workspace.store.readBranch(branch);
  const parent = tip ?? (await tipOf(workspace, main));
  const timestamp = "2026-05-01T00:00:00.000Z";
  const compaction: Compaction = { type: "compaction", id, timestamp, from_turn: 0, to_turn: 1, reasoning: "strip" };
  const person = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
  const bytes = Buffer.from(`${formatCompactionLine(compaction, [])}\n`);
  const changes = [{ path: recordPath("compactions", timestamp, id), bytes }];
  const commits = [{ message: "compact\n", author: person, committer: person, changes }];
  await workspace.store.write([{ branch, expected: tip, parent, commits }]);
}

beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  main = (await importBytes(workspace, buildSession(plainTurns(2)).text())).branch;
  other = main.replace("/main", "/other");
});

describe("resolveId", () => {
  const find = (id: string) => resolveId(workspace, id, ["compaction"]);

  it("takes an id that another branch has exactly before one that the active branch has as a beginning", async () => {
    await addCompaction(other, "k3f9");
    await addCompaction(main, "k3f9q2");
    expect(await find("k3f9")).toEqual({ kind: "compaction", branch: other, compaction: "k3f9" });
    expect(await find("k3f9q")).toEqual({ kind: "compaction", branch: main, compaction: "k3f9q2" });
  });

  it("names all that a beginning could mean, on whatever branch", async () => {
    await addCompaction(other, "abcd1");
    await addCompaction(main, "abcd2");
    await expect(find("abcd")).rejects.toMatchObject({
      code: "ambiguous_id",
      data: { candidates: ["abcd2", "abcd1"] },
    });
  });

  it("finds a compaction that forks share on the active branch", async () => {
    await addCompaction(main, "k3f9q2");
    await workspace.store.createBranch(other, await tipOf(workspace, main));
    expect(await find("k3f9q2")).toMatchObject({ branch: main });
    await workspace.store.useBranch(other);
    expect(await find("k3f9q2")).toMatchObject({ branch: other });
  });

  it("takes a branch, then a conversation, before anything else, and says what is near a wrong word", async () => {
    const [conversation] = main.split("/");
    const tip = await tipOf(workspace, main);
    for (const word of [conversation!, "@", conversation!.slice(0, 6)])
      expect(await resolveId(workspace, word)).toEqual({ kind: "branch", branch: main, commit: tip });
    expect(await resolveId(workspace, main)).toEqual({ kind: "branch", branch: main, commit: tip, isFork: true });
    const wrong = resolveId(workspace, `${conversation}x`);
    await expect(wrong).rejects.toMatchObject({
      code: "unknown_id",
      hints: [expect.stringContaining(conversation!), expect.anything()],
    });
  });

  it("takes the own name of a fork of the active conversation, after conversations and before anything else", async () => {
    const tip = await tipOf(workspace, main);
    await workspace.store.createBranch(other, tip);
    await addCompaction(main, "other");
    expect(await resolveId(workspace, "other", ["branch", "compaction"])).toEqual({
      kind: "branch",
      branch: other,
      commit: tip,
      isFork: true,
    });
    expect(await find("other")).toMatchObject({ kind: "compaction", branch: main });
    await workspace.store.useBranch(other);
    expect(await resolveId(workspace, "main")).toMatchObject({ branch: main });
    const session = "5e551073-0000-4000-8000-0000000000bb";
    const second = (await importBytes(workspace, surveyedSession({ turns: 2, session }))).branch;
    const [conversation = ""] = second.split("/");
    await workspace.store.createBranch(main.replace("/main", `/${conversation}`), tip);
    expect(await resolveId(workspace, conversation)).toMatchObject({ branch: second });
    await workspace.store.useBranch(second);
    await expect(resolveId(workspace, "other")).rejects.toMatchObject({
      code: "unknown_id",
      hints: [`Did you mean ${other}?`, expect.anything()],
    });
  });

  it("finds an event on the active branch, and only where that has none, on others", async () => {
    const session = "5e551073-0000-4000-8000-0000000000bb";
    const second = (await importBytes(workspace, surveyedSession({ turns: 2, session }))).branch;
    await workspace.store.useBranch(main);
    const event = (id: string) => resolveId(workspace, id, ["event"]);
    const own = await event("00000000-0000-4000-8000-000000000003");
    expect(own).toMatchObject({ kind: "event", branch: main });
    const there = await event("000000bb-0000-4000-8000-000000000003");
    expect(there).toMatchObject({ kind: "event", branch: second, turn: 0 });
    await workspace.store.createBranch(second.replace("/main", "/fork"), await tipOf(workspace, second));
    expect(await event("000000bb-0000-4000-8000-000000000003")).toMatchObject({
      event: "event" in there ? there.event : "",
    });
    await expect(event("000000bb-0000-4000-8000-0000000000")).rejects.toMatchObject({ code: "ambiguous_id" });
    await expect(event('"id":"')).rejects.toMatchObject({ code: "unknown_id" });
    const lists = expect.stringContaining("`jpg search TEXT` finds events");
    await expect(event("1")).rejects.toMatchObject({
      code: "turn_number",
      hints: ["To see turn 1: `jpg print 1`", lists],
    });
    await expect(event("12")).rejects.toMatchObject({ hints: [`The turns of ${main} are 0..1.`, lists] });
    expect(await event("1:00000000-0000-4000-8000-000000000007")).toMatchObject({ kind: "event", turn: 1 });
  });

  it("finds an event by its abbreviated id, where others of the same line begin with it", async () => {
    const uuid = "0708a5fa-06bd-4274-b1fe-513c7202217e";
    const blocks = [
      { type: "text", text: "First." },
      { type: "text", text: "Second." },
    ];
    const lines = [
      { type: "user", uuid: "1f08a5fa-06bd-4274-b1fe-513c7202217e", message: { role: "user", content: "Begin." } },
      { type: "assistant", uuid, message: { role: "assistant", content: blocks } },
    ];
    const session = lines.map((line, at) => ({
      ...line,
      parentUuid: at === 0 ? null : lines[at - 1]?.uuid,
      sessionId: "5e551073-0000-4000-8000-0000000000cc",
      timestamp: `2026-05-01T00:00:0${at}.000Z`,
    }));
    const text = session.map((line) => JSON.stringify(line)).join("\n");
    const { branch } = await importBytes(workspace, Buffer.from(`${text}\n`));
    for (const active of [branch, main]) {
      await workspace.store.useBranch(active);
      const event = (id: string) => resolveId(workspace, id, ["event"]);
      expect(await event("0708a5fa")).toMatchObject({ branch, event: uuid });
      expect(await event("0708a5fa.1")).toMatchObject({ branch, event: `${uuid}.1` });
      await expect(event("0708a5fa.9")).rejects.toMatchObject({ code: "unknown_id" });
    }
    await workspace.store.useBranch(branch);
    expect(await resolveId(workspace, "0:0708a5fa.1", ["event"])).toMatchObject({ event: `${uuid}.1` });
  });

  it("treats the given conversation as the active one, where something changes", async () => {
    const session = "5e551073-0000-4000-8000-0000000000bb";
    const second = (await importBytes(workspace, surveyedSession({ turns: 2, session }))).branch;
    await workspace.store.useBranch(main);
    await addCompaction(main, "abcd1x");
    await addCompaction(second, "abcd2x");
    const change = (id: string, near?: string, takesIds?: boolean) =>
      resolveId(workspace, id, ["compaction"], {
        changes: true,
        ...(near === undefined ? {} : { near }),
        ...(takesIds === undefined ? {} : { takesIds }),
      });
    expect(await change("abcd")).toMatchObject({ branch: main, compaction: "abcd1x" });
    expect(await change("abcd", second)).toMatchObject({ branch: second, compaction: "abcd2x" });
    await expect(change("abcd2x")).rejects.toMatchObject({
      code: "other_conversation",
      data: { word: "abcd2x", branch: second },
    });
    await expect(change("abcd1", second)).rejects.toMatchObject({ code: "other_conversation" });
    expect(await change("abcd2x", main, true)).toMatchObject({ branch: second });
    await expect(change("abcd2", main, true)).rejects.toMatchObject({ code: "other_conversation" });
  });
});
