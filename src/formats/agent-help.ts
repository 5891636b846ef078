// What jpg says of an agent in help texts, messages and docs/formats.md.

/** What help texts and messages say of an agent. */
export interface AgentHelp {
  /** Where its sessions are kept, a sentence. */
  readonly place: string;
  /** A session file, as a user would type it. */
  readonly file: string;
  /** Which files jpg reads and what it makes of them, sentences. */
  readonly reads: string;
  /** What does not come in with a session, or does not go out, a sentence each; the bytes of the file are kept all the same. */
  readonly lost: readonly string[];
  /** A file that `jpg export -o` writes for it, and what takes that file; absent when it takes none, or jpg writes none. */
  readonly takes?: { readonly file: string; readonly by: string };
  /** The command that gives it the tools of `jpg mcp`. */
  readonly addServer?: string;
}
