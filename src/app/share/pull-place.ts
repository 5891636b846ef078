// Where conversations come from where no remote is set: the origin of the project around, if any stand there as hidden refs.
import { shownUrl } from "../../core/remote-address.ts";
import type { Remote, TransferOptions } from "../../store/sharing.ts";
import { listRefsAt } from "../workspace/git-program.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { addRemote, findRemote, noRemote, projectOrigin } from "./remotes.ts";

/**
 * Takes the project's origin as the remote when conversations stand there, hidden refs; makes the store where there is none.
 * Null when none do. Throws `no_remote`, `remote_*`.
 */
export async function adoptOrigin(workspace: Workspace, options: TransferOptions): Promise<Remote | null> {
  const origin = await projectOrigin(workspace);
  if (origin === null) throw noRemote(origin);
  // Until the remote is written down there may be no store.
  const { hidden } = await listRefsAt(workspace.runtime, origin.url, options);
  if (hidden.length === 0) return null;
  const { name } = await addRemote(workspace, { ...origin, as: "hidden" });
  return findRemote(workspace, name);
}

/** What to say where the project's origin has no conversations. */
export async function sayNothingThere(workspace: Workspace): Promise<string> {
  const origin = await projectOrigin(workspace);
  return `There is no conversation on ${origin?.name ?? "the remote"} (${shownUrl(origin?.url ?? "")}) yet: \`jpg push\` sends some.`;
}
