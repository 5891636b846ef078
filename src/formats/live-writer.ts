// A view inside the running agent, as changes to what the session itself would send. Pure: the plug-in makes them.
import type { SessionSource } from "./session-source.ts";

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
  readonly replacement: unknown;
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
