// What taking a compaction back, or a revert, changes in the tree: which files go and which come back.
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import type { LogEntry } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import type { Target } from "../names/id-candidates.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What a word on the command line was found to mean. */
export interface NamedTarget {
  readonly word: string;
  readonly target: Target;
}

export interface RevertPlan {
  /** The commit that is taken back. */
  readonly entry: LogEntry;
  /** Paths to take away and to bring back. */
  readonly remove: readonly string[];
  readonly restore: readonly string[];
  readonly ids: readonly string[];
}

/** Plans to take one of the targets back. Throws `not_a_compaction`, `already_reverted`. */
export function planRevert(tree: BranchTree, entries: readonly LogEntry[], named: NamedTarget): RevertPlan {
  const { target, word } = named;
  const live = new Set(tree.compactions.map((file) => file.path));
  const isMeant = (path: string): boolean =>
    target.kind !== "compaction" || compactionIdOfPath(path) === target.compaction;
  const entry = entries.find((candidate) =>
    target.kind === "commit" ? candidate.commit === target.commit : candidate.added.some(isMeant),
  );
  if (entry === undefined) {
    throw userError(
      "not_a_compaction",
      `${word} is not a compaction of ${tree.branch}, nor a commit that adds or reverts one.`,
      { hints: ["`jpg log` lists them."] },
    );
  }
  const remove = entry.added.filter((path) => isMeant(path) && live.has(path));
  const restore = target.kind === "compaction" ? [] : entry.removed.filter((path) => !live.has(path));
  if (remove.length + restore.length === 0) {
    const revert = entries.find(({ removed }) => entry.added.some((path) => isMeant(path) && removed.includes(path)));
    throw alreadyReverted(word, tree.branch, revert);
  }
  return { entry, remove, restore, ids: idsOf([...remove, ...restore]) };
}

/** The compactions among files. */
export function idsOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => compactionIdOfPath(path) ?? []);
}

/** What was made as one is taken back as one. */
export function withGroup(plan: RevertPlan, together: (path: string) => readonly string[]): RevertPlan {
  const remove = [...new Set(plan.remove.flatMap(together))];
  return { ...plan, remove, ids: idsOf([...remove, ...plan.restore]) };
}

/** The pins that a commit took away with compactions come back with them. */
export async function withRemovedPins({ store }: Workspace, plan: RevertPlan): Promise<RevertPlan> {
  if (plan.restore.length === 0) return plan;
  const { commit } = plan.entry;
  const [entry] = await store.readLog({ from: commit, paths: ["meta"], limit: 1 });
  return entry?.commit === commit ? { ...plan, restore: [...plan.restore, ...entry.removed] } : plan;
}

function alreadyReverted(word: string, branch: string, revert: LogEntry | undefined): Error {
  const commit = revert === undefined ? undefined : abbreviateCommit(revert.commit);
  return userError(
    "already_reverted",
    `${word} is not in force on ${branch}${commit === undefined ? "" : `: ${commit} reverted it`}.`,
    {
      hints:
        commit === undefined ? ["`jpg log` shows what is in force."] : [`\`jpg revert ${commit}\` brings it back.`],
    },
  );
}

/** Leaves out what an earlier plan does already: a compaction may be named twice, by its id and by its commit. */
export function withoutRepeats(plans: readonly RevertPlan[]): RevertPlan[] {
  const seen = new Set<string>();
  return plans.filter((plan) => {
    const isNew = plan.ids.some((id) => !seen.has(id));
    for (const id of plan.ids) seen.add(id);
    return isNew;
  });
}
