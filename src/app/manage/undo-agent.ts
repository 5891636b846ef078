// Undoes what an agent did to its own session: its newest compaction, in the newest session of this folder. The agent's file stays as it
// is; the conversation goes on in a new session. Sizes and prices are known before the first commit.
import { statSync } from "node:fs";
import { type Compaction, compareCompactions, isHiding } from "../../core/conversation/compaction.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { type CompactRequest, compact } from "../compact/compact.ts";
import { type CompactReport, overallTokens } from "../compact/compact-report.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { conversationTitle } from "../conversation/title.ts";
import { type BranchTree, loadTip } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { isBreak } from "../import/damage.ts";
import { importSessions } from "../import/import.ts";
import { countFirstCall, type FirstCall, ownAgent } from "../import/resume.ts";
import { findKeptFiles } from "../sessions/kept-files.ts";
import { agentName } from "../sessions/session-registry.ts";
import { type RevertReport, revertCompactions } from "./revert.ts";

/** How to make the view smaller after the undo; absent = it stays whole. */
export type SmallerBy = Pick<CompactRequest, "profile" | "strategies">;

export interface AgentUndoPlan {
  readonly tree: BranchTree;
  /** Name of the agent's format. */
  readonly agent: string;
  readonly title: string;
  /** The agent's newest compaction in force. */
  readonly compaction: Compaction;
  /** What the model sees now, tokens. */
  readonly now: number;
  /** The first call after the undo, and after the compaction that follows it. */
  readonly first_call: FirstCall;
}

/** Newest files that are looked at: one may hold nothing yet, or belong to a sub-agent. */
const NEWEST_FILES = 5;

/** Imports the newest session that agents keep for this folder, as far as it has grown. Throws `no_sessions`. */
export async function newestSession(workspace: Workspace): Promise<BranchTree> {
  const { files } = await findKeptFiles(workspace);
  const dated = files.flatMap((file) => {
    const stats = file.isSideFile === true ? undefined : statSync(file.path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path: file.path, changed: stats.mtimeMs }];
  });
  dated.sort((a, b) => b.changed - a.changed);
  let failure: JpgError | null = null;
  for (const { path } of dated.slice(0, NEWEST_FILES)) {
    const { sessions, failed } = await importSessions(workspace, { paths: [path], allBranches: false });
    const own = sessions.find(({ agent_of: of }) => of === undefined);
    const tree = own === undefined ? null : await loadTip(workspace.store, own.branch);
    if (tree !== null) return tree;
    failure ??= failed[0]?.error ?? null;
  }
  if (failure !== null) throw failure;
  const folder = workspace.location.project?.root ?? workspace.runtime.cwd;
  throw new JpgError("user", "no_sessions", `No agent on this machine keeps sessions for ${folder}.`, {
    hints: ["Run it in the folder where you use the agent, or name a conversation: `jpg undo --agent ID`."],
  });
}

/** Plans the undo, and the compaction after it. Throws `nothing_to_undo`, `unknown_agent`, and what planning a compaction throws. */
export async function planAgentUndo(
  workspace: Workspace,
  tree: BranchTree,
  smaller: SmallerBy | null,
): Promise<AgentUndoPlan> {
  const agent = ownAgent(tree);
  if (agent === undefined) {
    throw userError("unknown_agent", `${tree.branch} comes from no agent that jpg can resume.`, {
      hints: ["`jpg log` lists its compactions; `jpg revert ID` undoes one."],
    });
  }
  const { applied } = await loadCompactions(workspace.store, tree);
  const compaction = applied.filter(isAgentsOwn).sort(compareCompactions).at(-1);
  if (compaction === undefined) throw nothingToUndo(tree, agent, applied);
  const without = withoutCompaction(tree, compaction.id);
  const whole = await countFirstCall(workspace, without, agent);
  const planned = smaller === null ? null : await compactSmaller(workspace, without, smaller, true);
  return {
    tree,
    agent,
    compaction,
    title: await conversationTitle(workspace, tree),
    now: (await countFirstCall(workspace, tree, agent)).tokens,
    first_call: planned === null ? whole : await smallerCall(workspace, without, { agent, whole, planned }),
  };
}

/** What agents do by themselves; neither damage of a file nor what the user took out of it. */
function isAgentsOwn(compaction: Compaction): boolean {
  return compaction.source === "import" && isHiding(compaction) && !isBreak(compaction);
}

function nothingToUndo({ branch }: BranchTree, agent: string, applied: readonly Compaction[]): JpgError {
  const others = applied.some((compaction) => !isAgentsOwn(compaction) && !isBreak(compaction));
  return userError("nothing_to_undo", `${agentName(agent)} has compacted nothing that is still hidden on ${branch}.`, {
    hints: [others ? "`jpg undo` undoes the newest compaction that jpg made." : "`jpg log` shows the compactions."],
  });
}

/** The tree as it would be without a compaction. */
function withoutCompaction(tree: BranchTree, id: string): BranchTree {
  return { ...tree, compactions: tree.compactions.filter(({ path }) => compactionIdOfPath(path) !== id) };
}

async function smallerCall(
  workspace: Workspace,
  tree: BranchTree,
  { agent, whole, planned }: { readonly agent: string; readonly whole: FirstCall; readonly planned: CompactReport },
): Promise<FirstCall> {
  if (planned.compaction === null && planned.planned_summary === null) return whole;
  return countFirstCall(workspace, tree, agent, overallTokens(planned).after);
}

function compactSmaller(
  workspace: Workspace,
  tree: BranchTree,
  smaller: SmallerBy,
  dryRun: boolean,
): Promise<CompactReport> {
  return compact(workspace, tree, { ...smaller, range: {}, fork: false, activate: false, dryRun });
}

export interface AgentUndo {
  readonly tree: BranchTree;
  readonly undone: RevertReport;
  /** Absent = the view stays whole. */
  readonly compacted?: CompactReport;
}

/** Undoes the planned compaction, and compacts. */
export async function applyAgentUndo(
  workspace: Workspace,
  { tree, compaction }: AgentUndoPlan,
  smaller: SmallerBy | null,
): Promise<AgentUndo> {
  const undone = await revertCompactions(workspace, [compaction.id], tree.branch);
  const reverted = await tipOf(workspace, tree);
  const compacted = smaller === null ? undefined : await compactSmaller(workspace, reverted, smaller, false);
  return { tree: await tipOf(workspace, tree), undone, compacted };
}

async function tipOf({ store }: Workspace, tree: BranchTree): Promise<BranchTree> {
  return (await loadTip(store, tree.branch)) ?? tree;
}
