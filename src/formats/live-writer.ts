// A view inside the running agent, as changes to what the session itself would send. Pure: the plug-in makes them.
import type { View } from "../core/conversation/event.ts";
import type { JsonValue, Machine } from "./agent-format.ts";
import type { SessionSource } from "./session-source.ts";

/** How a view gets into a running session. A form that the agent does not take is absent. */
export interface LiveWriter {
  /**
   * Lists the edits that lead from what the session sends now, edits in force included, to the view. The view after an undo
   * gives those that restore. Linear in the session; never throws on data.
   */
  readonly edits?: (session: RunningSession, view: View) => LiveEdits;
  /** Splits a view into a text and the entries after it; null if its end is not the session's own, or nothing precedes it. */
  readonly summary?: (session: RunningSession, view: View) => LiveSummary | null;
  /**
   * File of the edits in force, absolute, for an agent that stores none in its session: `edits` then lists all of them each
   * time. Null for an id that is no file name. Absent = the agent stores edits itself.
   */
  readonly file?: (machine: Machine, sessionId: string) => string | null;
}

export interface RunningSession {
  /** The session as it is now, with everything that the view shows. */
  readonly source: SessionSource;
  /** Id of a line, message or part that jpg wrote, by its name; as `SessionWriter.lineId` with this session's id. */
  lineId(name: string): string;
}

/** An entry or part with another content. */
export interface LiveEdit {
  /** Its id in the session. */
  readonly handle: string;
  /** In the agent's own shape; null = leave it out. */
  readonly replacement: JsonValue;
}

export interface LiveEdits {
  readonly edits: readonly LiveEdit[];
  /** What the view shows in another place or way than the session will send, a sentence each. */
  readonly differences: readonly string[];
  /** To be installed before the edits: the agent's own compaction hides what the view shows. */
  readonly restart?: LiveSummary;
}

/** A text in place of all entries before one. */
export interface LiveSummary {
  readonly text: string;
  /** Id of the first entry that stays. */
  readonly firstKept: string;
}
