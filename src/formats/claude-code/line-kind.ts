// What a line is to the conversation, decided from the line alone: what the agent sends, what opens a turn, what is only
// the agent's own book-keeping.
import { isSentAttachment } from "./attachment-kind.ts";
import { messageBlocks, type RawLine, stringOf } from "./line.ts";

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

/** Tells what a line is. */
export function kindOfLine(line: RawLine): LineKind {
  switch (line["type"]) {
    case "user":
      return kindOfUserLine(line);
    case "assistant":
      return line["isApiErrorMessage"] === true || messageBlocks(line) === undefined ? "side" : "assistant";
    case "attachment":
      return isSentAttachment(line) ? "attachment" : "side";
    case "system":
      return line["subtype"] === "compact_boundary" ? "boundary" : "side";
    default:
      return "side";
  }
}

function kindOfUserLine(line: RawLine): LineKind {
  const blocks = messageBlocks(line);
  if (blocks === undefined) return "side";
  if (line["isCompactSummary"] === true) return "summary";
  if (blocks.some((block) => block["type"] === "tool_result")) return "result";
  if (line["isMeta"] === true) return "harness";
  const text = firstText(blocks);
  if (HARNESS_TEXT.test(text)) return "harness";
  return COMMAND_TEXT.test(text) ? "command" : "prompt";
}

function firstText(blocks: readonly RawLine[]): string {
  const first = blocks.find((block) => block["type"] === "text");
  return first === undefined ? "" : (stringOf(first, "text") ?? "");
}

/** Whether lines of this kind become events that a model is sent. */
export function isSent(kind: LineKind): boolean {
  return kind !== "side" && kind !== "boundary" && kind !== "summary";
}
