// The title of a conversation: the one that was given last, else what the first request asks that asks anything.
import { askedWords, titleByRequests } from "../../core/conversation/asked.ts";
import type { Turn } from "../../core/conversation/event.ts";
import type { BranchTree } from "./tree.ts";
import { givenTitle, type MetaRecord, readMetas } from "./turns.ts";
import { loadTurns } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** Turns to read for a title, at most: a session that asks nothing in so many has no better one. */
const MOST_TURNS = 20;

/** Reads the current title, safe to show. */
export async function conversationTitle(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<string> {
  return titleWith(workspace, tree, await readMetas(workspace, tree));
}

/** Like `conversationTitle`; `metas` = the records under meta/, oldest first. Reads turns only if the stored title asks nothing. */
export async function titleWith(
  { store }: Pick<Workspace, "store">,
  tree: BranchTree,
  metas: readonly MetaRecord[],
): Promise<string> {
  const given = givenTitle(metas);
  const { title } = tree.header;
  // In a partial clone nothing is fetched for a title.
  if (given !== "" || askedWords(title) === title || store.partial !== null) return given || title;
  for (let index = 0; index < Math.min(MOST_TURNS, tree.turnOids.length); index++) {
    const found = titleByRequests(title, (await loadTurns(store, tree, [index])).values());
    if (found !== title) return found;
  }
  return title;
}

/** Like `titleWith`, with turns that are loaded. */
export function titleFrom(metas: readonly MetaRecord[], stored: string, turns: ReadonlyMap<number, Turn>): string {
  return givenTitle(metas) || titleByRequests(stored, [...turns.values()].slice(0, MOST_TURNS));
}
