// Undoes what an agent did to its own session: its newest compaction, in the newest session of this folder. The agent's file stays as it
// is; the conversation goes on in a new session. Sizes and prices are known before the first commit.
import { statSync } from "node:fs";
import { isBreak } from "../../core/conversation/broken-chain.ts";
import { type Compaction, compareCompactions, isHiding } from "../../core/conversation/compaction.ts";
import { rangesDecidedBy } from "../../core/conversation/covered-range.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { type CompactRequest, compact } from "../compact/compact.ts";
import { type CompactReport, overallTokens } from "../compact/compact-report.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { conversationTitle } from "../conversation/title.ts";
import { type BranchTree, loadTip } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { importSessions } from "../import/import.ts";
import { createKnownSessions } from "../import/import-request.ts";
import { countFirstCall, type FirstCall, ownAgent } from "../import/resume.ts";
import { mainBranch, preferredBranch } from "../names/conversations.ts";
import { readShortNames, wordFor } from "../names/short-names.ts";
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

/**
 * Imports the newest session that agents keep for this folder, as far as it has grown. Passes over those that jpg wrote and nobody
 * continued, and leaves the active conversation as it is. Throws `no_sessions`.
 */
export async function newestSession(workspace: Workspace): Promise<BranchTree> {
  const { files } = await findKeptFiles(workspace);
  const knownAs = await createKnownSessions(workspace);
  const dated = files.flatMap((file) => {
    const stats = file.isSideFile === true ? undefined : statSync(file.path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ file, changed: stats.mtimeMs }];
  });
  dated.sort((a, b) => b.changed - a.changed);
  let failure: JpgError | null = null;
  let looked = 0;
  for (const { file } of dated) {
    if (looked >= NEWEST_FILES) break;
    if ((await knownAs(file)) === "exported") continue;
    looked += 1;
    const request = { paths: [file.path], allBranches: false, keepActive: true };
    const { sessions, failed } = await importSessions(workspace, request);
    const own = sessions.find(({ agent_of: of }) => of === undefined);
    const tree = own === undefined ? null : await loadTip(workspace.store, own.branch);
    if (tree !== null) return tree;
    failure ??= failed[0]?.error ?? null;
  }
  if (failure !== null) throw failure;
  const folder = workspace.location.project?.root ?? workspace.runtime.cwd;
  const message =
    dated.length === 0
      ? `No agent on this machine keeps sessions for ${folder}.`
      : `The sessions that agents keep for ${folder} are copies by jpg, or hold no request.`;
  const place = "Run it in the folder where you use the agent, or name a conversation: `jpg undo --agent ID`.";
  throw new JpgError("user", "no_sessions", message, { hints: await hintsToUndo(workspace, null, place) });
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
      hints: [
        `\`jpg log${await wordFor(workspace, tree.branch)}\` lists its compactions; \`jpg revert COMPACTION\` undoes one.`,
      ],
    });
  }
  const { applied } = await loadCompactions(workspace.store, tree);
  const compaction = newestOfAgent(tree, applied);
  if (compaction === undefined) throw await nothingToUndo(workspace, { tree, agent, applied });
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

/** The newest compaction of the agent that hides something: a later one, or damage, may hide all of its turns anyway. */
function newestOfAgent({ turnOids }: BranchTree, applied: readonly Compaction[]): Compaction | undefined {
  const among = { turnCount: turnOids.length, compactions: applied };
  return applied
    .filter((compaction) => isAgentsOwn(compaction) && rangesDecidedBy(compaction, among).length > 0)
    .sort(compareCompactions)
    .at(-1);
}

async function nothingToUndo(
  workspace: Workspace,
  {
    tree,
    agent,
    applied,
  }: { readonly tree: BranchTree; readonly agent: string; readonly applied: readonly Compaction[] },
): Promise<JpgError> {
  const others = applied.some((compaction) => !isAgentsOwn(compaction) && !isBreak(compaction));
  const id = await wordFor(workspace, tree.branch);
  const own = others
    ? `\`jpg undo${id}\` undoes the newest compaction that jpg made.`
    : `\`jpg log${id}\` shows the compactions.`;
  const message = `${agentName(agent)} has compacted nothing that is still hidden on ${tree.branch}.`;
  return userError("nothing_to_undo", message, { hints: await hintsToUndo(workspace, tree.branch, own) });
}

/** Conversations that a hint names, at most. */
const NAMED = 3;
/** Conversations that are searched for these, the newest. */
const MOST_SEARCHED = 100;

/** Hints at conversations in which an agent compacted something that is still hidden, the one changed last first; `otherwise` comes first. */
async function hintsToUndo(workspace: Workspace, branch: string | null, otherwise: string): Promise<readonly string[]> {
  const { store } = workspace;
  const tips = await store.listBranches();
  if (tips.length === 0) return [otherwise];
  const active = await preferredBranch(workspace);
  const conversations = [...new Set(tips.map(({ name }) => conversationOf(name)))];
  const mains = conversations.flatMap((name) => mainBranch(tips, name, active) ?? []);
  const times = await store.readCommitTimes(mains.map(({ commit }) => commit));
  const dated = mains.map((tip, at) => ({ name: tip.name, time: times[at] ?? 0 })).sort((a, b) => b.time - a.time);
  const nameOf = await readShortNames(workspace);
  const found: string[] = [];
  for (const { name } of dated.slice(0, MOST_SEARCHED)) {
    if (found.length < NAMED && name !== branch && (await hasAgentsOwn(workspace, name)))
      found.push(`\`jpg undo --agent ${nameOf(name)}\``);
  }
  return found.length === 0 ? [otherwise] : [otherwise, `An agent compacted something here: ${found.join(", ")}`];
}

/** A conversation that cannot be read has nothing to undo; reading it reports the damage. */
async function hasAgentsOwn({ store }: Workspace, name: string): Promise<boolean> {
  try {
    const tree = await loadTip(store, name);
    if (tree === null || tree.compactions.length === 0 || ownAgent(tree) === undefined) return false;
    return newestOfAgent(tree, (await loadCompactions(store, tree)).applied) !== undefined;
  } catch (error) {
    if (error instanceof JpgError) return false;
    throw error;
  }
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
