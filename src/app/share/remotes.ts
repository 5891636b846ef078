// The remotes of a store: written down, listed, forgotten, chosen. How conversations are published to one is said once, when it
// is added, and shown whenever something is sent there.
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

/** A remote as it is listed; addresses as they may be shown. */
export interface RemoteRow {
  readonly name: string;
  readonly url: string;
  readonly as: PublishedAs;
  /** Branches seen there last. */
  readonly branches: number;
}

/** What `remote add` wrote down. */
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
 * Adds a remote. Unless `as` says otherwise, conversations are hidden refs where the project itself is pushed, and branches
 * elsewhere. Throws `needs_git`, `bad_remote_name`, `bad_remote_url`, `remote_exists`.
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

/** Lists the remotes. */
export async function listRemotes(workspace: Workspace): Promise<readonly RemoteRow[]> {
  const sharing = requireSharing(workspace);
  const rows: RemoteRow[] = [];
  for (const { name, pushUrl, as } of await sharing.remotes())
    rows.push({ name, url: shownUrl(pushUrl), as, branches: (await sharing.tracked(name)).length });
  return rows;
}

/** Forgets a remote; what stands there stays. Throws `unknown_remote`. */
export async function removeRemote(workspace: Workspace, name: string): Promise<Remote> {
  const remote = await findRemote(workspace, name);
  await requireSharing(workspace).removeRemote(remote.name);
  return remote;
}

/** The remote of a name. Throws `unknown_remote`. */
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

/** The remote that a command is about: the one that was named, else the only one, else `origin`; null when there is none. Throws `unknown_remote`, `which_remote`. */
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

/** The `origin` of the project around, on which conversations can stand beside the code; null when there is none. */
export async function projectOrigin(workspace: Workspace): Promise<ProjectRemote | null> {
  return (await projectRemotes(workspace)).find(({ name }) => name === "origin") ?? null;
}

/** The error of a command that needs a remote where there is none. */
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

// What two tips of a branch have in common, as branches: a fork that one of them was told of is in its history, for git, but
// nothing of it is in its files. So "an ancestor" means "all of it is here" only along the branch's own commits.

/** The best common ancestors of each pair, in order, merged forks left aside; none of unrelated histories. */
export function branchBases(
  workspace: Workspace,
  pairs: readonly CommitPair[],
): Promise<readonly (readonly string[])[]> {
  return requireSharing(workspace).mergeBases(pairs, (merge) => isForkMerge(workspace.store, merge));
}

// Conversations that never leave this store: marked outside their trees, so that the mark itself is never sent. A fork is of the
// same conversation, and so has its mark.

/** What `local` did. */
interface LocalReport {
  readonly conversation: string;
  readonly local: boolean;
  /** Remotes on which it was seen: the mark takes nothing back. */
  readonly seen_on: readonly string[];
}

/** Marks a conversation as local, or takes the mark away. */
export async function setLocal(workspace: Workspace, id: string, isLocal: boolean): Promise<LocalReport> {
  const sharing = requireSharing(workspace);
  const conversation = conversationOf((await resolveId(workspace, id, ["branch"], { changes: true })).branch);
  await sharing.markLocal(conversation, isLocal);
  return { conversation, local: isLocal, seen_on: await listConversationRemotes(workspace, conversation) };
}

/** Remotes on which a conversation was seen. */
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

/** Does something with a conversation that is local from before it begins: whoever is killed meanwhile has one that does not leave. */
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

/** The error of what would send local conversations. */
export function localError(conversations: readonly string[]): Error {
  const [first = "", ...more] = [...new Set(conversations)];
  const names = [first, ...more].join(", ");
  return userError(
    "local_conversation",
    `${names} ${more.length === 0 ? "is" : "are"} local: nothing of it leaves this store.`,
    {
      hints: [`\`jpg local ${first} --off\` lets it be pushed.`],
      data: { conversations: [first, ...more] },
    },
  );
}

// Two conversations of one name: ids are short, and a branch can be given any name. What tells them apart is the header, which the
// first commit wrote and nobody changes.

/** Whether two headers are of one conversation, whichever versions of jpg wrote them. */
function isSameConversation(one: ConversationHeader, other: ConversationHeader): boolean {
  if (one.id !== other.id) return false;
  if (one.source === null || other.source === null)
    return one.source === other.source && one.created_at === other.created_at;
  return one.source.format === other.source.format && one.source.session === other.source.session;
}

/**
 * Why a branch of a remote is not taken in beside one's own of that conversation; null when both are of one. `own` = a branch here
 * whose name is of the same conversation; null when there is none.
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
  const theirs = `\`jpg git branch NAME${forkPart(tree.branch)} refs/remotes/${remote}/${tree.branch}\` takes it in as NAME`;
  const ours = `\`jpg git branch -m ${own.name} NAME${forkPart(own.name)}\` gives yours another name`;
  return `it is another conversation than ${conversationOf(own.name)} here; ${theirs}, and ${ours}`;
}
