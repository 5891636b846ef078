// The titles that a session of Codex was given after its first request.
import { shownTitle } from "../../core/conversation/marks.ts";
import type { ImportedSession } from "../imported-session.ts";
import type { RolloutIndex } from "./rollout-index.ts";

/** Later titles, oldest first; repetitions are left out, also of the one before. */
export function readThreadNames(
  { titles, sessionId }: Pick<RolloutIndex, "titles" | "sessionId">,
  before?: string,
): ImportedSession["titles"] {
  const shown: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, timestamp, title: given } of titles) {
    const title = shownTitle(given);
    if (title !== "" && title !== (shown.at(-1)?.title ?? before))
      shown.push({ timestamp, title, id: `${sessionId}.${line}` });
  }
  return shown;
}
