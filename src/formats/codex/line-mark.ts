// How a line of a rollout that jpg wrote is known again: its id stands beside the frame, where Codex leaves it alone.

/** The key of the id. */
export const LINE_MARK = "jpg";
