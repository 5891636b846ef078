// The remotes of a store: written down, listed, forgotten, chosen. How conversations are published to one is said once, when it
// is added, and shown whenever something is sent there.
import { resolve } from "node:path";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import {
  checkRemoteName,
  checkRemoteUrl,
  isLocalPath,
  isSameRepository,
  type PublishedAs,
  shownUrl,
} from "../../core/remote-address.ts";
import { shellWord } from "../../core/safe-text.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { NewRemote, ProjectRemote, Remote, Sharing } from "../../store/sharing.ts";
import { projectRemotes } from "../workspace/git-program.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A remote as it is listed; addresses as they may be shown. */
export interface RemoteRow {
  readonly name: string;
  readonly url: string;
  readonly as: PublishedAs;
  /** Branches seen there last. */
  readonly branches: number;
}

/** What `remote add` wrote down. */
export interface AddedRemote extends Omit<RemoteRow, "branches"> {
  /** Whether the project itself is pushed there. */
  readonly ofProject: boolean;
}

/** The sharing of a store. Throws `needs_git`. */
export function requireSharing({ store, runtime }: Workspace): Sharing {
  if (store.sharing === null) throw needsGit("Sharing conversations", runtime.env);
  return store.sharing;
}

/**
 * Adds a remote. Unless `as` says otherwise, conversations are hidden refs where the project itself is pushed, and branches
 * elsewhere. Throws `needs_git`, `bad_remote_name`, `bad_remote_url`, `remote_exists`.
 */
export async function addRemote(
  workspace: Workspace,
  { name, url, as, filter }: Omit<NewRemote, "as"> & { readonly as?: PublishedAs },
): Promise<AddedRemote> {
  const sharing = requireSharing(workspace);
  const place = absoluteUrl(workspace, checkRemoteUrl(url));
  const ofProject = (await projectRemotes(workspace)).some((remote) => isSameRepository(remote.url, place));
  const added = { name: checkRemoteName(name), url: place, as: as ?? (ofProject ? "hidden" : "branches") } as const;
  await sharing.addRemote({ ...added, ...defined({ filter }) });
  return { ...added, url: shownUrl(place), ofProject };
}

/** Lists the remotes. */
export async function listRemotes(workspace: Workspace): Promise<readonly RemoteRow[]> {
  const sharing = requireSharing(workspace);
  const rows: RemoteRow[] = [];
  for (const { name, pushUrl, as } of await sharing.remotes())
    rows.push({ name, url: shownUrl(pushUrl), as, branches: (await sharing.tracked(name)).length });
  return rows;
}

/** Forgets a remote; what stands there stays. Throws `unknown_remote`. */
export async function removeRemote(workspace: Workspace, name: string): Promise<Remote> {
  const remote = await findRemote(workspace, name);
  await requireSharing(workspace).removeRemote(remote.name);
  return remote;
}

/** The remote of a name. Throws `unknown_remote`. */
export async function findRemote(workspace: Workspace, name: string): Promise<Remote> {
  const remotes = await requireSharing(workspace).remotes();
  const found = remotes.find((remote) => remote.name === name);
  if (found !== undefined) return found;
  throw userError("unknown_remote", `There is no remote ${name}.`, {
    hints: [
      remotes.length === 0
        ? "`jpg remote add NAME URL` adds one."
        : `Remotes: ${remotes.map((one) => one.name).join(", ")}.`,
    ],
  });
}

/** The remote that a command is about: the one that was named, else the only one, else `origin`; null when there is none. Throws `unknown_remote`, `which_remote`. */
export async function chooseRemote(
  workspace: Workspace,
  { name, flag }: { readonly name: string | undefined; readonly flag: "--to" | "--from" },
): Promise<Remote | null> {
  if (name !== undefined) return findRemote(workspace, name);
  const remotes = await requireSharing(workspace).remotes();
  const [only, ...more] = remotes;
  if (only === undefined || more.length === 0) return only ?? null;
  const origin = remotes.find((remote) => remote.name === "origin");
  if (origin !== undefined) return origin;
  const names = remotes.map((remote) => remote.name);
  throw userError("which_remote", `Which remote: ${names.join(", ")}?`, { hints: [`Say ${flag} ${names[0]}.`] });
}

/** The `origin` of the project around, on which conversations can stand beside the code; null when there is none. */
export async function projectOrigin(workspace: Workspace): Promise<ProjectRemote | null> {
  return (await projectRemotes(workspace)).find(({ name }) => name === "origin") ?? null;
}

/** The error of a command that needs a remote where there is none. */
export function noRemote(origin: ProjectRemote | null): Error {
  const own = "`jpg remote add NAME URL --as branches` adds a repository made for conversations.";
  const hints =
    origin === null
      ? [own]
      : [
          `\`jpg remote add origin ${shellWord(shownUrl(origin.url))} --as hidden\` adds the project's own, with hidden refs.`,
          own,
        ];
  return userError("no_remote", "This store has no remote.", { hints });
}

function absoluteUrl({ runtime }: Workspace, url: string): string {
  return isLocalPath(url) ? resolve(runtime.cwd, url) : url;
}
