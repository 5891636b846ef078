// Sends conversations to a remote: load what stands there → plan what goes → send. What others added there is never
// overwritten; it has to be pulled first.
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { conversationOf } from "../../core/conversation-name.ts";
import { repositoryError } from "../../core/errors.ts";
import { shownUrl } from "../../core/remote-address.ts";
import type { BranchTip } from "../../store/conversation-store.ts";
import type { OutgoingList, PushedBranch, Remote, TransferOptions } from "../../store/sharing.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import { resolveId } from "../names/resolve-id.ts";
import { readTemplate } from "../workspace/templates.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";
import { checkOutgoing, outgoingObjects } from "./check-outgoing.ts";
import type { RemotePlace } from "./fetch.ts";
import { localError } from "./local.ts";
import { requireSharing } from "./remotes.ts";

/** What to send: `@`'s fork when no id and not all is said, all forks of an id, or one fork that was named. */
export interface PushRequest {
  readonly id?: string;
  readonly all: boolean;
}

/** A branch and what would become of it on the remote. */
export interface PlannedPush extends BranchTip {
  /** `ahead`: the remote has all of it and more. `behind`: the remote's has commits that are not here, or that this branch was only told of. */
  readonly status: "new" | "updated" | "unchanged" | "ahead" | "behind";
  /** The commit there, of one that is updated. */
  readonly at?: string;
}

/** What a push would send. */
export interface PushPlan {
  readonly remote: Remote;
  readonly branches: readonly PlannedPush[];
  /** Conversations that were left out because they are local; only of all. */
  readonly local: readonly string[];
  /** Commits that the remote has and that are here. */
  readonly known: readonly string[];
  /** What leaves; over the line it takes about as many bytes as here. */
  readonly list: OutgoingList;
  /** Whether the remote, made for conversations, is still empty: it gets a README branch, too. */
  readonly isFirst: boolean;
}

/** What a push sent. */
export interface PushReport extends RemotePlace {
  readonly branches: readonly {
    readonly branch: string;
    readonly status: PlannedPush["status"] | "refused";
    /** Turns that the remote did not have; >= 0. */
    readonly turns: number;
    /** Why it was refused, in git's words. */
    readonly reason?: string;
    /** What the other side printed where it refused. */
    readonly said?: string;
  }[];
  readonly local: readonly string[];
  /** As they are stored here. */
  readonly bytes: number;
  /** The branch on which a README was written, which says what the repository is; null where none was. */
  readonly readme: string | null;
}

/** Plans a push. Throws `local_conversation`, the errors of ids, and `remote_*`. */
export async function planPush(
  workspace: Workspace,
  remote: Remote,
  { request, options }: { readonly request: PushRequest; readonly options: TransferOptions },
): Promise<PushPlan> {
  const sharing = requireSharing(workspace);
  const { tips, local } = await chooseTips(workspace, request);
  const { [remote.as]: there, isEmpty } = await sharing.listRefs(remote.pushUrl, options);
  const present = await sharing.present([...new Set(there.map(({ commit }) => commit))]);
  const remoteTips = new Map(there.map(({ name, commit }) => [name, commit]));
  const branches = await compareTips(workspace, tips, { remoteTips, present });
  const known = [...present];
  const leaving = branches.filter(isLeaving);
  const list = await sharing.outgoing(outgoingObjects({ tips: leaving, known }));
  const isFirst = isEmpty && remote.as === "branches" && leaving.length > 0;
  return { remote, branches, local, known, list, isFirst };
}

/** What a push would send. Throws what it would be refused for: `allow` as for `checkOutgoing`, whose errors these are. */
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
  return checkOutgoing(workspace, { tips: branches.filter(isLeaving), known, list }, { allow });
}

