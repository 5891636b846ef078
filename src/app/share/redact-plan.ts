// Plans a masked copy of a conversation: its history, the secrets in it with their masks, and an earlier copy.
import { conversationOf } from "../../core/conversation/name.ts";
import { sourceFileOf } from "../../core/conversation/turn-file.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { BranchTip, ConversationStore, HistoryCommit, MaskedCopy } from "../../store/store.ts";
import { sha256 } from "../conversation/runtime.ts";
import { loadTip } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveId } from "../names/resolve-id.ts";
import {
  type CopyNames,
  type FoundMasks,
  findMasks,
  type GivenMasks,
  isSourcePath,
  nameCopy,
  type WantedSecrets,
} from "./find-masks.ts";
import { planMerge } from "./pull-branch.ts";
import { branchBases, requireSharing } from "./remotes.ts";

/** What to mask; see `WantedSecrets`. */
type RedactRequest = Pick<WantedSecrets, "rules" | "texts">;

export interface RedactPlan {
  readonly conversation: string;
  readonly title: string;
  readonly tips: readonly BranchTip[];
  readonly history: readonly HistoryCommit[];
  readonly found: FoundMasks;
  readonly wanted: WantedSecrets;
  /** The copy; null when there is nothing to mask. */
  readonly redacted: CopyNames | null;
  /** The copy that was made before, if any; it is updated where possible. */
  readonly earlier: MaskedCopy | null;
  /** Whether the earlier copy has everything already. */
  readonly isUpToDate: boolean;
  readonly leftOut: LeftOutSources;
}

/** The agents' own bytes, which are not copied. */
export interface LeftOutSources {
  /** Files: a session counts once, however many pieces it is kept in. */
  readonly sources: number;
  readonly bytes: number;
}

/** Plans a masked copy. Throws `needs_git` and the errors of ids. */
export async function planRedact(workspace: Workspace, id: string, request: RedactRequest): Promise<RedactPlan> {
  const { store } = workspace;
  if (store.histories === null) throw needsGit("A masked copy of a conversation", workspace.runtime.env);
  const { branch } = await resolveId(workspace, id, ["branch"], { changes: true });
  const conversation = conversationOf(branch);
  const tips = (await store.listBranches()).filter(({ name }) => conversationOf(name) === conversation);
  const title = (await loadTip(store, branch))?.header.title ?? "";
  const [history, leftOut, earlier] = await Promise.all([
    store.histories.read(tips.map((tip) => tip.commit)),
    countSources(store, tips),
    findKnownCopy(workspace, conversation, requestDigest(request)),
  ]);
  const { config } = await workspace.config();
  const wanted = { ...request, allowed: config.secrets.allow, given: earlier?.masks ?? {} };
  const found = await findMasks(workspace, history, { wanted, names: tips.map(({ name }) => name) });
  const isNothing = found.secrets.length === 0;
  const redacted = isNothing ? null : await nameCopy(workspace, { tips, found, title, earlier });
  const isDone = earlier !== null && isUpToDate(earlier, { tips, given: found.given });
  return { conversation, title, tips, history, found, wanted, redacted, earlier, isUpToDate: isDone, leftOut };
}

async function countSources(store: ConversationStore, tips: readonly BranchTip[]): Promise<LeftOutSources> {
  const sizes = new Map<string, number>();
  const files = new Set<string>();
  for (const { commit } of tips)
    for (const { path, oid, size = 0 } of await store.listTree(commit, { under: ["sources"], sizes: true }))
      if (isSourcePath(path)) {
        sizes.set(oid, size);
        files.add(sourceFileOf(path));
      }
  return { sources: files.size, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
}

// An earlier copy: its masks and names, and whether the new one would continue it. Only then it is updated; if something else is to
// be masked, a new copy is made.

/** A digest of what is to be masked: rules and texts, in any order. */
export function requestDigest({ rules, texts }: Pick<WantedSecrets, "rules" | "texts">): string {
  return sha256(JSON.stringify([[...rules].sort(), [...texts].sort()]));
}

/** The newest earlier copy of which a branch still exists; null when there is none. */
async function findKnownCopy({ store }: Workspace, original: string, request: string): Promise<MaskedCopy | null> {
  const known = (await store.maskedCopies()?.list()) ?? [];
  const copies = known.filter((one) => one.original === original && one.request === request);
  if (copies.length === 0) return null;
  const there = new Set((await store.listBranches()).map(({ name }) => conversationOf(name)));
  return copies.findLast(({ copy }) => there.has(copy)) ?? null;
}

/** Whether the original has not changed since the copy was made, and the same secrets are masked. */
function isUpToDate(
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

/** Whether the new copy contains all of the earlier one; `fresh` = new tips by branch of the copy. */
export async function continuesCopy(
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
  // A published copy only grows. In an unpublished one, a turn that grew may replace its shorter form.
  if (await workspace.store.isPublished()) return false;
  for (const tips of parted) {
    if (tips.bases.length === 0) return false;
    const merge = await planMerge(workspace.store, tips);
    if (merge.turns === "both" || merge.commits.length > 0) return false;
  }
  return true;
}
