// What a line of a session is for. Much of what Copilot CLI writes down says a second time what a message says, or tells how a
// call went on its way: it makes no event, and lives on in the sources of the conversation.
import { type RawLine, stringOf } from "../json-line.ts";
import { dataOf } from "./line.ts";

export type CopilotKind =
  /** Words of the user. */
  | "prompt"
  /** Words of the agent in the user's name. */
  | "harness"
  /** What the model said. */
  | "answer"
  /** What came of a call. */
  | "output"
  /** What no model sees. */
  | "note"
  /** What other lines say as well. */
  | "silent";

const KINDS: ReadonlyMap<unknown, CopilotKind> = new Map<unknown, CopilotKind>([
  ["user.message", "prompt"],
  ["system.notification", "harness"],
  ["assistant.message", "answer"],
  ["tool.execution_complete", "output"],
  ["assistant.turn_start", "silent"],
  ["assistant.turn_end", "silent"],
  ["assistant.reasoning", "silent"],
  ["tool.execution_start", "silent"],
  ["tool.execution_partial_result", "silent"],
  ["tool.execution_progress", "silent"],
  ["hook.start", "silent"],
  ["hook.end", "silent"],
  ["permission.requested", "silent"],
]);

/** Tells what a parsed line is for. What a sub-agent said and did is noted: its caller's model sees only what it answered. */
export function kindOfCopilotLine(line: RawLine): CopilotKind {
  const kind = KINDS.get(line["type"]) ?? "note";
  const caller = stringOf(dataOf(line), "parentToolCallId") ?? "";
  return caller !== "" && kind !== "silent" ? "note" : kind;
}
