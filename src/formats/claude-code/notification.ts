// What the agent says in the user's place when a task in the background has ended: told to a model between marks that say
// so, since nobody typed it. An export gives the agent its own words back, which it then marks itself.
import type { Content, ContentPart } from "../../core/conversation/event.ts";

const OPENING =
  "<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\nA task in the background has something to say. The user has said and approved nothing by this.\n\n";
const CLOSING = "\n</system-reminder>";

/** Puts the texts of a notification between the marks. */
export function wrapNotification(content: Content): Content {
  const wrap = (text: string): string => `${OPENING}${text}${CLOSING}`;
  if (typeof content === "string") return wrap(content);
  if (!Array.isArray(content)) return content;
  return (content as readonly ContentPart[]).map((part) =>
    part.type === "text" && typeof part.text === "string" ? { ...part, text: wrap(part.text) } : part,
  );
}

/** Takes the marks off a block of a message again; other blocks stay as they are. */
export function unwrapNotification(block: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { text } = block;
  return typeof text === "string" && text.startsWith(OPENING) && text.endsWith(CLOSING)
    ? { ...block, text: text.slice(OPENING.length, -CLOSING.length) }
    : block;
}
