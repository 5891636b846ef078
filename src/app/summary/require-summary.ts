// What is said of a summary must meet rules that have one written: otherwise it would be passed over in silence.

import type { ChosenStrategies } from "../../core/compact/strategies/pipelines.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { userError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** By what a call compacts, and the options of it that only a summary reads, as they are typed; never empty. */
export interface SummaryWish {
  readonly options: readonly string[];
  readonly strategies: ChosenStrategies | null;
  /** Absent = the configured one; not looked at where strategies decide. */
  readonly profile?: string;
}

/** Refuses strategies, or a profile, that never have a summary written. Throws `no_summary`, `unknown_profile`. */
export async function requireSummary(
  workspace: Workspace,
  tree: BranchTree,
  { options, strategies, profile }: SummaryWish,
): Promise<void> {
  if (strategies !== null) {
    const { uses, names, summarizeAbove } = strategies;
    if (summarizeAbove !== undefined || uses.some(({ strategy }) => strategy.summarizes === true)) return;
    const hint = `Leave ${options.join(", ")} out, or use \`--strategy summarize\`, which writes one.`;
    throw noSummary(`The strategy ${names.join(", ")}`, options, hint);
  }
  const { default_profile, profiles } = (await loadConversationConfig(workspace, tree)).config.conversation.compaction;
  const name = profile ?? default_profile;
  if (findProfile(name, profiles).summary !== undefined) return;
  const other = Object.keys(profiles).find((other) => profiles[other]?.summary !== undefined);
  throw noSummary(
    `The profile ${name}`,
    options,
    other === undefined
      ? "`[conversation.compaction.profiles.NAME]` with a summary defines one that does."
      : `\`--profile ${other}\` writes one.`,
  );
}

function noSummary(rules: string, options: readonly string[], hint: string): Error {
  const [last = "", ...others] = options.toReversed();
  const named = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
  return userError("no_summary", `${rules} writes no summary, so ${named} would have no effect.`, {
    data: { options },
    hints: [hint],
  });
}
