// Writes a view as a session of pi: its header, jpg's side line, the name, the entries. The same export is the same bytes.
import type { SessionDraft } from "../agent-format.ts";
import { lineUuid } from "../derived-ids.ts";
import { NO_DATE } from "../timestamp.ts";
import { createEntryChain } from "./export-chain.ts";
import { addView } from "./export-messages.ts";
import { createOriginBody } from "./origin.ts";

/** The version of the format that is written. */
const VERSION = 3;

/** Gives the time at which a session begins, RFC 3339 UTC. */
export function sessionTime({ view }: Pick<SessionDraft, "view">): string {
  return view.turns[0]?.events[0]?.timestamp ?? NO_DATE;
}

/** Gives the text of the session's file. */
export function writePiSession({ view, sessionId, origin, cwd, title, model, sha1 }: SessionDraft): string {
  const timestamp = sessionTime({ view });
  const chain = createEntryChain((name) => lineUuid(sessionId, name, sha1));
  chain.add({ key: "", timestamp, body: createOriginBody(origin, sessionId) });
  if (title !== "") chain.add({ key: "", timestamp, body: { type: "session_info", name: title } });
  addView(chain, view, model);
  const header = { type: "session", version: VERSION, id: sessionId, timestamp, cwd };
  return [header, ...chain.entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}
