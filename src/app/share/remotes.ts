// Adds, lists, removes and chooses the remotes of a store. How conversations are published to a remote is decided when it is added,
// and shown with each push.
import { resolve } from "node:path";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import {
  checkRemoteName,
  checkRemoteUrl,
  isLocalPath,
  isSameRepository,
  type PublishedAs,
  shownUrl,
} from "../../core/remote-address.ts";
import { shellWord } from "../../core/safe-text.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { CommitPair, NewRemote, ProjectRemote, Remote, Sharing } from "../../store/sharing.ts";
import type { BranchTip } from "../../store/store.ts";
import { projectRemotes } from "../conversation/git-program.ts";
import { isForkMerge } from "../conversation/log.ts";
import { type BranchTree, type ConversationHeader, loadBranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveId } from "../names/resolve-id.ts";

export interface RemoteRow {
  readonly name: string;
  readonly url: string;
  readonly as: PublishedAs;
  /** Branches at the last fetch. */
  readonly branches: number;
}

interface AddedRemote extends Omit<RemoteRow, "branches"> {
  /** Whether the project itself is pushed there. */
  readonly ofProject: boolean;
}

/** The sharing of a store. Throws `needs_git`. */
export function requireSharing({ store, runtime }: Workspace): Sharing {
  if (store.sharing === null) throw needsGit("Sharing conversations", runtime.env);
  return store.sharing;
}

/**
 * Adds a remote. Unless `as` is given, conversations are hidden refs on a remote of the project itself, and branches elsewhere.
 * Throws `needs_git`, `bad_remote_name`, `bad_remote_url`, `remote_exists`.
 */
export async function addRemote(
  workspace: Workspace,
  { name, url, as, filter }: Omit<NewRemote, "as"> & { readonly as?: PublishedAs },
): Promise<AddedRemote> {
  const sharing = requireSharing(workspace);
  const place = absoluteUrl(workspace, checkRemoteUrl(url));
  const ofProject = (await projectRemotes(workspace)).some((remote) => isSameRepository(remote.url, place));
  const added = { name: checkRemoteName(name), url: place, as: as ?? (ofProject ? "hidden" : "branches") } as const;
  await sharing.addRemote({ ...added, filter });
  return { ...added, url: shownUrl(place), ofProject };
}

export async function listRemotes(workspace: Workspace): Promise<readonly RemoteRow[]> {
  const sharing = requireSharing(workspace);
  const rows: RemoteRow[] = [];
  for (const { name, pushUrl, as } of await sharing.remotes())
    rows.push({ name, url: shownUrl(pushUrl), as, branches: (await sharing.tracked(name)).length });
  return rows;
}

/** Removes a remote from the configuration; the repository does not change. Throws `unknown_remote`. */
export async function removeRemote(workspace: Workspace, name: string): Promise<Remote> {
  const remote = await findRemote(workspace, name);
  await requireSharing(workspace).removeRemote(remote.name);
  return remote;
}

/** Finds a remote by name. Throws `unknown_remote`. */
export async function findRemote(workspace: Workspace, name: string): Promise<Remote> {
  const remotes = await requireSharing(workspace).remotes();
  const found = remotes.find((remote) => remote.name === name);
  if (found !== undefined) return found;
  throw userError("unknown_remote", `There is no remote ${name}.`, {
    hints: [
      remotes.length === 0
        ? "`jpg remote add NAME URL` adds one."
        : `Remotes: ${remotes.map((one) => one.name).join(", ")}.`,
    ],
  });
}

/**
 * The remote for a command: the named one, else the only one, else `origin`; null when there is none. Throws `unknown_remote`,
 * `which_remote`.
 */
export async function chooseRemote(
  workspace: Workspace,
  { name, flag }: { readonly name: string | undefined; readonly flag: "--to" | "--from" },
): Promise<Remote | null> {
  if (name !== undefined) return findRemote(workspace, name);
  const remotes = await requireSharing(workspace).remotes();
  const [only, ...more] = remotes;
  if (only === undefined || more.length === 0) return only ?? null;
  const origin = remotes.find((remote) => remote.name === "origin");
  if (origin !== undefined) return origin;
  const names = remotes.map((remote) => remote.name);
  throw userError("which_remote", `Which remote: ${names.join(", ")}?`, { hints: [`Say ${flag} ${names[0]}.`] });
}

/** The `origin` of the project, which can hold conversations next to the code; null when there is none. */
export async function projectOrigin(workspace: Workspace): Promise<ProjectRemote | null> {
  return (await projectRemotes(workspace)).find(({ name }) => name === "origin") ?? null;
}

