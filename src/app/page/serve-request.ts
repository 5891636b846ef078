// What whoever starts pages asks for, and whoever serves them is given: one shape for both fronts.
import type { Runtime } from "../workspace/runtime.ts";
import type { WorkspaceOptions } from "../workspace/workspace.ts";

/** Pages over a store. */
export interface ServeRequest {
  readonly runtime: Runtime;
  readonly options: WorkspaceOptions;
  /** 0 = any that is free. */
  readonly port: number;
  /** An address of this machine; one that others reach makes the pages read-only. */
  readonly host: string;
  /** Told where the pages are once they are there. */
  readonly onListening: (where: { readonly address: string; readonly readOnly: boolean }) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}
