// Gets what a remote has, and moves nothing of one's own.
import { type PublishedAs, shownUrl } from "../../core/remote-address.ts";
import type { Remote, TransferOptions } from "../../store/sharing.ts";
import type { BranchTip } from "../../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { requireSharing } from "./remotes.ts";

/** Where conversations come from or go to. */
export interface RemotePlace {
  readonly remote: string;
  /** The address, as it may be shown. */
  readonly url: string;
  readonly as: PublishedAs;
}

/** Where a remote's conversations come from. */
export function fetchedPlace({ name, url, as }: Remote): RemotePlace {
  return { remote: name, url: shownUrl(url), as };
}

/** What a fetch brought. */
export interface FetchReport extends RemotePlace {
  readonly branches: readonly { readonly branch: string; readonly status: "new" | "updated" }[];
  /** Branches that the remote had when it was last looked at, and has no more. */
  readonly gone: readonly string[];
  /** Branches that the remote has, new ones among them. */
  readonly total: number;
}

/** Fetches from a remote. Throws `remote_*`, `store_programs`. */
export async function fetchConversations(
  workspace: Workspace,
  remote: Remote,
  options: TransferOptions,
): Promise<FetchReport> {
  const sharing = requireSharing(workspace);
  const before = byName(await sharing.tracked(remote.name));
  const { there } = await sharing.fetch(remote, options);
  const after = await sharing.tracked(remote.name);
  const gone = goneFrom(after, there);
  return {
    ...fetchedPlace(remote),
    branches: after.flatMap(({ name, commit }) => {
      const old = before.get(name);
      return old === commit ? [] : [{ branch: name, status: old === undefined ? "new" : "updated" } as const];
    }),
    gone,
    total: after.length - gone.length,
  };
}

/** Names of the branches that a remote had and has no more; `there` = what it has. */
export function goneFrom(tracked: readonly BranchTip[], there: ReadonlySet<string>): readonly string[] {
  return tracked.flatMap(({ name }) => (there.has(name) ? [] : [name]));
}

function byName(tips: readonly BranchTip[]): ReadonlyMap<string, string> {
  return new Map(tips.map(({ name, commit }) => [name, commit]));
}
