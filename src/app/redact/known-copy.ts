// The masked copy that was made of a conversation before: what its masks and names are, and whether what would be made now goes
// on with it. Only then is it gone on with: a copy in which something else is masked is another one.
import { conversationOf } from "../../core/conversation/name.ts";
import type { BranchTip, MaskedCopy } from "../../store/store.ts";
import { branchBases } from "../share/branch-bases.ts";
import { planMerge } from "../share/merge-sides.ts";
import { requireSharing } from "../share/remotes.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { GivenMasks, WantedSecrets } from "./mask-list.ts";

/** A digest of what is to be masked: rules and texts, in any order. */
export function requestDigest({ rules, texts }: Pick<WantedSecrets, "rules" | "texts">): string {
  return sha256(JSON.stringify([[...rules].sort(), [...texts].sort()]));
}

/** The newest copy of which a branch is still there; null when there is none. */
export async function findKnownCopy(
  { store }: Workspace,
  original: string,
  request: string,
): Promise<MaskedCopy | null> {
  const known = (await store.maskedCopies()?.list()) ?? [];
  const copies = known.filter((one) => one.original === original && one.request === request);
  if (copies.length === 0) return null;
  const there = new Set((await store.listBranches()).map(({ name }) => conversationOf(name)));
  return copies.findLast(({ copy }) => there.has(copy)) ?? null;
}

/** Whether nothing came to the original since the copy was made, and nothing else is to be masked. */
export function isUpToDate(
  { branches, masks }: MaskedCopy,
  { tips, given }: { readonly tips: readonly BranchTip[]; readonly given: GivenMasks },
): boolean {
  const fingerprints = Object.keys(given);
  return (
    tips.every(({ name, commit }) => branches[name]?.from === commit) &&
    fingerprints.length === Object.keys(masks).length &&
    fingerprints.every((fingerprint) => masks[fingerprint] === given[fingerprint])
  );
}

/** Whether what was written now has all that was made before; `fresh` = new tips by branch of the copy. */
export async function goesOn(
  workspace: Workspace,
  { branches }: MaskedCopy,
  fresh: ReadonlyMap<string, string>,
): Promise<boolean> {
  const made = Object.values(branches);
  const present = await requireSharing(workspace).present(made.map(({ to }) => to));
  const pairs = made.flatMap(({ name, to }) => {
    const other = fresh.get(name);
    return other === undefined || !present.has(to) ? [] : [{ one: to, other }];
  });
  const bases = await branchBases(workspace, pairs);
  const parted = pairs.flatMap(({ one, other }, at) =>
    bases[at]?.includes(one) === true ? [] : [{ ours: one, theirs: other, bases: bases[at] ?? [] }],
  );
  if (parted.length === 0) return true;
  // Where others have it, it stays. Where nobody has, a turn that grew may stand in the place of what it was.
  if (await workspace.store.isPublished()) return false;
  for (const tips of parted) {
    if (tips.bases.length === 0) return false;
    const merge = await planMerge(workspace.store, tips);
    if (merge.turns === "both" || merge.commits.length > 0) return false;
  }
  return true;
}
