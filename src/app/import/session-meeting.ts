// Which sessions may meet in one conversation, so that the second one of a write waits until the first is stored. Asked for each of
// thousands of sessions: what was taken in before is looked up, not looked through.
import type { ExportOrigin } from "../../formats/imported-session.ts";

/** What decides which conversation a session belongs to. */
export interface MeetingNames {
  readonly sessionId: string;
  /** The conversation that jpg exported it from. */
  readonly origin: ExportOrigin | null;
  /** Ids of the sessions that it was forked off. */
  readonly forkedOff: readonly string[];
}

/** The sessions that are being written. */
export interface SessionMeeting {
  /** One that cannot change the store is met by none. */
  add(names: MeetingNames, session: { readonly mayChange: boolean }): void;
  /** Whether a session may meet one of them. */
  awaits(names: MeetingNames): boolean;
}

/** Begins with none. */
export function createMeeting(): SessionMeeting {
  const ids = new Set<string>();
  const forked = new Set<string>();
  let hasOrigin = false;
  return {
    add({ sessionId, origin, forkedOff }, { mayChange }) {
      if (!mayChange) return;
      ids.add(sessionId);
      for (const id of forkedOff) forked.add(id);
      hasOrigin ||= origin !== null;
    },
    awaits({ sessionId, origin, forkedOff }) {
      if (ids.size === 0) return false;
      if (hasOrigin || origin !== null || ids.has(sessionId) || forked.has(sessionId)) return true;
      return forkedOff.some((id) => ids.has(id) || forked.has(id));
    },
  };
}
