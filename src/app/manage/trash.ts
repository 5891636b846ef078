// Removes and restores conversations: branches go to the store's trash and stay there until they are purged.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  conversationOf,
  differingByCase,
  forkOf,
  isTurnNumber,
  mayBeBeginning,
  SHORTEST_BEGINNING,
} from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { BranchTip, ConversationStore, Trash, TrashedBranch, Worktree } from "../../store/store.ts";
import { activateIfNoneIs } from "../conversation/checked-out.ts";
import { journalPath, listJournals } from "../conversation/journal.ts";
import { refreshViews, VIEW_CACHE } from "../conversation/refresh-view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import {
  branchesBeginning,
  branchesCalled,
  mainBranch,
  type NamedBranch,
  preferredBranch,
  previousBranch,
} from "../names/conversations.ts";
import { exportedSessions, type SessionPlaces, sessionsBeginning, sessionsCalled } from "../names/find-session.ts";
import { ambiguous } from "../names/id-candidates.ts";
import { resolveId } from "../names/resolve-id.ts";
import { listConversationRemotes } from "../share/remotes.ts";

export interface RemoveReport {
  readonly conversation: string;
  readonly removed: readonly TrashedBranch[];
  /** The active branch now; null = none is left. */
  readonly active: string | null;
  /** Whether the active branch changed. */
  readonly moved: boolean;
}

/** The view files of the store's own worktree. */
const VIEW_FILES = ["VIEW.md", "view.jsonl"];

/**
 * Removes a conversation with all its forks, or only a fork if the id names one (`ID/FORK`). Throws `unknown_id`, `ambiguous_id`,
 * `turn_open`, and `checked_out` while another worktree has one of them.
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

/**
 * Finds the branches that an id names: a conversation with all its forks, or a fork (`ID/FORK`). Throws `unknown_id`,
 * `ambiguous_id`.
 */
async function chooseBranches(
  workspace: Workspace,
  id: string,
): Promise<{
  readonly conversation: string;
  readonly isFork: boolean;
  readonly chosen: readonly BranchTip[];
  /** All branches of the store. */
  readonly tips: readonly BranchTip[];
}> {
  const target = await resolveId(workspace, id, ["branch"], { changes: true });
  const tips = await workspace.store.listBranches();
  const conversation = conversationOf(target.branch);
  const isFork = target.kind === "branch" && target.isFork === true;
  const chosen = tips.filter(({ name }) => (isFork ? name === target.branch : conversationOf(name) === conversation));
  return { conversation, isFork, chosen, tips };
}

/** Lists removed branches, newest removal first. */
export async function listRemoved(workspace: Workspace): Promise<readonly TrashedBranch[]> {
  const byName = await trashOf(workspace).list();
  return [...byName].sort((a, b) => Number(a.removedAt < b.removedAt) - Number(a.removedAt > b.removedAt));
}

/** Restores the latest removal of a conversation or a branch, and makes it active if nothing is. Throws `not_removed`, `branch_exists`. */
export async function restoreConversation(workspace: Workspace, id: string): Promise<readonly TrashedBranch[]> {
  const found = await findRemoved(workspace, id);
  const latest = found.filter(({ removedAt }) => removedAt === found[0]?.removedAt);
  const names = (await workspace.store.listBranches()).map(({ name }) => name);
  for (const { branch } of latest) {
    // On macOS and Windows, a name that differs only by case is the same file.
    const other = names.includes(branch) ? branch : differingByCase(branch, names);
    if (other === undefined) continue;
    throw userError("branch_exists", `There is a new branch ${other}; nothing was restored.`, {
      hints: [`\`jpg rm ${shellWord(other)}\` moves that one to the trash first.`],
    });
  }
  await trashOf(workspace).restore(latest);
  const first = latest.find(({ branch }) => branch === `${conversationOf(branch)}/main`) ?? latest[0];
  if (first !== undefined) await activateIfNoneIs(workspace, first.branch);
  return latest;
}

/** Deletes branches for good, with caches and marks of them; returns how many objects were deleted. */
export async function purgeRemoved(workspace: Workspace, branches: readonly TrashedBranch[]): Promise<number> {
  const objects = branches.length === 0 ? 0 : await trashOf(workspace).purge(branches);
  if (branches.length > 0) {
    await workspace.store.dropCaches();
    await forgetMarks(workspace.store, branches);
    await refreshViews(workspace, new Set((await workspace.store.listBranches()).map(({ name }) => name)));
  }
  return objects;
}

