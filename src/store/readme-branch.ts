// The README branch of a repository made for conversations: what people see first on its host, and what a plain clone has checked
// out. A file in its tree marks it, whatever it is called and whoever changed the rest; it is never a conversation.
import { JpgError } from "../core/errors.ts";
import type { BranchTip, ConversationStore } from "./conversation-store.ts";
import type { RemoteBranch, Remotes } from "./sharing.ts";

/** The file that marks a README branch, in the root of its tree. */
export const STORE_MARKER = ".jpg-store";

/** The name of a README branch where the remote's HEAD names none that will do. */
export const README_BRANCH = "main";

/** Gives the store without its README branches: no list has them, and to whoever asks for one there is none. */
export function withoutReadme(store: ConversationStore): ConversationStore {
  const isReadme = async ({ name, commit }: BranchTip): Promise<boolean> =>
    mayBeReadme(name) && (await readsMarker(store, commit));
  const listBranches: ConversationStore["listBranches"] = async (passOver) =>
    withoutMatches(await store.listBranches(passOver), isReadme);
  const readBranch: ConversationStore["readBranch"] = async (name) => {
    const commit = await store.readBranch(name);
    return commit === null || (await isReadme({ name, commit })) ? null : commit;
  };
  const isRemoteReadme = async ({ remote, name }: RemoteBranch): Promise<boolean> => {
    const commit = await store.resolveCommit(`refs/remotes/${remote}/${name}`);
    return commit !== null && isReadme({ name, commit });
  };
  const list = async (): Promise<readonly RemoteBranch[]> =>
    withoutMatches((await store.remotes?.list()) ?? [], isRemoteReadme);
  const remotes: Remotes | null = store.remotes && { ...store.remotes, list };
  return Object.create(store, {
    listBranches: { value: listBranches, enumerable: true },
    readBranch: { value: readBranch, enumerable: true },
    remotes: { value: remotes, enumerable: true },
  }) as ConversationStore;
}

/** By its name: that of a conversation's branch has a slash, unless somebody made it by hand. The tree tells. */
function mayBeReadme(name: string): boolean {
  return !name.includes("/");
}

async function readsMarker(store: ConversationStore, commit: string): Promise<boolean> {
  try {
    return (await store.readEntries(commit, [STORE_MARKER])).has(STORE_MARKER);
  } catch (error) {
    if (error instanceof JpgError) return false; // damaged: whoever reads the branch says so
    throw error;
  }
}

async function withoutMatches<T extends { readonly name: string }>(
  all: readonly T[],
  isReadme: (one: T) => Promise<boolean>,
): Promise<readonly T[]> {
  const found = new Set<T>();
  for (const one of all.filter(({ name }) => mayBeReadme(name))) if (await isReadme(one)) found.add(one);
  return found.size === 0 ? all : all.filter((one) => !found.has(one));
}
