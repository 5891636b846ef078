// What a person types next, about the conversation that was just worked on.
import type { Workspace } from "../../app/conversation/workspace.ts";
import { preferredBranch } from "../../app/names/conversations.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { shortNames } from "../render/conversations.ts";

/** Returns the branch's short name with a blank before it; nothing for the active one, which commands without an ID are about. */
export async function idToType(workspace: Workspace, branch: string): Promise<SafeText> {
  if ((await preferredBranch(workspace)) === branch) return safe``;
  const tips = await workspace.store.listBranches();
  const nameOf = shortNames(tips.map(({ name }) => ({ id: conversationOf(name), branch: name })));
  return safe` ${forTerminalLine(nameOf({ id: conversationOf(branch), branch }))}`;
}
