// Sends conversations to a remote, as planned, and reports each branch.
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { sharedTurns } from "../../core/conversation/merge-sides.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { repositoryError, userError } from "../../core/errors.ts";
import { shownUrl } from "../../core/remote-address.ts";
import type { CommitPair, OutgoingList, PushedBranch, Remote, TransferOptions } from "../../store/sharing.ts";
import type { BranchTip } from "../../store/store.ts";
import { listTurnOids } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveId } from "../names/resolve-id.ts";
import { checkOutgoing, outgoingObjects } from "./outgoing.ts";
import type { RemotePlace } from "./pull.ts";
import { branchBases, localError, requireSharing } from "./remotes.ts";

/** Reports what a push would send. Throws as `checkOutgoing` does; `allow` as there. */
export async function tryPush(
  workspace: Workspace,
  plan: PushPlan,
  { allow = [] }: { readonly allow?: readonly string[] } = {},
): Promise<PushReport> {
  await checkPush(workspace, plan, allow);
  return reportPush(plan, await countTurns(workspace, plan.branches));
}

function checkPush(
  workspace: Workspace,
  { branches, known, list }: PushPlan,
  allow: readonly string[] = [],
): Promise<void> {
  return checkOutgoing(workspace, { tips: branches.filter(isOutgoing), known, list }, { allow });
}

/** Sends what was planned. Throws as `checkOutgoing` does, and `remote_*`. */
export async function sendPush(
  workspace: Workspace,
  plan: PushPlan,
  options: TransferOptions & { readonly allow?: readonly string[] },
): Promise<PushReport> {
  const tips = plan.branches.filter(isOutgoing);
  const sharing = requireSharing(workspace);
  await checkPush(workspace, plan, options.allow);
  const [pushed, turns] = await Promise.all([
    sharing.push(plan.remote, tips, options),
    countTurns(workspace, plan.branches),
  ]);
  const overwritten = await findOverwritten(workspace, plan.branches, pushed);
  return reportPush(plan, turns, { pushed, overwritten });
}

/** Counts for each branch the turns that the remote does not have. */
async function countTurns({ store }: Workspace, branches: readonly PlannedPush[]): Promise<readonly number[]> {
  const count = async (commit: string): Promise<number> => (await listTurnOids(store, commit)).length;
  const counted: number[] = [];
  for (const branch of branches) {
    // Other work need not wait for all of them.
    await turnOfLoop();
    const own = isOutgoing(branch) ? await count(branch.commit) : 0;
    counted.push(branch.at === undefined ? own : Math.max(0, own - (await count(branch.at))));
  }
  return counted;
}

// Commits that somebody pushed to a branch after we listed the remote, and that our push overwrote. Git permits this if they are in
// our history as a merged fork; no branch there has them any more.

/** An overwritten commit, and how many of its turns are not on the branch that was sent; >= 0. */
interface OverwrittenCommit {
  readonly commit: string;
  readonly turns: number;
}

/** Finds overwritten commits by branch. They are here: without them, git would have refused the push. */
async function findOverwritten(
  workspace: Workspace,
  planned: readonly PlannedPush[],
  pushed: readonly PushedBranch[],
): Promise<ReadonlyMap<string, OverwrittenCommit>> {
  const plans = new Map(planned.map((branch) => [branch.name, branch]));
  const moved = pushed.flatMap(({ name, over }) => {
    const { commit, at } = plans.get(name) ?? {};
    return commit === undefined || over === undefined || over === at ? [] : [{ name, one: commit, other: over }];
  });
  const bases = await branchBases(workspace, moved);
  const found = new Map<string, OverwrittenCommit>();
  for (const [index, { name, one, other }] of moved.entries()) {
    if (bases[index]?.includes(other) === true) continue;
    const [ours, theirs] = [await turnsOf(workspace, one), await turnsOf(workspace, other)];
    found.set(name, { commit: other, turns: theirs.length - sharedTurns(theirs, ours) });
  }
  return found;
}

async function turnsOf({ store }: Workspace, commit: string): Promise<readonly string[]> {
  return (await listTurnOids(store, commit)).map((oid) => oid ?? "");
}

// Plans a push: compares the branches here with those of the remote. A push never overwrites what others added; that has to be
// pulled first.

/** What to send: with no id and not `all`, the fork of `@`; else all forks of an id, or one fork that was named. */
interface PushRequest {
  readonly id?: string;
  readonly all: boolean;
  /** Whether to send again what somebody removed from the remote. */
  readonly again?: boolean;
}

/** A branch, and what a push would do with it. */
interface PlannedPush extends BranchTip {
  /**
   * `gone`: the remote had it at the last fetch and no longer has it. `ahead`: the remote has all of it and more. `behind`: the
   * remote has commits that are not here, or that this branch has only as a merged fork.
   */
  readonly status: "new" | "updated" | "unchanged" | "ahead" | "behind" | "gone";
  /** The remote's commit of a branch that is `updated`. */
  readonly at?: string;
}

