// What a masked copy of a conversation would be: its history, the secrets in it with their masks, and the copy that was made before.
import { conversationOf } from "../../core/conversation/name.ts";
import { sourceFileOf } from "../../core/conversation/turn-file.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { BranchTip, ConversationStore, HistoryCommit, MaskedCopy } from "../../store/store.ts";
import { loadTip } from "../branch/branch-tree.ts";
import { resolveId } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type CopyNames, nameCopy } from "./copy-names.ts";
import { type FoundMasks, findMasks } from "./find-masks.ts";
import { findKnownCopy, isUpToDate, requestDigest } from "./known-copy.ts";
import { isSourcePath, type WantedSecrets } from "./mask-list.ts";

/** What to mask; see `WantedSecrets`. */
export type RedactRequest = Pick<WantedSecrets, "rules" | "texts">;

/** A masked copy that can be made. */
export interface RedactPlan {
  readonly conversation: string;
  readonly title: string;
  readonly tips: readonly BranchTip[];
  readonly history: readonly HistoryCommit[];
  readonly found: FoundMasks;
  readonly wanted: WantedSecrets;
  /** The copy; null when there is nothing to mask. */
  readonly redacted: CopyNames | null;
  /** The copy that was made before, if there is one: it is gone on with where that can be. */
  readonly earlier: MaskedCopy | null;
  /** Whether that has everything already. */
  readonly isUpToDate: boolean;
  readonly leftOut: LeftSources;
}

/** The agents' own bytes, which stay behind. */
export interface LeftSources {
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

async function countSources(store: ConversationStore, tips: readonly BranchTip[]): Promise<LeftSources> {
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
