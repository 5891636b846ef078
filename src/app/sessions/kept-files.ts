// What agents keep for this project, what they have in stores of their own among it: those are brought up to date first.
import type { Workspace } from "../workspace/workspace.ts";
import { refreshStores, type StoreFailure } from "./agent-stores.ts";
import { findAgentSessions, type KeptChoice, type KeptSession, projectDirectories } from "./session-files.ts";

/** Sessions of agents, and what could not be had. */
export interface KeptFiles {
  readonly files: readonly KeptSession[];
  readonly failed: readonly StoreFailure[];
}

/** Finds them, of those that are chosen. */
export async function findKeptFiles(
  workspace: Pick<Workspace, "runtime" | "location">,
  choice: KeptChoice = {},
): Promise<KeptFiles> {
  const directories = projectDirectories(workspace);
  const failed = await refreshStores(workspace.runtime, directories, choice);
  return { files: await findAgentSessions(workspace.runtime, directories, choice), failed };
}