export function noRemote(origin: ProjectRemote | null): Error {
  const own = "`jpg remote add NAME URL --as branches` adds a repository made for conversations.";
  const hints =
    origin === null
      ? [own]
      : [
          `\`jpg remote add origin ${shellWord(shownUrl(origin.url))} --as hidden\` adds the project's own, with hidden refs.`,
          own,
        ];
  return userError("no_remote", "This store has no remote.", { hints });
}

function absoluteUrl({ runtime }: Workspace, url: string): string {
  return isLocalPath(url) ? resolve(runtime.cwd, url) : url;
}

// The merge bases of two tips, without merged forks: git has a fork that `jpg merge` merged in the history, but its turns are not
// in the files. "Ancestor" means "all of it is here" only along the branch's own commits.

/** The best common ancestors of each pair, in order, without merged forks; empty for unrelated histories. */
export function branchBases(
  workspace: Workspace,
  pairs: readonly CommitPair[],
): Promise<readonly (readonly string[])[]> {
  return requireSharing(workspace).mergeBases(pairs, (merge) => isForkMerge(workspace.store, merge));
}

// Conversations that are never sent. They are marked outside their trees, so that the mark is never sent either. All forks of a
// conversation share its mark.

interface LocalReport {
  readonly conversation: string;
  readonly local: boolean;
  /** Remotes that had it at the last fetch: the mark does not remove it there. */
  readonly seen_on: readonly string[];
}

/** Marks a conversation local, or removes the mark. */
export async function setLocal(workspace: Workspace, id: string, isLocal: boolean): Promise<LocalReport> {
  const sharing = requireSharing(workspace);
  const conversation = conversationOf((await resolveId(workspace, id, ["branch"], { changes: true })).branch);
  await sharing.markLocal(conversation, isLocal);
  return { conversation, local: isLocal, seen_on: await listConversationRemotes(workspace, conversation) };
}

/** Remotes that had a conversation at the last fetch. */
export async function listConversationRemotes(workspace: Workspace, conversation: string): Promise<readonly string[]> {
  const sharing = requireSharing(workspace);
  const seen: string[] = [];
  for (const { name } of await sharing.remotes()) {
    const tracked = await sharing.tracked(name);
    if (tracked.some((tip) => conversationOf(tip.name) === conversation)) seen.push(name);
  }
  return seen;
}

/** Ids of the local conversations, in order. */
export async function listLocal(workspace: Workspace): Promise<readonly string[]> {
  return [...(await requireSharing(workspace).localConversations())].sort();
}

/** Marks a conversation local, then runs `act`: after a crash it is still local. An error restores the mark. */
export async function keepingLocal(
  workspace: Workspace,
  conversation: string,
  act: () => Promise<void>,
): Promise<void> {
  const sharing = requireSharing(workspace);
  const wasLocal = (await sharing.localConversations()).has(conversation);
  await sharing.markLocal(conversation, true);
  try {
    await act();
  } catch (error) {
    await sharing.markLocal(conversation, wasLocal);
    throw error;
  }
}

export function localError(conversations: readonly string[]): Error {
  const [first = "", ...more] = [...new Set(conversations)];
  const names = [first, ...more].join(", ");
  return userError(
    "local_conversation",
    `${names} ${more.length === 0 ? "is local: it is" : "are local: they are"} never sent.`,
    {
      hints: [`\`jpg local ${first} --off\` lets it be pushed.`],
      data: { conversations: [first, ...more] },
    },
  );
}

// Two conversations of one name: ids are short, and a branch can have any name. The header distinguishes them: the first commit
// wrote it, and it never changes.

/** Whether two headers are of one conversation, even if different versions of jpg wrote them. */
function isSameConversation(one: ConversationHeader, other: ConversationHeader): boolean {
  if (one.id !== other.id) return false;
  if (one.source === null || other.source === null)
    return one.source === other.source && one.created_at === other.created_at;
  return one.source.format === other.source.format && one.source.session === other.source.session;
}

/**
 * Why a branch of a remote cannot share its conversation name with a branch here; null when both are one conversation. `own` = the
 * branch here; null when there is none.
 */
export async function whyAnother(
  { store }: Pick<Workspace, "store">,
  { tree, remote }: { readonly tree: BranchTree; readonly remote: string },
  own: BranchTip | null,
): Promise<string | null> {
  if (own === null) return null;
  const { header } = await loadBranchTree(store, own.name, own.commit);
  if (isSameConversation(header, tree.header)) return null;
  const forkPart = (branch: string): string => branch.slice(conversationOf(branch).length);
  const theirs = `\`jpg git branch NAME${forkPart(tree.branch)} refs/remotes/${remote}/${tree.branch}\` creates it here as NAME`;
  const ours = `\`jpg git branch -m ${own.name} NAME${forkPart(own.name)}\` gives yours another name`;
  return `it is not the same conversation as ${conversationOf(own.name)} here; ${theirs}, and ${ours}`;
}
