// Conversations that a clone brought and that have no branch here yet: git knows them as branches of a remote.
import { conversationOf } from "../../core/conversation/name.ts";
import type { RemoteBranch } from "../../store/sharing.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Says what remotes have and what to type, in a sentence or two; null when they have nothing that is not here. */
export async function describeRemotes(workspace: Workspace): Promise<string | null> {
  const [first, ...more] = await findRemote(workspace);
  if (first === undefined) return describeUnseen(workspace);
  const what =
    more.length === 0
      ? `a conversation branch not here yet: ${first.name}`
      : `${more.length + 1} conversation branches not here yet, such as ${first.name}`;
  return `${first.remote} has ${what}. \`jpg pull\` brings in all, \`jpg use ${first.name}\` that one.`;
}

/** In a store that has no conversation, what to type where a remote may have some; null where it has no remote. */
async function describeUnseen({ location, store }: Workspace): Promise<string | null> {
  if (!location.exists || (await store.listBranches()).length > 0) return null;
  const remotes = await store.sharing?.remotes().catch(() => []); // whoever pulls is told what is wrong with an address
  const [remote] = remotes ?? [];
  return remote === undefined ? null : `No conversation is here yet: \`jpg pull\` brings in what ${remote.name} has.`;
}

/**
 * Makes a remote's branch one of the store's: the one of that name, with or without its remote's, or the conversation's main
 * one. Gives its name; null when remotes have none.
 */
export async function adoptRemote(workspace: Workspace, word: string): Promise<string | null> {
  const remote = await findRemote(workspace);
  const found =
    remote.find(({ remote: from, name }) => name === word || `${from}/${name}` === word) ??
    remote.find(({ name }) => name === `${word}/main`) ??
    remote.find(({ name }) => conversationOf(name) === word);
  if (found === undefined) return null;
  await workspace.store.remotes?.track(found);
  return found.name;
}

async function findRemote(workspace: Workspace): Promise<readonly RemoteBranch[]> {
  if (!workspace.location.exists) return [];
  const { store } = workspace;
  const [remote = [], own] = await Promise.all([store.remotes?.list(), store.listBranches()]);
  const here = new Set(own.map(({ name }) => name));
  return remote.filter(({ name }) => !here.has(name));
}
