// A session of OpenCode while it grows, and one that jpg exported: what OpenCode adds is imported once, whatever else it changes.
import { beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { checkStore } from "../../../src/app/integrity/fsck.ts";
import {
  createOpenCodeWriter,
  linesOfEvents,
  type OpenCodeWriter,
  openCodeCall,
  readOpenCode,
  sentLines,
} from "../../helpers/opencode-session.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

type Json = Record<string, unknown>;

let workspace: TestWorkspace;
let session: OpenCodeWriter;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  session = createOpenCodeWriter();
  for (const turn of [0, 1]) {
    session.user(`request ${turn}`);
    session.say(`looking ${turn}`, openCodeCall(`c${turn}`, `seen ${turn}`));
    session.say(`answer ${turn}`);
  }
});

const load = (written: Pick<OpenCodeWriter, "bytes"> = session): Promise<ImportReport> =>
  importBytes(workspace, written.bytes());

async function treeOf(branch: string) {
  return loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
}

/** What the conversation's model is sent, a line each. */
async function sent(branch: string): Promise<readonly string[]> {
  const { view } = await loadView(workspace.store, await treeOf(branch));
  return view.turns.flatMap(({ events }) => linesOfEvents(events));
}

async function original(branch: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await exportOriginal(workspace, await treeOf(branch))) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe("a session of OpenCode that grows", () => {
  it("is stored whole, continues its conversation, and is unchanged the second time", async () => {
    const { branch } = await load();
    session.user("request 2");
    session.say("answer 2");
    expect(await load()).toMatchObject({ status: "updated", branch, turns: 3, turns_added: 1 });
    expect(await original(branch)).toBe(session.bytes().toString());
    expect(await load()).toMatchObject({ status: "unchanged", branch });
  });

  it("has its newest turn continued once an answer in it is finished", async () => {
    session.user("request 2");
    session.answer(
      { time: { created: Number((session.messages.at(-1)!.info["time"] as Json)["created"]) + 1 } },
      "ans",
    );
    const first = await load();
    expect(first).toMatchObject({ turns: 3, skipped: [{ reason: "an answer that is still being written" }] });
    session.messages.pop();
    session.say("answer 2");
    expect(await load()).toMatchObject({ status: "updated", branch: first.branch, turns: 3 });
    expect((await sent(first.branch)).at(-1)).toBe("assistant: answer 2");
  });

  it("takes over that results were cleared, and a summary, when nothing was said since", async () => {
    const { branch } = await load();
    const state = session.messages[1]!.parts[1]!["state"] as Json;
    state["time"] = { ...(state["time"] as Json), compacted: Date.parse("2026-01-02T12:00:00Z") };
    expect(await load()).toMatchObject({ status: "updated", branch, turns: 2, turns_added: 0, compactions: 1 });
    expect(await sent(branch)).toContain("result c0: [Old tool result content cleared]");
    session.compact("All was seen.");
    expect(await load()).toMatchObject({ status: "updated", branch, turns: 2, compactions: 2 });
    expect(await sent(branch)).toEqual(["user: What did we do so far?", "assistant: All was seen."]);
    expect((await checkStore(workspace)).findings).toEqual([]);
  });

  it("has nothing new when the user took something back, and forks when another way is taken", async () => {
    const { branch } = await load();
    session.info["revert"] = { messageID: session.messages[3]!.info["id"] };
    expect(await load()).toMatchObject({ status: "unchanged", branch });
    delete session.info["revert"];
    session.messages.splice(3);
    session.user("another way");
    session.say("gone");
    const forked = await load();
    expect(forked).toMatchObject({ status: "forked", turns: 2, turns_added: 1 });
    expect((await sent(forked.branch)).slice(-2)).toEqual(["user: another way", "assistant: gone"]);
    expect(await sent(branch)).toContain("assistant: answer 1");
  });
});

/** Continues the exported session as a writer. */
async function exported(branch: string): Promise<OpenCodeWriter> {
  const text = await exportConversation(workspace, await treeOf(branch), { to: "opencode", fullHistory: false });
  const { info, messages } = JSON.parse(text) as { info: Json; messages: OpenCodeWriter["messages"] };
  return createOpenCodeWriter(info, messages);
}

describe("a session that jpg exported to OpenCode", () => {
  let main: string;
  beforeEach(async () => {
    ({ branch: main } = await load());
  });

  it("adds nothing by itself, and what OpenCode said in it to its conversation", async () => {
    const written = await exported(main);
    expect(await load(written)).toMatchObject({ status: "unchanged", branch: main });
    written.user("go on");
    written.say("gone on");
    expect(await load(written)).toMatchObject({ status: "updated", branch: main, turns: 3, turns_added: 1 });
    expect((await sent(main)).slice(-2)).toEqual(["user: go on", "assistant: gone on"]);
    expect(await load(written)).toMatchObject({ status: "unchanged", branch: main });
  });

  it.each([null, 1, 3, 4, 5])("is compacted by OpenCode, which keeps what follows message %s", async (tail) => {
    const written = await exported(main);
    written.user("one more");
    written.say("done");
    written.compact("All that was.", tail === null ? undefined : String(written.messages[tail]!.info["id"]));
    written.user("go on");
    expect(await load(written)).toMatchObject({ status: "updated", branch: main });
    expect(await sent(main)).toEqual(sentLines(readOpenCode(written)));
  });

  it("is gone back in, and becomes a fork", async () => {
    const written = await exported(main);
    written.messages.splice(3);
    written.user("another way");
    written.say("gone");
    const forked = await load(written);
    expect(forked).toMatchObject({ status: "forked", turns: 2 });
    expect((await sent(forked.branch)).slice(-2)).toEqual(["user: another way", "assistant: gone"]);
  });
});
