import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { useConversation } from "../../app/manage/checkout.ts";
import { trackRemoteBranch } from "../../app/names/conversations.ts";
import { resolveBranch } from "../../app/names/resolve-id.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "use",
  summary: "make a conversation the active one (@)",
  description:
    'Switches the store\'s HEAD, so that `jpg git log`, `git -C "$(jpg path)" revert` and VIEW.md refer to that conversation. JPG_CONVERSATION overrides @ in one terminal.',
  arguments: [{ name: "<id>", description: "conversation or branch; - is the previous one" }],
  withoutGit: true,
  run: async ({ args, output, json, open }) => {
    const id = args[0];
    if (id === undefined) throw userError("usage", "jpg use needs an ID.");
    const workspace = await open();
    const report = await useConversation(workspace, await resolveOrAdopt(workspace, id));
    if (json) output.json(report);
    else output.data(safe`Now on ${forTerminalLine(report.branch)}`);
    return 0;
  },
};

/** Like `git switch`, creates a branch that only a remote has. */
async function resolveOrAdopt(workspace: Workspace, id: string): Promise<BranchTree> {
  try {
    // Activating changes no conversation, so the beginning of a name is enough.
    return await resolveBranch(workspace, id, {});
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "unknown_id") throw error;
    const adopted = await trackRemoteBranch(workspace, id);
    if (adopted === null) throw error;
    return resolveBranch(workspace, adopted);
  }
}
