// Writes a view as a session file that Claude Code resumes. Invariant: what the agent then sends is exactly the thread, as
// far as it sends anything exactly (it drops thinking of another model family and repairs an unanswered end).
import type { View } from "../../core/conversation/event.ts";
import type { Thread } from "../../core/model/thread.ts";
import { createOriginLine } from "../export-origin.ts";
import type { ExportOrigin } from "../imported-session.ts";
import { createLineChain } from "./export-lines.ts";
import { addThread } from "./export-messages.ts";

/** What to export and how to name it. */
export interface ClaudeExportInput {
  readonly thread: Thread;
  /** The projection the thread was made from. */
  readonly view: View;
  /** UUID; the file must be named `<sessionId>.jsonl`. */
  readonly sessionId: string;
  /** Gives the UUID of a line for its name, see `line-names.ts`. */
  readonly lineId: (sourceId: string) => string;
  readonly origin: ExportOrigin;
  readonly cwd: string;
  /** Shown by the agent's list of sessions; absent = the agent shows the first request. */
  readonly title?: string;
  readonly version?: string;
  readonly gitBranch?: string;
}

/** A session file. */
export interface ClaudeExport {
  /** JSON lines, each ended by a newline; the first names the origin. */
  readonly text: string;
  /** Event or compaction each line shows, by the line's UUID; their names are those of `line-names.ts`. */
  readonly lines: ReadonlyMap<string, string>;
}

/** Version written when none is given: the one this form was verified with. */
const VERIFIED_VERSION = "2.1.330";

/** Exports a view to Claude Code. */
export function exportClaudeCode(input: ClaudeExportInput): ClaudeExport {
  const { sessionId, cwd, version = VERIFIED_VERSION, gitBranch } = input;
  const chain = createLineChain({ sessionId, cwd, version, gitBranch }, input.lineId);
  addThread(chain, input.thread, input.view);
  const title = input.title === undefined ? [] : [{ type: "custom-title", customTitle: input.title, sessionId }];
  const lines = [createOriginLine(input.origin, sessionId), ...title, ...chain.lines];
  return { text: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`, lines: chain.shown };
}