/** Deletes marks and records of masked copies when the last branch of a conversation is purged, since they contain its name. */
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

/**
 * Finds removed branches by name, newest removal first. With `inFull`, refuses a beginning, naming the full name: what is deleted
 * for good must be named in full.
 */
async function findRemoved(
  workspace: Workspace,
  id: string,
  { inFull = false }: { readonly inFull?: boolean } = {},
): Promise<readonly TrashedBranch[]> {
  const all = await listRemoved(workspace);
  const tips = all.map(({ branch, commit }) => ({ name: branch, commit }));
  const active = await preferredBranch(workspace);
  const { found, isFull } = await findNamed(workspace, { tips, active }, id);
  const names = [...new Set(found.map(({ name }) => name))];
  const [name, ...more] = names;
  if (name !== undefined && more.length > 0)
    throw ambiguous(
      id,
      names.map((one) => ({ name: one })),
    );
  if (name !== undefined && inFull && !isFull) throw namedInPart(id, name);
  const isFork = found.some((one) => one.isFork);
  const named = all.filter(({ branch }) => (isFork ? branch : conversationOf(branch)) === name);
  if (named.length > 0) return named;
  throw notRemoved(id, { tips, active });
}

function namedInPart(id: string, name: string): Error {
  return userError("other_conversation", `${id} could mean ${name}, but what is deleted has to be named in full.`, {
    hints: [`If you mean that one, type its full name: ${name}`],
    data: { word: id, name },
  });
}

/** Creates the error of a word that names nothing in the trash, with what it might mean there. */
function notRemoved(id: string, { tips, active }: SessionPlaces): Error {
  const forks = tips.map(({ name }) => name).filter((branch) => forkOf(branch) === id);
  const near = id === "" ? [] : [...branchesBeginning(tips, id, active), ...ownForksBeginning({ tips, active }, id)];
  const begun = near.map(({ name }) => name);
  const why = isTurnNumber(id)
    ? `${id} is the number of a turn, not a conversation in the trash.`
    : `${id} ${begun.length > 0 ? "is too short to be the beginning of a name" : "is not"} in the trash${begun.length > 0 ? `: expected ${SHORTEST_BEGINNING} characters or more` : ""}.`;
  return userError("not_removed", why, {
    hints: [
      ...[...new Set([...forks, ...begun])].slice(0, 3).map((name) => `Did you mean ${name}?`),
      "`jpg rm --list` lists what is in it.",
      "`jpg rm ID` moves a conversation there.",
    ],
  });
}

/** Finds branches by a full name or else a beginning: of conversations, forks and sessions, as everywhere. */
async function findNamed(
  workspace: Workspace,
  places: SessionPlaces,
  word: string,
): Promise<{ readonly found: readonly NamedBranch[]; readonly isFull: boolean }> {
  const { tips, active } = places;
  if (isTurnNumber(word)) return { found: [], isFull: false };
  const called = branchesCalled(tips, word, active);
  const exact = called.length > 0 ? called : await sessionsCalled(workspace, places, word);
  if (exact.length > 0 || !mayBeBeginning(word)) return { found: exact, isFull: true };
  const begun = [...branchesBeginning(tips, word, active), ...ownForksBeginning(places, word)];
  const found = begun.length > 0 ? begun : await sessionsBeginning(workspace, places, word);
  if (found.length > 0) return { found, isFull: false };
  const exported = await exportedSessions(workspace, places, word);
  const isFull = exported.called.length > 0;
  return { found: isFull ? exported.called : exported.beginning, isFull };
}

/** Finds forks of the active conversation whose own name begins with a word. */
function ownForksBeginning({ tips, active }: SessionPlaces, word: string): readonly NamedBranch[] {
  return active === null ? [] : branchesBeginning(tips, `${conversationOf(active)}/${word}`, active);
}

async function refuseWhileUsed({ store, runtime }: Workspace, chosen: readonly BranchTip[]): Promise<void> {
  const worktrees = (await store.worktrees?.list()) ?? [];
  const names = new Set(chosen.map(({ name }) => name));
  const inUse = worktrees.find(({ branch, gitDir }) => branch !== null && names.has(branch) && gitDir !== store.gitDir);
  if (inUse !== undefined) throw checkedOut(inUse);
  const open = (await listJournals(store.journal(), runtime.now())).filter(({ isAbandoned }) => !isAbandoned);
  const busy = chosen.find(({ name }) => open.some(({ path }) => path === journalPath(store.journal(), name)));
  if (busy === undefined) return;
  throw userError("turn_open", `A turn of ${busy.name} is still in progress; nothing was removed.`, {
    hints: ["Run it again when that has ended."],
  });
}

