// Forks a conversation: a new branch that shares history. A plain fork writes one ref and no objects.
import { type ForkPlan, type ForkRequest, forkNeedsTurnTimes, planFork } from "../../core/compact/fork.ts";
import { needsTurnTimes } from "../../core/conversation/bound-resolution.ts";
import { pinnedEvents } from "../../core/conversation/marks.ts";
import {
  branchName,
  conversationOf,
  differingByCase,
  isDeviceName,
  isTurnNumber,
} from "../../core/conversation/name.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { compactionMessage, forkMessage } from "../../store/messages.ts";
import type { CommitSpec, FileChange } from "../../store/store.ts";
import { compact, viewEffectOf } from "../compact/compact.ts";
import type { CompactReport } from "../compact/compact-report.ts";
import { currentSignatures, recordChange, timestampAfter } from "../conversation/append.ts";
import { makeActive, requireSwitchable } from "../conversation/checked-out.ts";
import { coverFacts, coversDigest } from "../conversation/covers.ts";
import { type ForkStart, startOfTurns, withCompactionsOf } from "../conversation/fork-start.ts";
import { loadConversationConfig, readPins } from "../conversation/marks.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { randomId } from "../conversation/runtime.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { type LiveCompactions, loadCompactions, loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { newForkName } from "../names/conversations.ts";

export interface ForkReport {
  readonly conversation: string;
  readonly branch: string;
  readonly turns: number;
  readonly from?: string;
  readonly activated?: boolean;
  /** Present if no commit ends with the fork's last turn, so that a commit on the fork removes the later turns. */
  readonly cut?: true;
  /** Ids of summaries left off the fork, because they cover turns after its last one; absent = none. */
  readonly left_out?: readonly string[];
  /** Report of compacting the fork; absent = not asked for. */
  readonly compaction?: CompactReport;
}

export interface ForkInput extends ForkRequest {
  /** Fork part of the new branch's name; absent = generated. */
  readonly name?: string;
  readonly activate: boolean;
  /** Compact the fork; a name = with that profile. */
  readonly compact?: true | string;
  /** Aborts the writing of a summary; the fork stays, not compacted. */
  readonly signal?: AbortSignal;
}

/** Creates the fork. Throws `branch_exists`, `bad_name`, the errors of a wrong range, and those of `compact`. */
export async function forkConversation(workspace: Workspace, tree: BranchTree, input: ForkInput): Promise<ForkReport> {
  const conversation = conversationOf(tree.branch);
  const branch =
    input.name === undefined ? await newForkName(workspace, conversation, "fork") : namedFork(conversation, input.name);
  if ((await workspace.store.readBranch(branch)) !== null) throw branchExists(branch);
  await refuseCaseCollision(workspace, branch);
  if (input.activate) await requireSwitchable(workspace);
  if (input.compact !== undefined) await checkProfile(workspace, tree, input.compact);
  const live = await loadCompactions(workspace.store, tree);
  const plan = planFork(input, await factsFor(workspace, tree, input, live));
  const start = await startOf(workspace, tree, plan);
  const commit = await adjustment(workspace, tree, { plan, start, live });
  const made =
    commit === null
      ? await workspace.store.createBranch(branch, start.commit)
      : await writeFork(workspace, branch, start.commit, commit);
  if (!made) throw branchExists(branch);
  let compaction: CompactReport | undefined;
  if (input.compact !== undefined) {
    const tip = (await workspace.store.readBranch(branch)) ?? start.commit;
    const forked = await loadBranchTree(workspace.store, branch, tip);
    compaction = await compactFork(workspace, forked, input);
  }
  if (input.activate) await makeActive(workspace, branch);
  await refreshViews(workspace, branch);
  const report = { conversation, branch, turns: plan.turns.total, from: tree.branch, activated: input.activate };
  return {
    ...report,
    ...(start.isCut ? { cut: true as const } : {}),
    ...(plan.leftOut.length === 0 ? {} : { left_out: plan.leftOut }),
    compaction,
  };
}

/** Returns the start of the fork: the tip, or its first turns with the tip's compactions that apply to them. */
async function startOf({ store }: Workspace, tree: BranchTree, plan: ForkPlan): Promise<ForkStart> {
  if (plan.atTurn === null) return { commit: tree.commit, turnCount: plan.turns.total, changes: [], isCut: false };
  return withCompactionsOf(store, await startOfTurns(store, tree, plan.atTurn + 1), { tip: tree, plan });
}

/** Compacts the new fork. If a summary fails or is interrupted, the fork stays as it is, and the error says so. */
async function compactFork(
  workspace: Workspace,
  forked: BranchTree,
  { compact: profile, signal }: Pick<ForkInput, "compact" | "signal">,
): Promise<CompactReport> {
  try {
    return await compact(workspace, forked, {
      range: {},
      dryRun: false,
      fork: false,
      activate: false,
      ...(typeof profile === "string" ? { profile } : {}),
      signal,
    });
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    const isInterrupted = error.code === "interrupted";
    if (error.kind !== "provider" && !isInterrupted) throw error;
    const flag = typeof profile === "string" ? ` --profile ${profile}` : "";
    const again = `\`jpg compact ${forked.branch}${flag}\` tries again.`;
    throw new JpgError(
      error.kind,
      error.code,
      `${error.message} The fork ${forked.branch} was made, but not compacted.`,
      {
        // The hint of an interruption, to run the command again, would make another fork.
        hints: isInterrupted ? [again] : [again, ...error.hints],
        data: error.data,
        cause: error,
      },
    );
  }
}

/** Checks the profile before the fork is created. Throws `unknown_profile`. */
async function checkProfile(workspace: Workspace, tree: BranchTree, compact: true | string): Promise<void> {
  const settings = (await loadConversationConfig(workspace, tree)).config.conversation.compaction;
  const name = compact === true ? settings.default_profile : compact;
  findProfile(name, settings.profiles);
}

async function factsFor(
  workspace: Workspace,
  tree: BranchTree,
  request: ForkRequest,
  live: LiveCompactions,
): Promise<Parameters<typeof planFork>[1]> {
  const range = {
    from: request.from,
    to: request.until,
  };
  const turns =
    forkNeedsTurnTimes(request) || needsTurnTimes(range) ? await loadTurns(workspace.store, tree) : new Map();
  return {
    turnCount: tree.turnOids.length,
    turnTimes: [...turns.values()].map((turn) => turn.events[0]?.timestamp ?? ""),
    compactions: live.applied,
    turns,
    now: workspace.runtime.now().toISOString(),
  };
}

/** Makes the commit that a fork needs in addition to its ref; null when the commit at `start` is right as it is. */
async function adjustment(
  workspace: Workspace,
  tree: BranchTree,
  facts: { plan: ForkPlan; start: ForkStart; live: LiveCompactions },
): Promise<CommitSpec | null> {
  const { plan, start } = facts;
  const changes: FileChange[] = [...start.changes];
  const aligned = changes.length;
  let message = forkMessage(start.turnCount - 1, start.isCut);
  if (plan.omit !== undefined) {
    const covers = await coversDigest(plan.omit, coverFacts(workspace.store, tree));
    const keep = await pinnedUpTo(workspace, tree, plan.omit.to_turn);
    const omit = {
      ...plan.omit,
      ...(keep.length === 0 ? {} : { keep }),
      id: randomId(workspace.runtime),
      timestamp: timestampAfter(
        workspace.runtime.now(),
        facts.live.all.map((compaction) => compaction.timestamp),
      ),
      ...(covers === null ? {} : { covers }),
    };
    changes.push(recordChange(workspace, "compactions", omit));
    if (aligned === 0)
      message = compactionMessage({ compaction: omit, ...(await viewEffectOf(workspace.store, tree, [omit])) });
  }
  if (changes.length === 0) return null;
  return { message, ...(await currentSignatures(workspace)), changes, sign: true };
}

/** Lists pinned events up to a turn; they stay even in turns that a fork leaves out. */
async function pinnedUpTo(workspace: Workspace, tree: BranchTree, last: number): Promise<readonly string[]> {
  const pins = (await readPins(workspace, tree)).filter(({ turn }) => turn <= last);
  if (pins.length === 0) return [];
  const turns = await loadTurns(
    workspace.store,
    tree,
    [...new Set(pins.map(({ turn }) => turn))].sort((a, b) => a - b),
  );
  return pinnedEvents(pins, turns.values());
}

async function writeFork(workspace: Workspace, branch: string, parent: string, commit: CommitSpec): Promise<boolean> {
  const [result] = await workspace.store.write([{ branch, expected: null, parent, commits: [commit] }]);
  return result?.moved === true;
}

/** Names the branch of a fork that the user named. A number would always be read as a turn. Throws `bad_name`. */
function namedFork(conversation: string, name: string): string {
  if (isDeviceName(name))
    throw userError("bad_name", `${name} is the name of a device on Windows, where no clone could have this fork.`, {
      hints: [`Choose another name, such as my-${name}.`],
    });
  if (!isTurnNumber(name)) return branchName(conversation, name);
  throw userError("bad_name", `${name} is the number of a turn, so it cannot be the name of a fork.`, {
    hints: [
      `To give the fork a name with a letter in it: \`jpg fork @ try-${name}\``,
      `To fork with the turns up to that one: \`jpg fork --until ${name}\``,
    ],
  });
}

/** Refuses a name that differs only by case from another. Throws `branch_exists`. */
async function refuseCaseCollision({ store }: Workspace, branch: string): Promise<void> {
  const other = differingByCase(
    branch,
    (await store.listBranches()).map(({ name }) => name),
  );
  if (other === undefined) return;
  throw userError(
    "branch_exists",
    `${branch} differs only by case from ${other}, which already exists: macOS and Windows cannot keep both.`,
    {
      hints: ["Give the fork another name: `jpg fork [ID] NAME`.", `\`jpg use ${other}\` makes that one active.`],
      data: { branch, other },
    },
  );
}

function branchExists(branch: string): Error {
  return userError("branch_exists", `${branch} already exists.`, {
    hints: ["Give the fork another name: `jpg fork [ID] NAME`.", `\`jpg use ${branch}\` makes it active.`],
  });
}
