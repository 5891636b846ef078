import { afterEach, beforeEach, expect, it } from "vitest";
import type { Progress } from "../../../src/app/conversation/progress.ts";
import { removeConversation } from "../../../src/app/manage/trash.ts";
import { type RedactReport, redact } from "../../../src/app/share/redact.ts";
import { planRedact } from "../../../src/app/share/redact-plan.ts";
import { conversationOf } from "../../../src/core/conversation/name.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { type Clone, createClones } from "../../helpers/clones.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let conversation: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  conversation = conversationOf((await importBytes(workspace, buildSession(plainTurns(2)).text())).branch);
});
afterEach(() => removeWorkspace(workspace));

const local = async (): Promise<readonly string[]> => [
  ...((await workspace.store.sharing?.localConversations()) ?? []),
];

it("an original is local before its copy has a name, and not where no copy is made", async () => {
  const seen: (readonly string[])[] = [];
  const histories: ConversationStore["histories"] = {
    ...workspace.store.histories!,
    create: async () => {
      seen.push(await local());
      throw new Error("killed");
    },
  };
  const store = Object.create(workspace.store, { histories: { value: histories } }) as ConversationStore;
  const broken = { ...workspace, store };
  const plan = await planRedact(broken, conversation, { rules: [], texts: ["turn"] });
  await expect(redact(broken, plan)).rejects.toThrow("killed");
  expect([seen, await local()]).toEqual([[[conversation]], []]);
  const whole = await redact(workspace, await planRedact(workspace, conversation, { rules: [], texts: ["turn"] }));
  expect(whole.redacted).not.toBeNull();
  expect(await local()).toEqual([conversation]);
});

it("says how far it is: what it looks through, and the commits that it masks", async () => {
  const said: (Progress | null)[] = [];
  const watched = { ...workspace, progress: (progress: Progress | null) => void said.push(progress) };
  await redact(watched, await planRedact(watched, conversation, { rules: [], texts: ["turn"] }));
  const masked = said.flatMap((one) => (one?.doing === "masking commits" ? [one.done] : []));
  expect(masked).toEqual(Array.from({ length: masked.length }, (_, at) => at));
  expect(masked.length).toBeGreaterThan(1);
  expect(said).toContainEqual(expect.objectContaining({ doing: "looking for secrets in objects", done: 1 }));
  expect(said.at(-1)).toBeNull();
});

it("what somebody said and did in a copy stays when the original grew", { tags: ["slow"] }, async () => {
  const { all, remove } = await createClones(1);
  const [clone] = all as [Clone];
  try {
    await importBytes(clone.workspace, buildSession(plainTurns(2)).text());
    const [branch = ""] = Object.keys(await clone.branches());
    const again = async (): Promise<RedactReport> => {
      const plan = await planRedact(clone.workspace, conversationOf(branch), { rules: [], texts: ["request"] });
      return redact(clone.workspace, plan);
    };
    const { redacted, branches } = await again();
    const [copy = ""] = branches;
    const compaction = await clone.compact(copy, 0);
    await clone.turn(branch, "theirs");
    expect(await again()).toMatchObject({ status: "updated", redacted, changes: [{ status: "merged", turns: 1 }] });
    expect((await clone.tree(copy)).compactions.map(({ path }) => path).join()).toContain(compaction);
    await clone.turn(copy, "mine");
    await clone.turn(branch, "theirs too");
    const { changes } = await again();
    expect(changes).toMatchObject([{ status: "forked", fork: `${redacted}/main-ada-1` }]);
    expect((await clone.tree(copy)).turnOids).toHaveLength(4);
    expect(clone.git("show", `${redacted}/main-ada-1:turns/0000/000003.jsonl`)).toContain("answer mine");
    expect(clone.git("show", `${copy}:turns/0000/000003.jsonl`)).toContain("answer theirs too");
    expect((await again()).status).toBe("unchanged");
    // A branch that was removed from the copy stays away.
    await removeConversation(clone.workspace, copy);
    await clone.turn(branch, "theirs again");
    expect((await again()).changes).toEqual([]);
    expect(await clone.workspace.store.readBranch(copy)).toBeNull();
  } finally {
    await remove();
  }
});
