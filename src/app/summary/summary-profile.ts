// What is said of a summary must meet a profile that has one written: otherwise it would be passed over in silence.
import { findProfile } from "../../core/compaction/profile.ts";
import { userError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Refuses a profile (default: the configured one) that writes no summary. Throws `no_summary_in_profile`, `unknown_profile`. */
export async function requireSummaryProfile(workspace: Workspace, tree: BranchTree, profile?: string): Promise<void> {
  const { default_profile, profiles } = (await loadConversationConfig(workspace, tree)).config.conversation.compaction;
  const name = profile ?? default_profile;
  if (findProfile(name, profiles).summary !== undefined) return;
  const others = Object.keys(profiles).filter((other) => profiles[other]?.summary !== undefined);
  throw userError(
    "no_summary_in_profile",
    `The profile ${name} writes no summary, so --model, --focus and --concise would say nothing.`,
    {
      data: { profile: name },
      hints:
        others.length === 0
          ? ["`[conversation.compaction.profiles.NAME]` with a summary makes one that does."]
          : others.slice(0, 1).map((other) => `\`--profile ${other}\` has a summary written.`),
    },
  );
}
