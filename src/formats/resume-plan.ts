// How an agent goes on with a session that jpg wrote for it.

/** How a session is resumed. */
export interface ResumePlan {
  /** Where its file goes, absolute. */
  readonly path: string;
  /** Where the agent may have moved it since, absolute: a session that stands there is not written again. Absent = it moves none. */
  readonly elsewhere?: readonly string[];
  /** Program and arguments that have to be run first, e.g. to take the file into the agent's own store; absent = none. */
  readonly before?: readonly string[];
  /** What the agent's own store holds of the session; absent = the file is all that it works on. */
  readonly held?: HeldSession;
  /** Program and arguments that go on with it; both are run in the project's directory. */
  readonly command: readonly string[];
  /** What to say when the file cannot be written. */
  readonly hints: readonly string[];
}

/** A session in an agent's own store: one that the agent went on with is not handed to it a second time. */
export interface HeldSession {
  /** Program and arguments that print it, run in the user's home folder, where no project has a say; fails when there is none. */
  readonly command: readonly string[];
  /** Whether what was printed is the session as it was written, and nothing more; null = it is not the session. Never throws. */
  isAsWritten(printed: string): boolean | null;
}
