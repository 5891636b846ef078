// Reads pages for a server that asks for parts of the same page again and again. Pages are cached by commit, because what is at a
// commit never changes.
import type { Runtime } from "../conversation/runtime.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import type { Workspace, WorkspaceOptions } from "../conversation/workspace.ts";
import { resolveWholeTree } from "../names/resolve-id.ts";
import {
  type ConversationPage,
  type Family,
  readConversationPage,
  readFamily,
  withoutCompaction,
} from "./conversation-page.ts";

/** Pages in the cache. */
const MAX_PAGES = 2;

/** Reads the page of a branch at its tip or at a commit. */
export interface PageReader {
  read(workspace: Workspace, branch: string, look?: PageLook): Promise<ConversationPage>;
  /** The relatives of a page's conversation, cached; `isFresh` = read again. */
  family(workspace: Workspace, page: ConversationPage, how?: { readonly isFresh: boolean }): Promise<Family>;
}

/** How to read a branch; absent fields = at its tip. */
interface PageLook {
  readonly commit?: string;
  /** As if this compaction were reverted. */
  readonly without?: string;
}

export function createPageReader(): PageReader {
  const kept = new Map<string, ConversationPage>();
  const keep = (page: ConversationPage): ConversationPage => {
    const key = keyOf(page);
    kept.delete(key);
    kept.set(key, page);
    for (const oldest of [...kept.keys()].slice(0, -MAX_PAGES)) kept.delete(oldest);
    return page;
  };
  const families = new Map<string, Family>();
  return {
    async family(workspace, page, { isFresh } = { isFresh: false }) {
      const known = families.get(keyOf(page));
      if (known !== undefined && !isFresh) return known;
      const family = await readFamily(workspace, await resolveWholeTree(workspace, page.branch));
      families.delete(keyOf(page));
      families.set(keyOf(page), family);
      for (const oldest of [...families.keys()].slice(0, -MAX_PAGES)) families.delete(oldest);
      return family;
    },
    async read(workspace, branch, { commit, without } = {}) {
      const as = without === undefined ? {} : { without };
      const known = commit === undefined ? undefined : kept.get(keyOf({ branch, commit, ...as }));
      if (known !== undefined) return keep(known);
      const tree = await treeAt(workspace, branch, commit);
      const found = kept.get(keyOf({ ...tree, ...as }));
      if (found !== undefined || without === undefined)
        return keep(found ?? (await readConversationPage(workspace, tree)));
      const page = await readConversationPage(workspace, await withoutCompaction(workspace, tree, without));
      return keep({ ...page, without });
    },
  };
}

function keyOf({ branch, commit, without }: Pick<ConversationPage, "branch" | "commit" | "without">): string {
  return `${branch}@${commit}-${without ?? ""}`;
}

async function treeAt(workspace: Workspace, branch: string, commit: string | undefined): Promise<BranchTree> {
  const tree = await resolveWholeTree(workspace, branch);
  if (commit === undefined || commit === tree.commit) return tree;
  return loadBranchTree(workspace.store, tree.branch, commit);
}

/** Serves pages of a store. */
export interface ServeRequest {
  readonly runtime: Runtime;
  readonly options: WorkspaceOptions;
  /** 0 = any free port. */
  readonly port: number;
  /** An address of this machine; if others can reach it, the pages are read-only. */
  readonly host: string;
  /** The branch whose page the address names; default: the list. */
  readonly branch?: string | undefined;
  /** Called with the address once the server listens. */
  readonly onListening: (where: { readonly address: string; readonly readOnly: boolean }) => void;
  /** Ends the server. */
  readonly signal: AbortSignal;
}
