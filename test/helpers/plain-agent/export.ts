// Writes a view for the plain agent. It knows requests and answers only: reasoning, calls and their results are left out.

import type { Event } from "../../../src/core/conversation/event.ts";
import { textOfContent } from "../../../src/core/conversation/event.ts";
import type { SessionDraft } from "../../../src/formats/agent-format.ts";
import { createOriginLine, lineName, lineUuid } from "../../../src/formats/imported-session.ts";

/** Gives the text of the session: jpg's side line, then a line for each message. */
export function writePlainSession({ view, sessionId, origin, sha1 }: SessionDraft): string {
  const lines: object[] = [createOriginLine(origin, sessionId)];
  const counts = new Map<string, number>();
  for (const turn of view.turns) {
    for (const event of turn.events) {
      const said = messageOf(event);
      if (said === null) continue;
      const source = turn.origin.kind === "summary" ? turn.origin.compaction : event.id;
      const count = counts.get(source) ?? 0;
      counts.set(source, count + 1);
      lines.push({ id: lineUuid(sessionId, lineName(source, count), sha1), ...said });
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function messageOf(event: Event): { readonly role: "user" | "assistant"; readonly text: string } | null {
  if (event.type === "chat_request") return { role: "user", text: textOfContent(event.content) };
  if (event.type !== "chat_response" || event.message === undefined) return null;
  return { role: "assistant", text: textOfContent(event.message) };
}
