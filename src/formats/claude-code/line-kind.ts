// What a line is to the conversation, decided from the line alone: what the agent sends, what opens a turn, what is only
// the agent's own book-keeping.

import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { renderAttachment } from "./attachment-text.ts";
import { messageBlocks } from "./line.ts";

/**
 * `prompt` the user's request · `command` a `/command` typed by the user, a request only when the model answers it ·
 * `harness` user text made by the agent (meta lines, local command output, interrupt markers) · `result` tool results ·
 * `assistant` · `attachment` sent by the agent · `summary` and `boundary` of a compaction · `side` never sent.
 */
export type LineKind =
  | "prompt"
  | "command"
  | "harness"
  | "result"
  | "assistant"
  | "attachment"
  | "summary"
  | "boundary"
  | "side";

const HARNESS_TEXT = /^\s*(?:<local-command-|<bash-stdout>|<bash-stderr>|\[Request interrupted by user)/;
const COMMAND_TEXT = /^\s*<command-name>/;

/** Tells what a line is; `model` is the one that the conversation was with before it, absent = none yet. */
export function kindOfLine(line: RawLine, model?: string): LineKind {
  switch (line["type"]) {
    case "user":
      return kindOfUserLine(line);
    case "assistant":
      return line["isApiErrorMessage"] === true || messageBlocks(line) === undefined ? "side" : "assistant";
    case "attachment":
      return isSentAttachment(line, model) ? "attachment" : "side";
    case "system":
      return line["subtype"] === "compact_boundary" ? "boundary" : "side";
    default:
      return "side";
  }
}

/** A prompt that the user typed meanwhile may be a picture without a word. */
function isSentAttachment(line: RawLine, model: string | undefined): boolean {
  return recordOf(line, "attachment")?.["type"] === "queued_command" || renderAttachment(line, model) !== "";
}

function kindOfUserLine(line: RawLine): LineKind {
  const blocks = messageBlocks(line);
  if (blocks === undefined) return "side";
  if (line["isCompactSummary"] === true) return "summary";
  if (blocks.some((block) => block["type"] === "tool_result")) return "result";
  if (line["isMeta"] === true || isNotification(line)) return "harness";
  const text = firstText(blocks);
  if (HARNESS_TEXT.test(text)) return "harness";
  return COMMAND_TEXT.test(text) ? "command" : "prompt";
}

/** Whether a line in the user's place was written by the agent when a task in the background ended. */
export function isNotification(line: RawLine): boolean {
  return recordOf(line, "origin")?.["kind"] === "task-notification";
}

function firstText(blocks: readonly RawLine[]): string {
  const first = blocks.find((block) => block["type"] === "text");
  return first === undefined ? "" : (stringOf(first, "text") ?? "");
}

/** Whether lines of this kind become events that a model is sent. */
export function isSent(kind: LineKind): boolean {
  return kind !== "side" && kind !== "boundary" && kind !== "summary";
}
