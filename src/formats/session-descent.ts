// Where a session comes from, as its own file says: another session's agent began it, or it goes on from a copy of another.
import type { RawLine } from "./json-line.ts";
import { stringOf } from "./json-line.ts";

/** What a session comes from. */
export interface SessionDescent {
  /** `agent`: another session began it to have something done. `fork`: it goes on from a copy of the other's beginning. */
  readonly kind: "agent" | "fork";
  /** Ids of the sessions it comes from, as `AgentFormat.sessionId` gives them, the nearest first. Never empty. */
  readonly sessions: readonly string[];
  /** The call of the nearest one that began it; absent where the files do not say. */
  readonly call?: string;
  /** What the nearest one's results call it; absent = by its session's id. */
  readonly name?: string;
}

/** Lines of a session's file that are a session of an agent which it began. */
export interface SessionPart {
  /** 0-based, rising, never empty. */
  readonly lines: readonly number[];
  /** The call that began it. */
  readonly call?: string;
}

/** Reads a text under a key that is not blank; absent when it is none. */
export function namedUnder(line: RawLine, key: string): string | undefined {
  const value = stringOf(line, key);
  return value === undefined || value.trim() === "" ? undefined : value;
}
