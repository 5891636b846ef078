// What pi does in a session that jpg exported: its entries hold whole answers, several events each.
import { beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { createPiWriter, type PiWriter, piCall, readPi, sentOf, wordsOfBlock } from "../../helpers/pi-session.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

type Json = Record<string, unknown>;

let workspace: TestWorkspace;
let main: string;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  const pi = createPiWriter();
  for (const turn of [0, 1, 2]) {
    pi.user(`request ${turn}`);
    pi.say({ type: "thinking", thinking: "hm", thinkingSignature: "c2ln" }, `looking ${turn}`, piCall(`c${turn}`));
    pi.result(`c${turn}`, `seen ${turn}`);
    pi.say({ type: "thinking", thinking: "so", thinkingSignature: "c2ln" }, `answer ${turn}`, `and ${turn}`);
  }
  ({ branch: main } = await importBytes(workspace, pi.bytes()));
});

/** What the conversation's model is sent, a line each. */
async function sent(): Promise<readonly string[]> {
  const tree = await loadBranchTree(workspace.store, main, await tipOf(workspace, main));
  const { view } = await loadView(workspace.store, tree);
  return exportAnthropic(view).messages.flatMap(({ role, content }) =>
    (content as readonly Json[]).map((block) => `${role}: ${wordsOfBlock(block)}`),
  );
}

/** Continues the exported session as a writer; `at` returns the id of the entry that contains a text. */
async function exported(): Promise<PiWriter & { at(text: string): string }> {
  const tree = await loadBranchTree(workspace.store, main, await tipOf(workspace, main));
  const lines = (await exportConversation(workspace, tree, { to: "pi", fullHistory: false })).trimEnd().split("\n");
  const pi = createPiWriter();
  pi.lines.splice(0, 1, ...lines.map((line) => JSON.parse(line) as Json));
  pi.goTo(String(pi.lines.at(-1)?.["id"]));
  return { ...pi, at: (text) => String(pi.lines.find((line) => JSON.stringify(line).includes(text))?.["id"]) };
}

describe("a session that jpg exported to pi", () => {
  it.each(["looking 1", "answer 1", "request 2", "looking 2", "seen 2", "answer 2"])(
    "is compacted by pi, which keeps what begins with: %s",
    async (text) => {
      const pi = await exported();
      pi.user("one more");
      pi.say("done");
      pi.add({ type: "compaction", summary: "all that was", firstKeptEntryId: pi.at(text), tokensBefore: 1 });
      pi.user("go on");
      const { branch, status } = await importBytes(workspace, pi.bytes());
      expect([branch, status]).toEqual([main, "updated"]);
      expect(await sent()).toEqual(sentOf(readPi(pi)));
    },
  );

  it("is compacted by pi before anything is said", async () => {
    const pi = await exported();
    pi.add({ type: "compaction", summary: "all that was", firstKeptEntryId: pi.at("answer 2"), tokensBefore: 1 });
    pi.user("go on");
    await importBytes(workspace, pi.bytes());
    expect(await sent()).toEqual(sentOf(readPi(pi)));
  });

  it("is edited by pi: one answer goes, one result is replaced, the rest stays", async () => {
    const pi = await exported();
    pi.add({ type: "context_edit", targetId: pi.at("answer 1"), replacement: null });
    pi.add({ type: "context_edit", targetId: pi.at("seen 0"), replacement: { content: "[cleared]" } });
    pi.user("go on");
    await importBytes(workspace, pi.bytes());
    expect(await sent()).toEqual(sentOf(readPi(pi)));
    expect((await sent()).join("\n")).toContain("request 0");
  });

  it("keeps the result that the export made up, once pi has continued", async () => {
    const broken = createPiWriter({ header: { id: "broken" } });
    broken.user("go");
    broken.say({ type: "thinking", thinking: "hm", thinkingSignature: "c2ln" }, "looking", piCall("a"), piCall("b"));
    broken.result("a", "kelp");
    ({ branch: main } = await importBytes(workspace, broken.bytes()));
    const pi = await exported();
    const before = pi.bytes();
    expect((await importBytes(workspace, before)).status).toBe("unchanged");
    pi.user("go on");
    pi.say("gone on");
    expect(await importBytes(workspace, pi.bytes())).toMatchObject({ status: "updated", branch: main, turns: 2 });
    expect(await sent()).toEqual(sentOf(readPi(pi)));
    expect((await sent()).filter((line) => line.includes("call b") || line.includes("result b"))).toHaveLength(2);
  });

  it("is the same conversation in a copy that pi made to try something else: a fork from where it was cut", async () => {
    const pi = await exported();
    const cut = pi.lines.findIndex((line) => JSON.stringify(line).includes("request 2"));
    pi.lines.splice(cut);
    Object.assign(pi.lines[0]!, {
      id: "019b1c5e-0000-7000-8000-00000000f0f0",
      parentSession: "/home/me/exported.jsonl",
    });
    pi.goTo(String(pi.lines.at(-1)?.["id"]));
    pi.user("something else");
    pi.say("tried");
    const { branch, status, turns } = await importBytes(workspace, pi.bytes());
    expect([status, turns]).toEqual(["forked", 3]);
    expect(branch.split("/")[0]).toBe(main.split("/")[0]);
    main = branch;
    expect(await sent()).toEqual(sentOf(readPi(pi)));
    pi.user("and more");
    expect(await importBytes(workspace, pi.bytes())).toMatchObject({ branch, status: "updated", turns: 4 });
    expect((await importBytes(workspace, pi.bytes())).status).toBe("unchanged");
  });
});
