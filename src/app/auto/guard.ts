// The live guard of `jpg sync --compact`: a session that comes near its model's window is compacted without a model, and the user
// is told once how to go on smaller. Where a pass gains little, it leaves the session alone from then on.
import { conversationOf } from "../../core/conversation/name.ts";
import { loadTip } from "../branch/branch-tree.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import { resumingAgents } from "../sessions/session-registry.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AutoSituation, autoCompact } from "./auto-compact.ts";

/** What a guard has said and given up, for as long as it runs. By branch. */
export interface GuardState {
  readonly ready: Set<string>;
  readonly stopped: Set<string>;
}

/** A pass that takes out less than this share of the context is not worth what it costs. */
export const LEAST_FREED = 0.1;

/** Begins to guard. */
export function createGuard(): GuardState {
  return { ready: new Set(), stopped: new Set() };
}

/** Compacts a branch that grew too large; null when nothing was done. Throws for bugs only. */
export async function guardBranch(
  workspace: Workspace,
  branch: string,
  { state, ...situation }: Omit<AutoSituation, "guard"> & { readonly state: GuardState },
): Promise<CompactReport | null> {
  if (state.stopped.has(branch)) return null;
  let freed: number | null = null;
  const guard = (share: number): void => {
    freed = share;
  };
  const report = await autoCompact(workspace, branch, { ...situation, guard });
  if (report !== null && !state.ready.has(branch)) {
    state.ready.add(branch);
    const command = await resumeCommand(workspace, branch);
    if (command !== null) situation.notice(`\`${command}\` continues there`);
  }
  if (freed !== null && freed < LEAST_FREED) {
    state.stopped.add(branch);
    const id = conversationOf(branch);
    const percent = Math.round(freed * 100);
    situation.warn(
      `compacting it took out ${percent} % of the context, so it is left alone from now on; \`jpg compact ${id} --profile heavy\` replaces old turns with a summary`,
    );
  }
  return report;
}

/** In the agent that the session is of, where that resumes any. */
async function resumeCommand({ store }: Workspace, branch: string): Promise<string | null> {
  const format = (await loadTip(store, branch))?.header.source?.format;
  const agents = resumingAgents().map(({ name }) => name);
  const agent = agents.find((name) => name === format) ?? agents[0];
  return agent === undefined ? null : `jpg resume ${branch} --with ${agent}`;
}