function checkedOut({ branch, path }: Worktree): Error {
  return userError("checked_out", `${branch} is checked out at ${path}; nothing was removed.`, {
    hints: [`\`jpg git worktree remove ${shellWord(path)}\` removes that worktree, unless it has changes.`],
  });
}

/** Chooses the next active branch: one of the same conversation, else the one before, else any that is left. */
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

function trashOf({ store, runtime }: Workspace): Trash {
  if (store.trash !== null) return store.trash;
  throw needsGit("Removing a conversation", runtime.env);
}

async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
}

// Deletes a conversation for good, in one step: `jpg rm` and `jpg rm --purge`. Names the remotes that have it, which no purge
// reaches.

interface PurgePlan {
  readonly id: string;
  readonly conversation: string;
  /** Existing branches, which go through the trash. */
  readonly existing: readonly string[];
  /** Branches of the same conversation or fork that are in the trash already. */
  readonly trashed: readonly TrashedBranch[];
  /** Remotes on which the conversation was seen; what is there stays. */
  readonly seen_on: readonly string[];
}

interface PurgeReport {
  readonly conversation: string;
  /** Ordered, each once. */
  readonly purged: readonly string[];
  /** The same with their commits; a branch that was removed several times is there as often. */
  readonly removals: readonly TrashedBranch[];
  /** Number of deleted objects; those that other conversations share stay. */
  readonly objects: number;
  readonly seen_on: readonly string[];
}

/**
 * Finds what an id names, among existing branches, else in the trash. With `inFull`, refuses a beginning of an existing one, too.
 * Throws `unknown_id`, `ambiguous_id`, `needs_git`, `other_conversation`.
 */
export async function planConversationPurge(
  workspace: Workspace,
  id: string,
  { inFull = false }: { readonly inFull?: boolean } = {},
): Promise<PurgePlan> {
  const found = await chooseBranches(workspace, id).catch((error: unknown) => asUnknown(error));
  if (found instanceof JpgError) {
    const trashed = await findRemoved(workspace, id, { inFull: true }).catch((error: unknown) => {
      throw error instanceof JpgError && error.code === "not_removed" ? found : error;
    });
    return describe(workspace, { id, conversation: conversationOf(trashed[0]?.branch ?? id), existing: [], trashed });
  }
  const { conversation, isFork, chosen, tips } = found;
  const existing = chosen.map(({ name }) => name);
  const active = await preferredBranch(workspace);
  const isFull = !inFull || id === "@" || id === "-" || (await findNamed(workspace, { tips, active }, id)).isFull;
  if (!isFull) throw namedInPart(id, isFork ? (existing[0] ?? "") : conversation);
  const trashed = (await listRemoved(workspace)).filter(({ branch }) =>
    isFork ? existing.includes(branch) : conversationOf(branch) === conversation,
  );
  return describe(workspace, { id, conversation, existing, trashed });
}

/** Lists the branches of a plan, sorted, each once. */
export function branchesOf({ existing, trashed }: Pick<PurgePlan, "existing" | "trashed">): readonly string[] {
  return [...new Set([...existing, ...trashed.map(({ branch }) => branch)])].sort();
}

/** Deletes a conversation for good. Throws the errors of `removeConversation`, and changes nothing then. */
export async function purgeConversation(workspace: Workspace, plan: PurgePlan): Promise<PurgeReport> {
  const removed = plan.existing.length === 0 ? [] : (await removeConversation(workspace, plan.id)).removed;
  const removals = [...removed, ...plan.trashed];
  const objects = await purgeRemoved(workspace, removals);
  return { conversation: plan.conversation, purged: branchesOf(plan), removals, objects, seen_on: plan.seen_on };
}

async function describe(workspace: Workspace, plan: Omit<PurgePlan, "seen_on">): Promise<PurgePlan> {
  return { ...plan, seen_on: await listConversationRemotes(workspace, plan.conversation) };
}

/** Returns the error of an unknown id, which may be in the trash; rethrows any other. */
function asUnknown(error: unknown): JpgError {
  if (error instanceof JpgError && (error.code === "unknown_id" || error.code === "no_conversation")) return error;
  throw error;
}
