// Makes a conversation store, or completes one, and says where it is.
import { resolve } from "node:path";
import type { Runtime } from "./runtime.ts";
import { createWorkspaceStore, locate } from "./workspace.ts";

export interface InitReport {
  /** Absolute path of the store. */
  readonly path: string;
  readonly created: boolean;
  /** What to do next. */
  readonly hints: readonly string[];
}

/** Makes the project's store, or DIR itself a conversation repository. Idempotent. */
export async function initStore(
  runtime: Runtime,
  request: { readonly directory: string | undefined; readonly store: string | undefined },
): Promise<InitReport> {
  const named = request.directory ?? request.store;
  const location = await locate(runtime, named === undefined ? undefined : resolve(runtime.cwd, named));
  await createWorkspaceStore(runtime, location.root);
  return {
    path: location.root,
    created: !location.exists,
    hints: location.exists
      ? []
      : ["`jpg import` brings in the sessions that agents keep for this project; settings go into .jpg.toml."],
  };
}
