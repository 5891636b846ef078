// What a push would send: load what stands on the remote, and tell what goes there from what is there. What others added is never
// overwritten; it has to be pulled first.
import { conversationOf } from "../../core/conversation/name.ts";
import type { OutgoingList, Remote, TransferOptions } from "../../store/sharing.ts";
import type { BranchTip } from "../../store/store.ts";
import { resolveId } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";
import { outgoingObjects } from "./check-outgoing.ts";
import { localError } from "./local.ts";
import { requireSharing } from "./remotes.ts";

/** What to send: `@`'s fork when no id and not all is said, all forks of an id, or one fork that was named. */
export interface PushRequest {
  readonly id?: string;
  readonly all: boolean;
  /** Whether what somebody removed from the remote is sent again. */
  readonly again?: boolean;
}

/** A branch and what would become of it on the remote. */
export interface PlannedPush extends BranchTip {
  /** `gone`: the remote had it when it was last looked at, and has it no more. `ahead`: the remote has all of it and more. `behind`: the remote's has commits that are not here, or that this branch was only told of. */
  readonly status: "new" | "updated" | "unchanged" | "ahead" | "behind" | "gone";
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
  const compared = await compareTips(workspace, tips, { remoteTips, present });
  const had = new Set(request.again === true ? [] : (await sharing.tracked(remote.name)).map(({ name }) => name));
  const isGone = ({ name, status }: PlannedPush): boolean => status === "new" && had.has(name);
  const branches = compared.map((branch) => (isGone(branch) ? { ...branch, status: "gone" as const } : branch));
  const known = [...present];
  const leaving = branches.filter(isLeaving);
  const list = await sharing.outgoing(outgoingObjects({ tips: leaving, known }));
  const isFirst = isEmpty && remote.as === "branches" && leaving.length > 0;
  return { remote, branches, local, known, list, isFirst };
}

/** Whether a branch goes there. */
export function isLeaving({ status }: Pick<PlannedPush, "status">): boolean {
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
  const target = await resolveId(workspace, id);
  const { branch } = target;
  const conversation = conversationOf(branch);
  if (marked.has(conversation)) throw localError([conversation]);
  const isOne = id === undefined || id === "@" || id === "-" || (target.kind === "branch" && target.isFork === true);
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
