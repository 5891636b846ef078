// Writes a view as a session that `opencode import` takes: its description with jpg's side line, and its messages. The same export
// is the same bytes.
import type { SessionDraft } from "../agent-format.ts";
import { createMessageChain } from "./export-chain.ts";
import { addMessages } from "./export-messages.ts";
import { createOriginMetadata } from "./origin.ts";

/** Version that this form was verified with. */
const VERIFIED_VERSION = "1.18.33";

/** Gives the text of the session's file. */
export function writeOpenCodeSession(draft: SessionDraft): string {
  const { view, sessionId, origin, cwd, title, model } = draft;
  const created = Date.parse(view.turns[0]?.events[0]?.timestamp ?? "") || 0;
  const chain = createMessageChain(draft, created);
  addMessages(chain, view, model);
  const info = {
    id: sessionId,
    slug: "jpg",
    projectID: "global",
    directory: cwd,
    title,
    version: VERIFIED_VERSION,
    metadata: createOriginMetadata(origin, sessionId),
    time: { created, updated: chain.time() },
  };
  return `${JSON.stringify({ info, messages: chain.messages }, null, 1)}\n`;
}
