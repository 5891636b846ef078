// Sending conversations to other repositories and getting theirs: what an engine has to offer for it. Only the git program
// does it: over its transports, with the user's credentials.
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
  /** Makes a branch of the same name that follows the remote's. Throws `git_failed` when there is one. */
  track(branch: RemoteBranch): Promise<void>;
}

/** A remote of a store, as the store's own git configuration has it. */
export interface Remote {
  readonly name: string;
  /** Where conversations come from, as it was written. */
  readonly url: string;
  /** Where they are sent. */
  readonly pushUrl: string;
  readonly as: PublishedAs;
}

/** A remote to be written down. */
export interface NewRemote extends Pick<Remote, "name" | "url" | "as"> {
  /** Objects that are left there until they are read: the store is a partial clone from then on. Absent = none. */
  readonly filter?: "blob:none";
}

/** A remote of a project: where the project is pushed to. */
export interface ProjectRemote {
  readonly name: string;
  readonly url: string;
  /** Whether a push there mirrors: it deletes whatever refs the project does not have. */
  readonly isMirror: boolean;
}

/** A branch as it stands elsewhere, or is sent there: its name on this side, and its commit. */
export interface RemoteTip {
  readonly name: string;
  readonly commit: string;
}

/** What stands at an address. */
export interface RemoteRefs {
  /** Branches; ordered by name, `name` without `refs/heads/`. */
  readonly branches: readonly RemoteTip[];
  /** Hidden refs; `name` without `refs/jpg/conversations/`. */
  readonly hidden: readonly RemoteTip[];
  /** The branch that HEAD names there; null when it names none that exists. */
  readonly head: string | null;
}

/** How a transfer is watched. */
export interface TransferOptions {
  readonly signal?: AbortSignal;
  /** Whether git may ask the person at the terminal for a name and password; default false. */
  readonly interactive?: boolean;
  /** Told what git says, a line at a time, as it is; one that does not stand is written over, "" when git has ended. */
  readonly progress?: (line: string, stands: boolean) => void;
}

/** What became of a branch that was sent. */
export interface PushedBranch {
  readonly name: string;
  /** `behind`: the remote has commits that are not here. `refused`: the other side does not take it. */
  readonly status: "sent" | "unchanged" | "behind" | "refused";
  /** In git's words; "" when there is nothing to say. */
  readonly reason: string;
  /** What the other side printed where it does not take a branch, e.g. its hooks, in a line; absent = nothing. */
  readonly said?: string;
  /** The commit that stood there before, where one that was sent went on with it. */
  readonly over?: string;
}

/** Objects that a push sends: all that the tips reach and the known commits do not. */
export interface OutgoingObjects {
  readonly tips: readonly string[];
  /** Commits that the other side has; each is here. */
  readonly known: readonly string[];
}

/** An object with content of its own that leaves. */
export interface OutgoingObject {
  readonly oid: string;
  readonly kind: "blob" | "commit" | "tag";
  /** Of a blob, a path that it has; of a tag, its name where git gives it; else "". */
  readonly path: string;
}

/** What a push sends. */
export interface OutgoingList {
  /** Each once; trees are left out, for paths have their names. */
  readonly objects: readonly OutgoingObject[];
  /** What all of them, trees too, take where they are stored now. */
  readonly bytes: number;
}

/** Two commits that are compared. */
export interface CommitPair {
  readonly one: string;
  readonly other: string;
}

/** Whether a merge leads to its first parent alone: what came by the others is none of the branch's. */
export type FirstParentOnly = (merge: {
  readonly commit: string;
  readonly message: string;
  /** In order, the first is the branch's own. */
  readonly parents: readonly string[];
}) => Promise<boolean>;

/** Each that reaches out throws `remote_*` errors of kind `repository` that say what failed at which address. */
/** What a fetch saw. */
export interface Fetched {
  /** Whether a ref of `refs/remotes/` moved. */
  readonly isMoved: boolean;
  /** Names of the branches that the remote has now. */
  readonly remoteBranches: ReadonlySet<string>;
}

export interface Sharing {
  /** In the order of the configuration. Throws `bad_remote_url` for one that jpg does not reach. */
  remotes(): Promise<readonly Remote[]>;
  /** Writes a remote down. Throws `remote_exists`. */
  addRemote(remote: NewRemote): Promise<void>;
  /** Forgets a remote, with what was fetched from it. */
  removeRemote(name: string): Promise<void>;
  /** Asks an address what it has. */
  listRefs(url: string, options?: TransferOptions): Promise<RemoteRefs>;
  /** Gets what a remote has into `refs/remotes/<name>/`; what is gone from the remote stays there, and local branches where they are. */
  fetch(remote: Remote, options?: TransferOptions): Promise<Fetched>;
  /** Has branches follow those of their names on a remote, as stock git notes it down; none that follows something already. */
  follow(remote: Remote, branches: readonly string[]): Promise<void>;
  /** The branches of a remote as they were last fetched or sent, ordered by name. */
  tracked(name: string): Promise<readonly RemoteTip[]>;
  /** Sends commits to branches of the same names, never overwriting any, and keeps in mind what arrived. */
  push(remote: Remote, tips: readonly RemoteTip[], options?: TransferOptions): Promise<readonly PushedBranch[]>;
  /** Which of these commits are here. */
  present(commits: readonly string[]): Promise<ReadonlySet<string>>;
  /** Lists what a push sends. */
  outgoing(objects: OutgoingObjects): Promise<OutgoingList>;
  /** Which of these tips reach a commit that changed a file; what the known commits reach is passed over. */
  touching(objects: OutgoingObjects, path: string): Promise<readonly string[]>;
  /** Branches with all that they reach, as a git bundle in pieces; the commits are here, under whatever name. */
  bundle(branches: readonly RemoteTip[]): Promise<AsyncIterable<Uint8Array>>;
  /** Forgets what was fetched under the name of a remote. */
  forgetTracked(name: string): Promise<void>;
  /**
   * The best common ancestors of each pair, in order; none where two histories are unrelated. One pass for all where one of two leads
   * to the other. `isAside` absent: as git has it.
   */
  mergeBases(pairs: readonly CommitPair[], firstParentOnly?: FirstParentOnly): Promise<readonly (readonly string[])[]>;
  /** Ids of the conversations that never leave this store. */
  localConversations(): Promise<ReadonlySet<string>>;
  /** Marks a conversation as one that never leaves, or takes the mark away. */
  markLocal(conversation: string, isLocal: boolean): Promise<void>;
}
