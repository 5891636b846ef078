// Which conversations of a store are masked copies of which others, so that a copy can be brought up to date.

/** A conversation and what was made of it. */
export interface MaskedCopy {
  /** Ids of the conversation and of its copy. */
  readonly original: string;
  readonly copy: string;
  /** Digest of what was to be masked. */
  readonly request: string;
  /** By branch of the original: its tip, the branch of the copy, and the tip that was made of it. */
  readonly branches: Readonly<Record<string, { readonly from: string; readonly name: string; readonly to: string }>>;
  /** By fingerprint of a secret. */
  readonly masks: Readonly<Record<string, string>>;
}

/** What a store knows of its masked copies. */
export interface MaskedCopies {
  /** Lists the copies, oldest first. */
  list(): Promise<readonly MaskedCopy[]>;
  /** Keeps a copy in mind, in place of what was known of one of that name. */
  record(copy: MaskedCopy): Promise<void>;
  /** Forgets all that is known of conversations, as originals or as copies. */
  forget(conversations: ReadonlySet<string>): Promise<void>;
}
