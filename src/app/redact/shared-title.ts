// The title of a view that is handed over: one that was made of a request which is not in the view would say what was left out.
import type { Event, ProjectedTurn } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadTurns } from "../branch/load-view.ts";
import { requestText } from "../branch/prepared-turn.ts";

/** Turns at the beginning of which a title may have been made: the first ones may say nothing. */
const FIRST = 10;

/** Gives a conversation's title for its view, or one of the first request in it that is the user's own. */
export async function sharedTitle(
  store: ConversationStore,
  tree: BranchTree,
  view: readonly ProjectedTurn[],
): Promise<string> {
  const { title } = tree.header;
  const kept = view.flatMap(({ origin, events }) =>
    origin.kind === "kept" ? [requestText(events.filter(isOwn))] : [],
  );
  if (kept.some((request) => isMadeOf(title, request))) return title;
  const first = await loadTurns(store, tree, [...tree.turnOids.slice(0, FIRST).keys()]);
  if (![...first.values()].some(({ events }) => isMadeOf(title, requestText(events)))) return title;
  return kept.map(titleOfRequest).find((made) => made !== "") ?? "conversation";
}

/** What the agent itself put in is nobody's request. */
function isOwn(event: Event): boolean {
  return event.type !== "chat_request" || event.metadata?.origin !== "harness";
}

/** Whether every word of a title stands in a request: agents make titles of a part of it, and cut them. */
function isMadeOf(title: string, request: string): boolean {
  const words = title.replace(/…$/, "").split(/\s+/);
  return words.every((word) => request.includes(word));
}
