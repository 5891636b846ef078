// The results of the tools `search` and `show` of a query, as JSON: hits in one conversation, the text of one of its events.
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { forJson } from "../../core/safe-text.ts";
import { withActiveBranch } from "../conversation/checked-out.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { searchConversations } from "../look/search.ts";
import { readEventText, show } from "../look/show.ts";

/** Hits, and characters of a text, at most: they fill the model's window. */
const MAX_HITS = 10;
const MAX_CHARACTERS = 20_000;

/** Ranks the events of a branch by words. Throws as searching does. */
export async function searchBack(workspace: Workspace, branch: string, pattern: string): Promise<string> {
  const { hits, cut } = await searchConversations(workspace, { pattern, rank: true, limit: MAX_HITS, id: branch });
  const rows = hits.map(({ turn, event, type, state, line, alike }) => ({ turn, id: event, type, state, line, alike }));
  return toJson({ hits: rows, more: cut });
}

/** Returns an event of a branch's conversation. Throws `unknown_id`, and `not_here` if it is in another one. */
export async function showBack(
  workspace: Workspace,
  branch: string,
  { id, offset }: { readonly id: string; readonly offset: number },
): Promise<string> {
  const place = withActiveBranch(workspace, branch);
  const report = await show(place, id);
  if (report.kind !== "event" || conversationOf(report.branch) !== conversationOf(branch))
    throw userError("not_here", `${id} is not an event of this conversation.`, {
      hints: ["`search` gives their ids."],
    });
  const text = await readEventText(place, report);
  const { turn, event, state } = report;
  const shown = text.slice(offset, offset + MAX_CHARACTERS);
  return toJson({ turn, type: event.type, state, text: shown, offset, total_chars: text.length });
}

function toJson(value: object): string {
  return forJson(JSON.stringify(value, null, 1));
}