export interface PushPlan {
  readonly remote: Remote;
  readonly branches: readonly PlannedPush[];
  /** Conversations that were left out because they are local; only with `all`. */
  readonly local: readonly string[];
  /** Commits that the remote has and that are here. */
  readonly known: readonly string[];
  /** Sent over the network it takes about as many bytes as here. */
  readonly list: OutgoingList;
}

/** Plans a push. Throws `local_conversation`, the errors of ids, and `remote_*`. */
export async function planPush(
  workspace: Workspace,
  remote: Remote,
  { request, options }: { readonly request: PushRequest; readonly options: TransferOptions },
): Promise<PushPlan> {
  const sharing = requireSharing(workspace);
  const { tips, local } = await chooseTips(workspace, request);
  const { [remote.as]: there } = await sharing.listRefs(remote.pushUrl, options);
  const present = await sharing.present([...new Set(there.map(({ commit }) => commit))]);
  const remoteTips = new Map(there.map(({ name, commit }) => [name, commit]));
  const compared = await compareTips(workspace, tips, { remoteTips, present });
  const had = new Set(request.again === true ? [] : (await sharing.tracked(remote.name)).map(({ name }) => name));
  const isGone = ({ name, status }: PlannedPush): boolean => status === "new" && had.has(name);
  const branches = compared.map((branch) => (isGone(branch) ? { ...branch, status: "gone" as const } : branch));
  const known = [...present];
  const outgoing = branches.filter(isOutgoing);
  const list = await sharing.outgoing(outgoingObjects({ tips: outgoing, known }));
  return { remote, branches, local, known, list };
}

function isOutgoing({ status }: Pick<PlannedPush, "status">): boolean {
  return status === "new" || status === "updated";
}

/** The branches to send; with `all`, without those of local conversations. Throws `local_conversation`. */
export async function chooseTips(
  workspace: Workspace,
  { id, all }: PushRequest,
): Promise<{ readonly tips: readonly BranchTip[]; readonly local: readonly string[] }> {
  const marked = await requireSharing(workspace).localConversations();
  const isLocal = ({ name }: BranchTip): boolean => marked.has(conversationOf(name));
  if (all) {
    const tips = (await workspace.store.listBranches()).filter(({ name }) => name.includes("/"));
    const local = [...new Set(tips.filter(isLocal).map(({ name }) => conversationOf(name)))];
    return { tips: tips.filter((tip) => !isLocal(tip)), local };
  }
  const target = await resolveId(workspace, id);
  const { branch } = target;
  const conversation = conversationOf(branch);
  if (marked.has(conversation)) throw localError([conversation]);
  const isOne = id === undefined || id === "@" || id === "-" || (target.kind === "branch" && target.isFork === true);
  const isWanted = ({ name }: BranchTip): boolean => (isOne ? name === branch : conversationOf(name) === conversation);
  return { tips: (await workspace.store.listBranches()).filter(isWanted), local: [] };
}

async function compareTips(
  workspace: Workspace,
  tips: readonly BranchTip[],
  { remoteTips, present }: { readonly remoteTips: ReadonlyMap<string, string>; readonly present: ReadonlySet<string> },
): Promise<readonly PlannedPush[]> {
  const differing = tips.flatMap(({ name, commit: one }) => {
    const other = remoteTips.get(name);
    return other === undefined || other === one || !present.has(other) ? [] : [{ one, other }];
  });
  const found = await branchBases(workspace, differing);
  const bases = new Map(differing.map(({ one, other }, index) => [`${one} ${other}`, found[index] ?? []]));
  return tips.map((tip) => {
    const at = remoteTips.get(tip.name);
    return compareTip(tip, at, bases.get(`${tip.commit} ${at}`) ?? []);
  });
}

function compareTip(tip: BranchTip, at: string | undefined, bases: readonly string[]): PlannedPush {
  if (at === tip.commit) return { ...tip, status: "unchanged" };
  if (at === undefined) return { ...tip, status: "new" };
  if (bases.includes(tip.commit)) return { ...tip, status: "ahead" };
  return bases.includes(at) ? { ...tip, status: "updated", at } : { ...tip, status: "behind" };
}

export interface PushReport extends RemotePlace {
  readonly branches: readonly {
    readonly branch: string;
    readonly status: PlannedPush["status"] | "refused";
    /** Turns that the remote did not have; >= 0. */
    readonly turns: number;
    /** Why it was refused, in git's words. */
    readonly reason?: string;
    /** What the other side printed when it refused. */
    readonly said?: string;
    /** A commit that somebody else pushed meanwhile and that this push overwrote, because git took it for an ancestor. */
    readonly passed_over?: OverwrittenCommit;
  }[];
  readonly local: readonly string[];
  /** As stored here. */
  readonly bytes: number;
}

export function pushedPlace({ name, pushUrl, as }: Remote): RemotePlace {
  return { remote: name, url: shownUrl(pushUrl), as };
}

