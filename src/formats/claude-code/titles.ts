// Titles of a session: the first words of the first request, and those that the agent or the user gave it later.
import type { Event } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import type { SessionIndex } from "./session-index.ts";

/** Later titles, oldest first. Repetitions (also of `before`), and titles that name another session's messages, are left out. */
export function readTitles(
  index: Pick<SessionIndex, "titles" | "nodes">,
  sessionId: string,
  before?: string,
): ImportedSession["titles"] {
  const titles: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, timestamp, raw } of index.titles) {
    const title = shownTitle(titleText(index, raw) ?? "");
    if (title !== "" && title !== (titles.at(-1)?.title ?? before))
      titles.push({ timestamp, title, id: `${sessionId}.${line}` });
  }
  return titles;
}

function titleText(index: Pick<SessionIndex, "nodes">, raw: RawLine): string | undefined {
  if (raw["type"] !== "summary") return stringOf(raw, "customTitle") ?? stringOf(raw, "aiTitle");
  return index.nodes.has(stringOf(raw, "leafUuid") ?? "") ? stringOf(raw, "summary") : undefined;
}

/** The first words of the first request among the events, on one line; absent when there is no request of the user. */
export function titleOfEvents(events: readonly Event[]): string | undefined {
  for (const event of events) {
    if (event.type !== "chat_request" || event.metadata?.origin === "harness") continue;
    const title = titleOfRequest(unwrapCommand(textOf(event.content)));
    if (title !== "") return title;
  }
  return undefined;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join(" ");
}

/** A `/command` line as the user typed it. */
function unwrapCommand(text: string): string {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (name === undefined) return text;
  const argumentsText = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? "";
  return `${name} ${argumentsText}`;
}
