// Writes a view as a session of Gemini CLI: what describes it, then its messages. What stands there is what is sent; the same
// export is the same bytes.
import type { View } from "../../core/conversation/event.ts";
import type { SessionDraft } from "../agent-format.ts";
import { NO_DATE } from "../timestamp.ts";
import { writeMessages } from "./export-messages.ts";
import { createOriginMark, ORIGIN_MARK } from "./origin.ts";

/** Gives the time at which a session begins, RFC 3339 UTC. */
export function startOfView({ turns }: View): string {
  return turns[0]?.events[0]?.timestamp ?? NO_DATE;
}

/** Gives the text of the session's file. The mark of where it comes from stands before what the first message says. */
export function writeGeminiSession(draft: SessionDraft): string {
  const { view, sessionId, origin, cwd, title, sha256 } = draft;
  const [first, ...rest] = writeMessages(draft);
  const startTime = startOfView(view);
  const header = {
    sessionId,
    projectHash: sha256(cwd),
    startTime,
    lastUpdated: view.turns.at(-1)?.events.at(-1)?.timestamp ?? startTime,
    kind: "main",
    ...(title !== "" && { summary: title }),
  };
  const mark = createOriginMark(origin, sessionId);
  const lines =
    first === undefined ? [header, mark] : [header, { id: first["id"], [ORIGIN_MARK]: mark, ...first }, ...rest];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
