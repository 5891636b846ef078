import { afterEach, beforeEach, expect, it } from "vitest";
import { planRedact, redact } from "../../../src/app/redact/redact.ts";
import { conversationOf } from "../../../src/core/conversation-name.ts";
import type { ConversationStore } from "../../../src/store/conversation-store.ts";
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
