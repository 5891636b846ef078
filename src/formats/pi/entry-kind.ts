// What an entry is to the conversation, told from its type and its message.
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { roleOf, saidMessage } from "./line.ts";

/**
 * - `prompt`: what the user typed
 * - `assistant`: an answer that the agent sends again
 * - `failed`: an answer that was broken off; the agent never sends it again, nor its calls
 * - `result`: what a tool gave
 * - `harness`: what the agent or an extension put in, sent as if the user had said it
 * - `compaction`, `edit`: they change what is sent of the entries before them
 * - `side`: what no model sees
 */
export type EntryKind = "prompt" | "assistant" | "failed" | "result" | "harness" | "compaction" | "edit" | "side";

/** Why an answer ended that is not sent again. */
const FAILED: ReadonlySet<unknown> = new Set(["aborted", "error"]);
const HARNESS_ROLES: ReadonlySet<string> = new Set(["custom", "hookMessage", "branchSummary", "compactionSummary"]);

/** Tells the kind of an entry. */
export function kindOfEntry(line: RawLine): EntryKind {
  switch (line["type"]) {
    case "message":
      return kindOfMessage(line);
    case "custom_message":
      return "harness";
    case "branch_summary":
      return (stringOf(line, "summary") ?? "") === "" ? "side" : "harness";
    case "compaction":
      return "compaction";
    case "context_edit":
      return isEdit(line) ? "edit" : "side";
    default:
      return "side";
  }
}

/** Whether the agent sends an entry of this kind where it stands. */
export function isSentKind(kind: EntryKind): boolean {
  return kind === "prompt" || kind === "assistant" || kind === "result" || kind === "harness";
}

function kindOfMessage(line: RawLine): EntryKind {
  const role = roleOf(line);
  if (role === "user") return "prompt";
  if (role === "assistant") return FAILED.has(saidMessage(line)["stopReason"]) ? "failed" : "assistant";
  if (role === "toolResult") return "result";
  if (role === "bashExecution") return saidMessage(line)["excludeFromContext"] === true ? "side" : "harness";
  return HARNESS_ROLES.has(role) ? "harness" : "side";
}

/** An edit takes an entry out (`null`) or gives it another content. */
function isEdit(line: RawLine): boolean {
  if (stringOf(line, "targetId") === undefined) return false;
  return line["replacement"] === null || recordOf(line, "replacement") !== undefined;
}
