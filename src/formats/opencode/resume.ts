// How OpenCode goes on with a session that jpg wrote: it takes the file into its database, and adds only what it lacks there. What
// it holds already is asked for first, without plug-ins: those of a project are programs of whoever made the project.
import type { Machine, SessionDraft } from "../agent-format.ts";
import { isRecord, parseJsonLine, recordOf, stringOf } from "../json-line.ts";
import type { HeldSession, ResumePlan } from "../resume-plan.ts";
import { writeOpenCodeSession } from "./export.ts";
import { dataFolder, OPENCODE_STORE } from "./store.ts";

/** Plans it. The file stands among jpg's own: OpenCode keeps none. */
export function planOpenCodeResume(machine: Machine, draft: SessionDraft): ResumePlan {
  const { sessionId } = draft;
  const path = machine.join(dataFolder(machine), "jpg", "opencode", `${sessionId}.json`);
  return {
    path,
    before: ["opencode", "import", path],
    held: heldSession(draft),
    command: ["opencode", "-s", sessionId],
    hints: [
      "XDG_DATA_HOME names another folder for jpg's files.",
      "`jpg export --to opencode -o FILE` writes anywhere; `opencode import FILE` takes it.",
    ],
  };
}

function heldSession(draft: SessionDraft): HeldSession {
  return {
    command: OPENCODE_STORE.print(draft.sessionId),
    isAsWritten: (printed) => {
      const held = heldIn(printed);
      if (held === null || held.session !== draft.sessionId) return null;
      return !held.isReverted && held.messages === heldIn(writeOpenCodeSession(draft))?.messages;
    },
  };
}

/** What a printed session holds. */
interface HeldDocument {
  readonly session: string | undefined;
  /** Whether the user took something back in it. */
  readonly isReverted: boolean;
  /** The ids of its messages, as one text. */
  readonly messages: string;
}

function heldIn(text: string): HeldDocument | null {
  const document = parseJsonLine(text);
  if (document === null || typeof document === "string") return null;
  const { info, messages } = document;
  if (!isRecord(info) || !Array.isArray(messages)) return null;
  const ids = messages.map((message: unknown) =>
    isRecord(message) ? (stringOf(recordOf(message, "info") ?? {}, "id") ?? "") : "",
  );
  return {
    session: stringOf(info, "id"),
    isReverted: recordOf(info, "revert") !== undefined,
    messages: JSON.stringify(ids.sort()),
  };
}
