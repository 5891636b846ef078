// Names for new branches of a conversation.
import { branchName } from "../../core/conversation/name.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A branch name that is free: `<conversation>/<stem>-<4 characters>`. */
export async function newForkName(workspace: Workspace, conversation: string, stem: string): Promise<string> {
  for (;;) {
    const name = branchName(conversation, `${stem}-${randomId(workspace.runtime, 4)}`);
    if ((await workspace.store.readBranch(name)) === null) return name;
  }
}
