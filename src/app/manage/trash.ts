// Removes conversations and brings them back: branches go to the trash of the store, where they stay until they are purged.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { conversationOf, forkOf } from "../../core/conversation-name.ts";
import { repositoryError, userError } from "../../core/errors.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { BranchTip, ConversationStore, Trash, TrashedBranch } from "../../store/conversation-store.ts";
import type { Worktree } from "../../store/worktrees.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { VIEW_CACHE } from "../branch/view-state.ts";
import { journalPath, listJournals } from "../journal/journal-files.ts";
import { mainBranch, previousBranch } from "../names/conversations.ts";
import { resolveId } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface RemoveReport {
  readonly conversation: string;
  readonly removed: readonly TrashedBranch[];
  /** The branch that is active now; null when none is left. */
  readonly active: string | null;
  /** Whether another one was active before. */
  readonly moved: boolean;
}

/** The files that show what is active. */
const VIEW_FILES = ["VIEW.md", "view.jsonl"];

/**
 * Removes a conversation with all its forks, or where the id names a branch (`ID/FORK`) that fork. Throws `unknown_id`,
 * `ambiguous_id`, `turn_open`, and `checked_out` while another worktree holds one of them.
 */
export async function removeConversation(workspace: Workspace, id: string): Promise<RemoveReport> {
  const { store, runtime } = workspace;
  const { conversation, chosen, tips } = await chooseBranches(workspace, id);
  await refuseWhileUsed(workspace, chosen);
  const trash = trashOf(workspace);
  const before = await store.readActiveBranch();
  const isActive = chosen.some(({ name }) => name === before);
  const next = isActive ? await nextActive(workspace, tips, chosen) : before;
  if (isActive && next !== null) await store.useBranch(next);
  const removedAt = runtime.now().toISOString();
  await trash.put(chosen, removedAt);
  if (next !== null && isActive) await refreshViews(workspace, next);
  if (next === null) await removeFiles(store.root, VIEW_FILES).then(() => store.cache(VIEW_CACHE).drop());
  const removed = chosen.map(({ name, commit }) => ({ branch: name, commit, removedAt }));
  return { conversation, removed, active: next, moved: isActive };
}

/** The branches that an id names: a conversation with all its forks, or a fork (`ID/FORK`). Throws `unknown_id`, `ambiguous_id`. */
export async function chooseBranches(
  workspace: Workspace,
  id: string,
): Promise<{
  readonly conversation: string;
  readonly isFork: boolean;
  readonly chosen: readonly BranchTip[];
  /** All that stand. */
  readonly tips: readonly BranchTip[];
}> {
  const target = await resolveId(workspace, id);
  const tips = await workspace.store.listBranches();
  const conversation = conversationOf(target.branch);
  const isFork = (id.includes("/") && id !== conversation) || id === forkOf(target.branch);
  const chosen = tips.filter(({ name }) => (isFork ? name === target.branch : conversationOf(name) === conversation));
  return { conversation, isFork, chosen, tips };
}

/** Lists what can be restored, newest removal first. */
export async function listRemoved(workspace: Workspace): Promise<readonly TrashedBranch[]> {
  const byName = await trashOf(workspace).list();
  return [...byName].sort((a, b) => Number(a.removedAt < b.removedAt) - Number(a.removedAt > b.removedAt));
}

/** Brings back what was removed last of a conversation or a branch. Throws `not_removed`, `branch_exists`. */
export async function restoreConversation(workspace: Workspace, id: string): Promise<readonly TrashedBranch[]> {
  const found = await findRemoved(workspace, id);
  const latest = found.filter(({ removedAt }) => removedAt === found[0]?.removedAt);
  for (const { branch } of latest) {
    if ((await workspace.store.readBranch(branch)) === null) continue;
    throw userError("branch_exists", `There is a new branch ${branch}; nothing was restored.`, {
      hints: [`\`jpg rm ${shellWord(branch)}\` moves that one to the trash first.`],
    });
  }
  await trashOf(workspace).restore(latest);
  return latest;
}

/** What a purge takes away: all that was removed, or of one conversation or branch. Throws `not_removed`. */
export async function planPurge(workspace: Workspace, id: string | undefined): Promise<readonly TrashedBranch[]> {
  return id === undefined ? listRemoved(workspace) : findRemoved(workspace, id);
}