interface Sent {
  readonly pushed?: readonly PushedBranch[];
  readonly overwritten?: ReadonlyMap<string, OverwrittenCommit>;
}

/** Reports what was sent, or would be; `turns` in the order of the branches. */
function reportPush(
  { remote, branches, local, list }: PushPlan,
  turns: readonly number[],
  { pushed = [], overwritten = new Map() }: Sent = {},
): PushReport {
  const answers = new Map(pushed.map((branch) => [branch.name, branch]));
  return {
    ...pushedPlace(remote),
    branches: branches.map(({ name, status }, index) => {
      const [answer, passed] = [answers.get(name), overwritten.get(name)];
      const isStopped = answer?.status === "behind" || answer?.status === "refused";
      return {
        branch: name,
        status: isStopped ? answer.status : status,
        turns: turns[index] ?? 0,
        ...(isStopped && answer.reason !== "" ? { reason: answer.reason } : {}),
        said: answer?.said,
        passed_over: passed,
      };
    }),
    local,
    bytes: list.bytes,
  };
}

/** The error of a push that did not send everything; null when it did. */
export function pushError({ remote, url, as, branches }: PushReport): Error | null {
  const refused = branches.filter(({ status }) => status === "refused");
  const behind = branches.filter(({ status }) => status === "behind");
  const gone = branches.filter(({ status }) => status === "gone");
  if (refused.length > 0) {
    const { reason = "it did not say why", said } = refused[0] ?? {};
    const words = said === undefined ? "" : ` It says: "${said}"`;
    const message = `${remote} (${url}) refused ${namesOf(refused)}: ${reason}.${words}`;
    const hidden = [
      `Some hosts refuse hidden refs. \`jpg remote add NAME URL --as branches\` adds a repository made for conversations; to use the name ${remote} again, first \`jpg remote rm ${remote}\`.`,
    ];
    const branch = ["Check the host's rules for branches, and what you are allowed to push."];
    const code = as === "hidden" ? "hidden_refs_refused" : "push_refused";
    return repositoryError(code, message, { hints: as === "hidden" ? hidden : branch });
  }
  if (behind.length === 0 && gone[0] !== undefined) {
    const conversation = conversationOf(gone[0].branch);
    const message = `Somebody removed ${namesOf(gone)} from ${remote} since you last looked at it: it was not sent again.`;
    return userError("removed_there", message, {
      hints: [
        `Ask why it was removed. \`jpg push ${conversation} --to ${remote} --yes\` sends it again.`,
        `\`jpg rm ${conversation}\` removes it here as well; \`jpg local ${conversation}\` keeps it, for you alone.`,
      ],
      data: { branches: gone.map(({ branch }) => branch) },
    });
  }
  if (behind.length === 0) return null;
  return repositoryError("push_behind", `${remote} has commits of ${namesOf(behind)} that are not here.`, {
    hints: [`\`jpg pull --from ${remote}\` brings them in; then push again.`],
  });
}

function namesOf(branches: readonly { readonly branch: string }[]): string {
  const names = branches.map(({ branch }) => branch);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

// Pushes that stock git takes for fast-forwards: the remote's tip is in the history of the branch as a merged fork, but its turns
// and records are not on the branch.

export interface MovingRef {
  /** Its name on both sides. */
  readonly name: string;
  readonly commit: string;
  /** The remote's commit; zeros = none. */
  readonly there: string;
}

/** Refuses a push that git would permit and that would drop turns or records of the remote. Throws `push_behind`. */
export async function refuseDropped(workspace: Workspace, moving: readonly MovingRef[]): Promise<void> {
  const sharing = requireSharing(workspace);
  // If one of them is not here, git refuses the push by itself.
  const here = await sharing.present(moving.flatMap(({ there, commit }) => [there, commit]));
  const known = moving.filter(({ there, commit }) => here.has(there) && here.has(commit));
  const apart = await notFastForward(known, (pairs) => branchBases(workspace, pairs));
  const forGit = await notFastForward(apart, (pairs) => sharing.mergeBases(pairs));
  const dropped = apart.filter((ref) => !forGit.includes(ref));
  if (dropped.length === 0) return;
  const names = dropped.map(({ name }) => name).join(", ");
  throw repositoryError(
    "push_behind",
    `${names} is not sent: it would remove turns, compactions or settings from the remote's branch, of which it has only a merged summary.`,
    { hints: ["`jpg pull` brings them in and makes a fork where both have turns; then push again."] },
  );
}

/** Refs whose commit does not descend from the remote's. */
async function notFastForward(
  refs: readonly MovingRef[],
  basesOf: (pairs: readonly CommitPair[]) => Promise<readonly (readonly string[])[]>,
): Promise<readonly MovingRef[]> {
  const bases = await basesOf(refs.map(({ there, commit }) => ({ one: there, other: commit })));
  return refs.filter(({ there }, at) => bases[at]?.includes(there) !== true);
}
