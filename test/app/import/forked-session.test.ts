// Sessions that an agent made as copies of another one's beginning become forks of that one's conversation.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions } from "../../../src/app/conversation/view.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import { show } from "../../../src/app/look/show.ts";
import { readSource } from "../../../src/app/sessions/open-session.ts";
import { conversationOf } from "../../../src/core/conversation/name.ts";
import {
  answer,
  CODEX_SESSION,
  type CodexLine,
  compacted,
  meta,
  prompt,
  rolloutBytes,
  said,
  timeOf,
  wentBack,
} from "../../helpers/codex-session.ts";
import { createPiWriter, PI_SESSION, type PiWriter } from "../../helpers/pi-session.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});

const FORK = "019b3333-2222-7333-8444-555555555555";
const GRANDCHILD = "019b4444-2222-7333-8444-555555555555";
const copied: CodexLine[] = [
  prompt("Which kelp grows here?"),
  answer("Bull kelp."),
  prompt("And there?"),
  answer("None."),
];
const parent: CodexLine[] = [meta(), ...copied];
const own: CodexLine[] = [prompt("What else?"), answer("Sea grass.")];
/** A copy comes after its own description and the other's, with new times. */
const fork = (lines: readonly CodexLine[]): CodexLine[] => [
  meta({ id: FORK, forked_from_id: CODEX_SESSION }),
  ...lines.map((line) => ({ ...line, timestamp: timeOf(500) })),
];

const load = (lines: readonly CodexLine[]) => importBytes(workspace, rolloutBytes(lines));
const treeOf = async (branch: string) => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

