// Sending conversations to other repositories and fetching theirs: what an engine offers for it. Only the git program does it,
// over its transports and with the user's credentials.
import type { PublishedAs } from "../core/remote-address.ts";

/** A branch of a remote as it was last fetched. */
export interface RemoteBranch {
  readonly remote: string;
  /** Its name there. */
  readonly name: string;
}

export interface Remotes {
  /** The branches of all remotes, by remote and name. */
  list(): Promise<readonly RemoteBranch[]>;
  /** Creates a branch of the same name that tracks the remote's. Throws `git_failed` when it exists. */
  track(branch: RemoteBranch): Promise<void>;
}

/** A remote of a store, as the store's own git configuration has it. */
export interface Remote {
  readonly name: string;
  /** Where conversations are fetched from, as it was written. */
  readonly url: string;
  /** Where they are pushed to. */
  readonly pushUrl: string;
  readonly as: PublishedAs;
}

export interface NewRemote extends Pick<Remote, "name" | "url" | "as"> {
  /** Objects that stay on the remote until they are read: the store becomes a partial clone. Absent = none. */
  readonly filter?: "blob:none";
}

/** A remote of a project: where the project is pushed to. */
export interface ProjectRemote {
  readonly name: string;
  readonly url: string;
  /** Whether a push there mirrors: it deletes all refs that the project does not have. */
  readonly isMirror: boolean;
}

/** A branch of a remote: its name on this side, and its commit. */
export interface RemoteTip {
  readonly name: string;
  readonly commit: string;
}

export interface RemoteRefs {
  /** Branches; ordered by name, `name` without `refs/heads/`. */
  readonly branches: readonly RemoteTip[];
  /** Hidden refs; `name` without `refs/jpg/conversations/`. */
  readonly hidden: readonly RemoteTip[];
  /** The branch that HEAD names there; null when it names none that exists. */
  readonly head: string | null;
}

export interface TransferOptions {
  readonly signal?: AbortSignal;
  /** Whether git may ask the person at the terminal for a name and password; default false. */
  readonly interactive?: boolean;
  /** Receives git's output line by line; a line with `isFinal` false is overwritten by the next, "" when git has ended. */
  readonly progress?: (line: string, isFinal: boolean) => void;
  /** The name in node of the system whose file names count; absent = this one's. */
  readonly platform?: string;
}

/** The result of pushing a branch. */
export interface PushedBranch {
  readonly name: string;
  /** `behind`: the remote has commits that are not here. `refused`: the other side rejected it. */
  readonly status: "sent" | "unchanged" | "behind" | "refused";
  /** In git's words; "" when there is nothing to say. */
  readonly reason: string;
  /** What the other side printed when it rejected a branch, e.g. its hooks, in one line; absent = nothing. */
  readonly said?: string;
  /** The previous commit of the remote branch, when the pushed one is built on it. */
  readonly over?: string;
}

/** Objects that a push sends: all that the tips reach and the known commits do not. */
export interface OutgoingObjects {
  readonly tips: readonly string[];
  /** Commits that the other side has; each is here. */
  readonly known: readonly string[];
}

/** A blob, commit or tag that is sent. */
export interface OutgoingObject {
  readonly oid: string;
  readonly kind: "blob" | "commit" | "tag";
  /** Of a blob, one of its paths; of a tag, its name where git gives it; else "". */
  readonly path: string;
}

export interface OutgoingList {
  /** Each once; without trees, whose names are in the paths. */
  readonly objects: readonly OutgoingObject[];
  /** Bytes on disk of all of them, including trees. */
  readonly bytes: number;
}

export interface CommitPair {
  readonly one: string;
  readonly other: string;
}

/**
 * Decides whether the history of a merge is followed through its first parent only: commits of the other parents then do not
 * belong to the branch.
 */
export type FirstParentOnly = (merge: {
  readonly commit: string;
  readonly message: string;
  /** In order, the first is the branch's own. */
  readonly parents: readonly string[];
}) => Promise<boolean>;

export interface Fetched {
  /** Whether a ref of `refs/remotes/` moved. */
  readonly isMoved: boolean;
  /** Names of the branches that the remote has now. */
  readonly remoteBranches: ReadonlySet<string>;
  /** Names of those that were left out, because this system cannot keep them. */
  readonly unfit: readonly string[];
}

export interface Sharing {
  /** In the order of the configuration. Throws `bad_remote_url` for one that jpg does not use. */
  remotes(): Promise<readonly Remote[]>;
  /** Adds a remote to the configuration. Throws `remote_exists`. */
  addRemote(remote: NewRemote): Promise<void>;
  /** Removes a remote and what was fetched from it. */
  removeRemote(name: string): Promise<void>;
  /**
   * Asks an address for its refs. Like all methods here that use the network, throws `remote_*` errors of kind `repository`
   * that name the address.
   */
  listRefs(url: string, options?: TransferOptions): Promise<RemoteRefs>;
  /** Fetches a remote into `refs/remotes/<name>/`; keeps refs that are gone from the remote, and moves no local branch. */
  fetch(remote: Remote, options?: TransferOptions): Promise<Fetched>;
  /** Makes branches track those of their names on a remote, as `git clone` does; skips those that track something already. */
  follow(remote: Remote, branches: readonly string[]): Promise<void>;
  /** The branches of a remote as they were last fetched or pushed, ordered by name. */
  tracked(name: string): Promise<readonly RemoteTip[]>;
  /** Pushes commits to branches of the same names, fast-forward only, and records what arrived. */
  push(remote: Remote, tips: readonly RemoteTip[], options?: TransferOptions): Promise<readonly PushedBranch[]>;
  /** Which of these commits are here. */
  present(commits: readonly string[]): Promise<ReadonlySet<string>>;
  /** Lists what a push sends. */
  outgoing(objects: OutgoingObjects): Promise<OutgoingList>;
  /** Which of these tips reach a commit that changed a file, beyond what the known commits reach. */
  touching(objects: OutgoingObjects, path: string): Promise<readonly string[]>;
  /** Creates a git bundle of branches and all that they reach, in pieces; the commits are here, under any name. */
  bundle(branches: readonly RemoteTip[]): Promise<AsyncIterable<Uint8Array>>;
  /** Removes what was fetched under the name of a remote. */
  forgetTracked(name: string): Promise<void>;
  /**
   * The merge bases of each pair, in order; none for unrelated histories. One pass for all pairs in which one is an ancestor of
   * the other. `firstParentOnly` absent: as git computes them.
   */
  mergeBases(pairs: readonly CommitPair[], firstParentOnly?: FirstParentOnly): Promise<readonly (readonly string[])[]>;
  /** Ids of the conversations that are never sent. */
  localConversations(): Promise<ReadonlySet<string>>;
  /** Marks a conversation as one that is never sent, or removes the mark. */
  markLocal(conversation: string, isLocal: boolean): Promise<void>;
}
