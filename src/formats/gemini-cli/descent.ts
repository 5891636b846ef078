// Whose sub-agent wrote a session: its file says that it is one, and the folder that Gemini CLI puts it into has the id of the session
// that the user works in, however deep agents began agents.
import { stringOf } from "../json-line.ts";
import type { SessionDescent } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import { findHeader } from "./records.ts";

/** Ids are made so; what a folder of the user's own is called is none. */
const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The session that began a sub-agent's; null for one of the user's, and where the folder has no session's id. */
export function geminiDescent(source: SessionSource, _: string | null, folder = ""): SessionDescent | null {
  const header = findHeader(source);
  if (header?.["kind"] !== "subagent" || !SESSION_ID.test(folder) || stringOf(header, "sessionId") === folder)
    return null;
  return { kind: "agent", sessions: [folder] };
}
