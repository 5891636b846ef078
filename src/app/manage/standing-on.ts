// A workspace as seen from one of its branches: what JPG_CONVERSATION does for a terminal, for one call.
import type { Workspace } from "../workspace/workspace.ts";

/** Gives the workspace with `@` standing for a branch; nothing in the store changes. */
export function standingOn(workspace: Workspace, branch: string): Workspace {
  const { runtime } = workspace;
  return { ...workspace, runtime: { ...runtime, env: { ...runtime.env, JPG_CONVERSATION: branch } } };
}
