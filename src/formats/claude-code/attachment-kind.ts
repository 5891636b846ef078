// What an attachment line says of itself: the text that the agent stored as sent, and whether a person made it.
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";

/** The texts that the agent stored as what it sent for an attachment line; empty in files before 2.1.330. */
export function renderedTexts(line: RawLine): readonly string[] {
  const rendered = line["rendered"] ?? recordOf(line, "attachment")?.["rendered"];
  if (!Array.isArray(rendered)) return [];
  return rendered.filter(isRecord).flatMap((item) => {
    const content = stringOf(item, "content") ?? stringOf(item, "text");
    return content === undefined ? [] : [content];
  });
}

/** Whether it is a prompt that the user typed while the agent was working. */
export function isQueuedPrompt(attachment: RawLine): boolean {
  if (attachment["type"] !== "queued_command" || attachment["isMeta"] === true) return false;
  const mode = attachment["commandMode"];
  return mode === undefined || mode === "prompt";
}