/** Sends what was planned; gives what became of each branch. Throws what `checkOutgoing` refuses, and `remote_*`. */
export async function sendPush(
  workspace: Workspace,
  plan: PushPlan,
  options: TransferOptions & { readonly allow?: readonly string[] },
): Promise<PushReport> {
  const tips = plan.branches.filter(isLeaving);
  const sharing = requireSharing(workspace);
  const making = plan.isFirst
    ? readTemplate("published-readme.md").then((text) => sharing.makeReadme(plan.remote.pushUrl, text, options))
    : null;
  const checking = checkPush(workspace, plan, options.allow);
  checking.catch(() => undefined); // it is waited for below, when nothing of the making is left half done
  const readme = await making;
  await checking;
  const sent = readme === null ? tips : [readme, ...tips];
  // Turns are counted while git sends.
  const [pushed, turns] = await Promise.all([
    sharing.push(plan.remote, sent, options),
    countTurns(workspace, plan.branches),
  ]);
  return reportPush(plan, turns, { pushed, readme: readme?.name ?? "" });
}

/** Where conversations are sent. */
export function pushedPlace({ name, pushUrl, as }: Remote): RemotePlace {
  return { remote: name, url: shownUrl(pushUrl), as };
}

/** The report of a plan: of what was sent, or of what would be; `turns` = of each branch. */
function reportPush(
  { remote, branches, local, list }: PushPlan,
  turns: readonly number[],
  { pushed = [], readme = "" }: { readonly pushed?: readonly PushedBranch[]; readonly readme?: string } = {},
): PushReport {
  const answers = new Map(pushed.map((branch) => [branch.name, branch]));
  return {
    ...pushedPlace(remote),
    branches: branches.map(({ name, status }, index) => {
      const answer = answers.get(name);
      const isStopped = answer?.status === "behind" || answer?.status === "refused";
      return {
        branch: name,
        status: isStopped ? answer.status : status,
        turns: turns[index] ?? 0,
        ...(isStopped && answer.reason !== "" ? { reason: answer.reason } : {}),
        ...(answer?.said === undefined ? {} : { said: answer.said }),
      };
    }),
    local,
    bytes: list.bytes,
    // Where another was just as fast and wrote something else there, theirs stays.
    readme: answers.get(readme)?.status === "sent" ? readme : null,
  };
}

/** The error of a push of which something did not arrive; null when all of it did. */
export function pushError({ remote, url, as, branches }: PushReport): Error | null {
  const refused = branches.filter(({ status }) => status === "refused");
  const behind = branches.filter(({ status }) => status === "behind");
  if (refused.length > 0) {
    const { reason = "it did not say why", said } = refused[0] ?? {};
    const words = said === undefined ? "" : ` It says: "${said}"`;
    const message = `${remote} (${url}) refused ${namesOf(refused)}: ${reason}.${words}`;
    const hidden = [
      `Some hosts take no hidden refs. \`jpg remote add NAME URL --as branches\` names a repository made for conversations; \`jpg remote rm ${remote}\` forgets this remote first where it is to be the same.`,
    ];
    const branch = ["Look at the rules for branches there, and at what you may write."];
    const code = as === "hidden" ? "hidden_refs_refused" : "push_refused";
    return repositoryError(code, message, { hints: as === "hidden" ? hidden : branch });
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

function isLeaving({ status }: Pick<PlannedPush, "status">): boolean {
  return status === "new" || status === "updated";
}

/** The branches that are meant, without those of local conversations where all are. Throws `local_conversation`. */
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
  const { branch } = await resolveId(workspace, id);
  const conversation = conversationOf(branch);
  if (marked.has(conversation)) throw localError([conversation]);
  const isOne = id === undefined || id === "@" || id === "-" || id.includes("/");
  const isMeant = ({ name }: BranchTip): boolean => (isOne ? name === branch : conversationOf(name) === conversation);
  return { tips: (await workspace.store.listBranches()).filter(isMeant), local: [] };
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

/** Turns that the remote does not have, of each branch. */
async function countTurns({ store }: Workspace, branches: readonly PlannedPush[]): Promise<readonly number[]> {
  const count = async (commit: string): Promise<number> => (await listTurnOids(store, commit)).length;
  const counted: number[] = [];
  for (const branch of branches) {
    // Whatever else goes on is not to wait for all of them.
    await turnOfLoop();
    const own = isLeaving(branch) ? await count(branch.commit) : 0;
    counted.push(branch.at === undefined ? own : Math.max(0, own - (await count(branch.at))));
  }
  return counted;
}
