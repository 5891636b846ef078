// What a person types next, about the conversation that was just worked on.
import type { Workspace } from "../../app/conversation/workspace.ts";
import { wordFor } from "../../app/names/short-names.ts";
import { forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";

/** Returns the branch's short name with a blank before it; nothing for the active one, which commands without an ID are about. */
export async function idToType(workspace: Workspace, branch: string): Promise<SafeText> {
  const word = await wordFor(workspace, branch);
  return word === "" ? safe`` : safe` ${forTerminalLine(word)}`;
}