async function originalOf(branch: string, session: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readSource(workspace.store, { commit: await tipOf(workspace, branch) }, session))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("a fork that Codex made", () => {
  it("shares the turns that it copied, and continues on a fork", async () => {
    const before = await load([...parent, prompt("Later?"), answer("Yes.")]);
    const lines = [...fork(parent), ...own];
    const report = await load(lines);
    expect(report).toMatchObject({ status: "forked", id: before.id, turns: 3, turns_added: 1 });
    const [main, branch] = [await treeOf(before.branch), await treeOf(report.branch)];
    expect(main.turnOids).toHaveLength(3);
    expect(branch.turnOids.slice(0, 2)).toEqual(main.turnOids.slice(0, 2));
    expect(branch.turnOids[2]).not.toBe(main.turnOids[2]);
    expect(await originalOf(report.branch, FORK)).toBe(rolloutBytes(lines).toString());
    expect(await workspace.store.readActiveBranch()).toBe(report.branch);
  });

  it("comes in with the other one in one import", async () => {
    const folder = createTempFolder();
    writeFileSync(join(folder.path, "a.jsonl"), rolloutBytes(parent));
    writeFileSync(join(folder.path, "b.jsonl"), rolloutBytes([...fork(parent), ...own]));
    const { sessions } = await importSessions(workspace, { paths: [folder.path], allBranches: false });
    folder.remove();
    expect(sessions.map(({ status }) => status)).toEqual(["created", "forked"]);
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(1);
  });

  it("grows on its own branch, and is unchanged when nothing was added", async () => {
    await load(parent);
    const first = await load([...fork(parent), ...own]);
    expect(await load([...fork(parent), ...own])).toMatchObject({ status: "unchanged", branch: first.branch });
    const more = [prompt("Sure?"), answer("Quite.")];
    const lines = [...fork(parent), ...own, ...more];
    expect(await load(lines)).toMatchObject({ status: "updated", branch: first.branch, turns: 4, turns_added: 1 });
    expect(await originalOf(first.branch, FORK)).toBe(rolloutBytes(lines).toString());
    const main = await load([...parent, ...more]);
    expect(main).toMatchObject({ status: "updated", turns: 3 });
    expect(main.branch).not.toBe(first.branch);
    expect(await workspace.store.listBranches()).toHaveLength(2);
  });

  it("continues on a fork of a conversation of which it copied all", async () => {
    const before = await load(parent);
    const report = await load([...fork(parent), ...own]);
    expect(report).toMatchObject({ status: "forked", id: before.id });
    expect((await treeOf(before.branch)).turnOids).toHaveLength(2);
  });

  it("adds nothing as long as it is a copy", async () => {
    const before = await load(parent);
    expect(await load(fork(parent))).toMatchObject({ status: "unchanged", branch: before.branch });
    expect(await workspace.store.listBranches()).toHaveLength(1);
  });

  it("is a fork of where the user went back to in it", async () => {
    const before = await load(parent);
    const first = await load([...fork(parent), ...own]);
    const back = await load([...fork(parent), ...own, wentBack(2), prompt("Or elsewhere?"), answer("There.")]);
    expect(back).toMatchObject({ status: "forked", id: before.id, turns: 2 });
    expect(back.branch).not.toBe(first.branch);
    expect((await treeOf(back.branch)).turnOids[0]).toBe((await treeOf(before.branch)).turnOids[0]);
  });

  it("of a fork is one of the same conversation", async () => {
    const before = await load(parent);
    await load([...fork(parent), ...own]);
    const lines = [
      meta({ id: GRANDCHILD, forked_from_id: FORK }),
      ...fork(parent),
      ...own,
      prompt("Deep?"),
      answer("Deep."),
    ];
    expect(await load(lines)).toMatchObject({ status: "forked", id: before.id, turns: 4, turns_added: 1 });
  });

  it("keeps the compactions that it copied as they are there, and adds its own", async () => {
    const summary = compacted([said("Kelp was looked at.")]);
    const before = await load([...parent, summary, prompt("Later?"), answer("Yes.")]);
    const mine = compacted([said("All was looked at.")]);
    const report = await load([...fork([...parent, summary]), ...own, mine, prompt("Enough?"), answer("Enough.")]);
    expect(report).toMatchObject({ status: "forked", id: before.id, compactions: 2 });
    const records = async (branch: string) => (await loadCompactions(workspace.store, await treeOf(branch))).all;
    const [theirs] = await records(before.branch);
    const ours = await records(report.branch);
    expect(ours.map(({ id }) => id)).toContain(theirs!.id);
    expect(ours.map(({ to_turn }) => to_turn).sort()).toEqual([1, 2]);
    const { unapplied } = await loadCompactions(workspace.store, await treeOf(report.branch));
    expect(unapplied).toEqual([]);
  });

  it("does not take over a compaction that was made after it", async () => {
    await load([...parent, compacted([said("Kelp was looked at.")]), prompt("Later?"), answer("Yes.")]);
    expect(await load([...fork(parent), ...own])).toMatchObject({ status: "forked", compactions: 0 });
  });

  it("that was imported first stays a conversation of its own, and names the other", async () => {
    const first = await load([...fork(parent), ...own]);
    const second = await load(parent);
    expect(second.id).not.toBe(first.id);
    expect(await show(workspace, first.id)).toMatchObject({
      parent: { kind: "fork", session: CODEX_SESSION, id: second.id },
    });
    expect(await load([...fork(parent), ...own, prompt("Sure?")])).toMatchObject({
      status: "updated",
      branch: first.branch,
    });
  });

  it("that copied something else is a conversation of its own", async () => {
    const before = await load(parent);
    const report = await load([...fork([meta(), prompt("Another question?"), answer("No.")]), ...own]);
    expect(report).toMatchObject({ status: "created", turns: 2 });
    expect(report.id).not.toBe(before.id);
  });
});

describe("a fork that pi made", () => {
  const write = (session: string, more?: string): PiWriter => {
    const parentSession = `/home/me/.pi/sessions/2026-01-02T10-00-00-000Z_${PI_SESSION}.jsonl`;
    const pi = createPiWriter({ header: { id: session, ...(session !== PI_SESSION && { parentSession }) } });
    pi.user("map the beds");
    pi.say("mapped");
    if (more !== undefined) {
      pi.user(more);
      pi.say(`${more}, too`);
    }
    return pi;
  };

  it("shares the turns that it copied", async () => {
    const before = await importBytes(workspace, write(PI_SESSION, "the reef").bytes());
    const report = await importBytes(workspace, write("019b1c5e-0000-7000-8000-0000000f0f0f", "the sand").bytes());
    expect(report).toMatchObject({ status: "forked", turns: 2, turns_added: 1 });
    expect(conversationOf(report.branch)).toBe(before.id);
    expect((await treeOf(report.branch)).turnOids[0]).toBe((await treeOf(before.branch)).turnOids[0]);
  });
});