/** Removes branches for good, with what is remembered of them; gives how many objects went. */
export async function purgeRemoved(workspace: Workspace, branches: readonly TrashedBranch[]): Promise<number> {
  const objects = branches.length === 0 ? 0 : await trashOf(workspace).purge(branches);
  if (branches.length > 0) {
    await workspace.store.dropCaches();
    await forgetMarks(workspace.store, branches);
    await refreshViews(workspace, new Set((await workspace.store.listBranches()).map(({ name }) => name)));
  }
  return objects;
}

/** A mark keeps the name of what it is of, and so does what is known of masked copies: they go with the last branch. */
async function forgetMarks(store: ConversationStore, purged: readonly TrashedBranch[]): Promise<void> {
  const kept = [
    ...(await store.listBranches()).map(({ name }) => name),
    ...((await store.trash?.list()) ?? []).map(({ branch }) => branch),
  ];
  const left = new Set(kept.map(conversationOf));
  const gone = purged.map(({ branch }) => conversationOf(branch)).filter((conversation) => !left.has(conversation));
  for (const conversation of new Set(gone)) await store.sharing?.markLocal(conversation, false);
  await store.maskedCopies()?.forget(new Set(gone));
}

async function findRemoved(workspace: Workspace, id: string): Promise<readonly TrashedBranch[]> {
  const all = await listRemoved(workspace);
  const found = all.filter(({ branch }) => branch === id || conversationOf(branch) === id);
  const near = found.length > 0 ? found : all.filter(({ branch }) => branch.startsWith(id));
  const names = [...new Set(near.map(({ branch }) => conversationOf(branch)))];
  if (names.length > 1)
    throw userError("ambiguous_id", `${id} could mean ${names.length} things: ${names.slice(0, 10).join(", ")}.`, {
      hints: ["Type more of the name you mean."],
      data: { candidates: names },
    });
  if (near.length > 0) return near;
  throw userError("not_removed", `${id} is not in the trash.`, {
    hints: ["`jpg rm --list` lists what is in it.", "`jpg rm ID` moves a conversation there."],
  });
}

async function refuseWhileUsed({ store, runtime }: Workspace, chosen: readonly BranchTip[]): Promise<void> {
  const worktrees = (await store.worktrees?.list()) ?? [];
  const names = new Set(chosen.map(({ name }) => name));
  const held = worktrees.find(({ branch, gitDir }) => branch !== null && names.has(branch) && gitDir !== store.gitDir);
  if (held !== undefined) throw checkedOut(held);
  const open = (await listJournals(store.journal(), runtime.now())).filter(({ isAbandoned }) => !isAbandoned);
  const talked = chosen.find(({ name }) => open.some(({ path }) => path === journalPath(store.journal(), name)));
  if (talked === undefined) return;
  throw userError("turn_open", `A turn of ${talked.name} is still in progress; nothing was removed.`, {
    hints: ["Run it again when that has ended."],
  });
}

function checkedOut({ branch, path }: Worktree): Error {
  return userError("checked_out", `${branch} is checked out at ${path}; nothing was removed.`, {
    hints: [`\`jpg git worktree remove ${shellWord(path)}\` removes that worktree, unless it has changes.`],
  });
}

/** The branch to go on with: the one before, else any that is left. */
async function nextActive(
  workspace: Workspace,
  tips: readonly BranchTip[],
  chosen: readonly BranchTip[],
): Promise<string | null> {
  const gone = new Set(chosen.map(({ name }) => name));
  const left = tips.filter(({ name }) => !gone.has(name));
  const same = mainBranch(left, conversationOf(chosen[0]?.name ?? ""), null);
  const previous = await previousBranch(workspace);
  return same?.name ?? left.find(({ name }) => name === previous)?.name ?? left[0]?.name ?? null;
}

function trashOf({ store }: Workspace): Trash {
  if (store.trash !== null) return store.trash;
  throw repositoryError("engine_unavailable", "This store has no trash: it needs the git program.", {
    hints: ["Install git 2.31 or newer."],
  });
}

async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
}
