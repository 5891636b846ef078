// What an importer yields for one session file: turns read on demand, the agent's own compactions, and where each turn
// begins in the file. A pure function of the source text and the importer's version.
import type { Compaction } from "../core/conversation/compaction.ts";
import type { ToolDefinition } from "../core/conversation/defined-tools.ts";
import type { Event } from "../core/conversation/event.ts";
import type { SessionPart } from "./session-descent.ts";
import type { SessionMark } from "./session-mark.ts";

/** A line that is no event: `line` is 1-based as editors count; in a document, the position of the message. */
export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
}

/** Names the conversation, branch and commit that an exported session came from. */
export interface ExportOrigin {
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string;
  /** The last turn that was exported, 0-based; absent = all of the commit's. */
  readonly turn?: number;
}

/** A chain of turns. */
export interface ImportedTurns {
  readonly turnCount: number;
  /**
   * Events of one turn, turn_start first (without `prev`). Deterministic; callable in any order. An event's id is that of its
   * line, message or part, without a dot, and for further events of the same one `<id>.<n>`.
   */
  readTurn(index: number): readonly Event[];
}

/** The tools that the agent offers its model from a line on. */
export interface ToolList {
  /** The turn that the line stands in, 0-based. */
  readonly turn: number;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** From the source's ids. */
  readonly id: string;
  readonly tools: readonly ToolDefinition[];
}

/** Settings of jpg's that the session has from a line on: those that a conversation may have. */
export interface SettingsChange {
  /** The turn that the line stands in, 0-based. */
  readonly turn: number;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** From the source's ids. */
  readonly id: string;
  /** Nested as in the settings. */
  readonly delta: Readonly<Record<string, unknown>>;
}

/** A branch of the session that the agent left. */
export interface AbandonedBranch extends ImportedTurns {
  /** Short name, `[a-z0-9-]+`, from the source's ids: the same at every import. */
  readonly name: string;
  /** How many of its first turns it shares, whole, with the active path. */
  readonly commonTurns: number;
}

export interface ImportedSession extends ImportedTurns {
  /** Format name, e.g. `claude-code`. */
  readonly format: string;
  /** Version of the importer: part of what an import is a function of. */
  readonly importer: number;
  /** The session's own id, as in its file; must match `[A-Za-z0-9._-]{1,128}` or be replaced by a digest-like name. */
  readonly sessionId: string;
  /** First words of the first request, one line. */
  readonly title: string;
  /** Later titles given by the agent or user, oldest first. */
  readonly titles: readonly { readonly timestamp: string; readonly title: string; readonly id: string }[];
  /** What it offered its model, one list a change, oldest first; absent = the format does not tell. */
  readonly toolLists?: readonly ToolList[];
  /** What it sets for its conversation, oldest first; absent = the format does not tell. */
  readonly settings?: readonly SettingsChange[];
  /** RFC 3339 UTC of the first dated line. */
  readonly createdAt: string;
  /** Working directory of the session, when the file names one. */
  readonly cwd?: string;
  /** Line (0-based) at which a turn's piece of the source begins; rises with the turn; 0 for turn 0. Not asked of documents. */
  turnLine(index: number): number;
  /** Whether the file holds a line, message or part of this id, sent or not. */
  hasLine(id: string): boolean;
  /** Timestamp of a turn's turn_start, without reading the turn. */
  turnTime(index: number): string;
  /** The agent's own compactions, oldest first; `covers`, `basis` and `stats.tokens` are filled in by the caller. */
  readonly compactions: readonly Compaction[];
  /** Those of them, by id, that jpg wrote into an export as they are: its conversation has them. Absent = none. */
  readonly exportedCompactions?: ReadonlySet<string>;
  /** Turn during or after which each compaction was made, by compaction id: its commit follows that turn's commit. */
  readonly compactionTurns: ReadonlyMap<string, number>;
  readonly abandoned: readonly AbandonedBranch[];
  readonly skippedLines: readonly SkippedLine[];
  /** Sessions of agents that it began, which stand in its own file; absent = there are none. */
  readonly parts?: readonly SessionPart[];
  /** Present when jpg exported this file. */
  readonly origin?: ExportOrigin;
  /** The session that jpg exported, where the agent copied it into one with an id of its own; absent = this one. */
  readonly exportedAs?: string;
  /**
   * The first turn that was read, of a file that was read from a mark: turns, lines and titles before it, abandoned branches and
   * `hasLine` must not be asked for. Absent = all were.
   */
  readonly firstTurn?: number;
  /** What to read the file from once it has grown; null where it has to be read whole. Absent in formats that cannot. */
  mark?(): SessionMark | null;
}
