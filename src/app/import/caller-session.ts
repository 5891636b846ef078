// Which conversation an agent means by its own: its session is brought in first, for it has grown since it was imported, if
// it was. What the user has made active stays so.
import { basename } from "node:path";
import { JpgError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { resolveBranch, resolveTree } from "../names/resolve-id.ts";
import { agents } from "../sessions/session-registry.ts";
import type { Runtime } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { importSessions } from "./import.ts";
import type { ImportReport } from "./import-report.ts";

export interface CallerConversation {
  readonly tree: BranchTree;
  /** Whether it is that of a session that an agent on this machine keeps, and may go on writing. */
  readonly isKept: boolean;
  /** What was imported to get there, a sentence; null when nothing was. */
  readonly imported: string | null;
}

/**
 * Imports what agents keep for this project and gives the conversation that an id names, without one that of the agent which
 * asks. What is only read, or forked, may be a commit: that of a detached HEAD, or any that the id names. Throws `no_conversation`,
 * `unknown_id`, `ambiguous_id`, and where it is to be written `detached_head`, `not_a_branch`.
 */
export async function loadCallerConversation(
  workspace: Workspace,
  id: string | undefined,
  use: "read" | "fork" | "write",
): Promise<CallerConversation> {
  const reports = await importQuietly(workspace);
  const { env } = workspace.runtime;
  const { JPG_CONVERSATION: chosen = "" } = env;
  const meant = id ?? (chosen === "" ? callerBranch(reports, env) : undefined);
  const tree =
    use === "write"
      ? await resolveBranch(workspace, meant)
      : await resolveTree(workspace, meant, { changes: use === "fork" });
  const isKept = reports.some(({ branch }) => branch === tree.branch);
  const own = reports.find(({ branch, status }) => branch === tree.branch && status !== "unchanged");
  const others = reports.filter(({ branch, status }) => branch !== tree.branch && status !== "unchanged").length;
  const sentences = [
    ...(own === undefined ? [] : [`Its session was imported first (${turns(own.turns_added ?? own.turns)}).`]),
    ...(others === 0 ? [] : [`${others} other ${others === 1 ? "session was" : "sessions were"} imported too.`]),
  ];
  return { tree, isKept, imported: sentences.length === 0 ? null : sentences.join(" ") };
}

/**
 * The branch of the session that asks: the one that the agent names to its servers, unless it has not grown and another has
 * (it names the session that it began with); else the one that was written last. Undefined = whatever is active.
 */
function callerBranch(reports: readonly ImportReport[], env: Runtime["env"]): string | undefined {
  const isCallers = (fileName: string): boolean =>
    agents().some(({ files }) => files.isCallers?.(env, fileName) === true);
  const named = reports.find(({ source }) => source !== undefined && isCallers(basename(source)));
  const changed = reports.filter(({ status, agent_of }) => status !== "unchanged" && agent_of === undefined);
  if (named !== undefined && (changed.length === 0 || changed.includes(named))) return named.branch;
  const newest = changed.reduce<ImportReport | undefined>(
    (best, report) => (best === undefined || (report.updated_at ?? "") > (best.updated_at ?? "") ? report : best),
    undefined,
  );
  return newest?.branch;
}

/** Sessions that cannot be read, and a project without any, are no reason not to answer. */
async function importQuietly(workspace: Workspace): Promise<readonly ImportReport[]> {
  try {
    return (await importSessions(workspace, { paths: [], allBranches: false, keepActive: true })).sessions;
  } catch (error) {
    if (error instanceof JpgError && error.kind === "user") return [];
    throw error;
  }
}

function turns(count: number): string {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
