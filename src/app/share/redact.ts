// Makes a masked copy of a conversation: reads its history and finds the secrets, plans the masks, writes a new conversation,
// checks it as a push would, and only then creates its branches. The original does not change and becomes local. A second call
// updates the copy where possible.
import type { MaskedCopy } from "../../store/store.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { listTurnOids } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { type CopyNames, type MaskedSecret, nameCopy } from "./find-masks.ts";
import { type WrittenCopy, writeCopy } from "./mask-history.ts";
import { type PulledBranch, pullBranch } from "./pull-branch.ts";
import { continuesCopy, type LeftOutSources, type RedactPlan, requestDigest } from "./redact-plan.ts";
import { keepingLocal, listConversationRemotes } from "./remotes.ts";

export interface RedactReport {
  readonly conversation: string;
  /** Null when there is none. */
  readonly redacted: string | null;
  /** `updated`, `unchanged`: of an earlier copy. `nothing`: no secret was found. */
  readonly status: "created" | "updated" | "unchanged" | "nothing";
  readonly branches: readonly string[];
  /** What happened to the branches of an earlier copy. */
  readonly changes: readonly PulledBranch[];
  /** An earlier copy in which other secrets are masked; null = none. */
  readonly earlier: string | null;
  readonly secrets: readonly MaskedSecret[];
  readonly left_out: LeftOutSources;
  /** Remotes that had the original at the last fetch. */
  readonly seen_on: readonly string[];
}

/** Reports what `redact` would do. */
export function tryRedact(workspace: Workspace, plan: RedactPlan): Promise<RedactReport> {
  const { redacted, earlier } = plan;
  if (redacted === null) return reportRedact(workspace, plan, { status: "nothing" });
  if (earlier === null) return reportRedact(workspace, plan, { status: "created" });
  return reportRedact(workspace, plan, { status: plan.isUpToDate ? "unchanged" : "updated", redacted });
}

/**
 * Makes the copy, or updates the earlier one. Branches are created after everything is written and checked. Throws
 * `redact_incomplete`, `redact_damages`.
 */
export async function redact(workspace: Workspace, plan: RedactPlan): Promise<RedactReport> {
  const { redacted, earlier } = plan;
  if (redacted === null) return reportRedact(workspace, plan, { status: "nothing" });
  if (plan.isUpToDate) return reportRedact(workspace, plan, { status: "unchanged", redacted });
  const copy = await writeCopy(workspace, plan, redacted);
  if (earlier === null) return createCopy(workspace, plan, copy);
  if (await continuesCopy(workspace, earlier, new Map(copy.branches.map(({ name, commit }) => [name, commit]))))
    return updateCopy(workspace, { ...plan, earlier }, copy);
  const names = await nameCopy(workspace, { ...plan, earlier: null });
  return createCopy(workspace, plan, await writeCopy(workspace, plan, names));
}

async function createCopy(workspace: Workspace, plan: RedactPlan, copy: WrittenCopy): Promise<RedactReport> {
  const { store } = workspace;
  // Recorded first: a copy that is not recorded would be made again.
  await store.maskedCopies()?.record(describeCopy(plan, copy));
  await keepingLocal(workspace, plan.conversation, async () => store.histories?.create(copy.branches));
  return reportRedact(workspace, plan, { status: "created", redacted: copy.names });
}

/** Updates a copy as a pull would: branches that the user removed from it are not restored, and what the user added stays. */
async function updateCopy(
  workspace: Workspace,
  plan: RedactPlan & { readonly earlier: MaskedCopy },
  copy: WrittenCopy,
): Promise<RedactReport> {
  const { store } = workspace;
  const known = new Set(Object.values(plan.earlier.branches).map(({ name }) => name));
  const there = new Set((await store.listBranches()).map(({ name }) => name));
  const fresh = copy.branches.filter(({ name }) => !there.has(name) && !known.has(name));
  const changes: PulledBranch[] = [];
  const movedFrom = new Map<string, string>();
  await keepingLocal(workspace, plan.conversation, async () => {
    if (fresh.length > 0) await store.histories?.create(fresh);
    for (const tip of copy.branches.filter(({ name }) => there.has(name))) {
      const taken = await pullBranch(workspace, tip, { remote: "", there: new Set(), movedFrom });
      if (taken !== null) changes.push(taken);
    }
  });
  for (const { name: branch, commit } of fresh)
    changes.push({ branch, status: "new", turns: (await listTurnOids(store, commit)).length });
  const moved = changes.flatMap(({ branch, fork }) => (fork === undefined ? [branch] : [branch, fork]));
  if (moved.length > 0) await refreshViews(workspace, new Set(moved), movedFrom);
  // Branches that were kept are tried again the next time.
  if (!changes.some(({ status }) => status === "kept")) await store.maskedCopies()?.record(describeCopy(plan, copy));
  const status = changes.length === 0 ? "unchanged" : "updated";
  return reportRedact(workspace, plan, { status, redacted: copy.names, changes });
}

function describeCopy({ conversation, tips, wanted, found }: RedactPlan, { names, branches }: WrittenCopy): MaskedCopy {
  const made = tips.map(({ name, commit }, at) => {
    const { name: copied = "", commit: to = "" } = branches[at] ?? {};
    return [name, { from: commit, name: copied, to }] as const;
  });
  return {
    original: conversation,
    copy: names.id,
    request: requestDigest(wanted),
    branches: Object.fromEntries(made),
    masks: found.given,
  };
}

interface RedactOutcome {
  readonly status: RedactReport["status"];
  /** Absent where no copy was made. */
  readonly redacted?: CopyNames;
  readonly changes?: readonly PulledBranch[];
}

async function reportRedact(
  workspace: Workspace,
  plan: RedactPlan,
  { status, redacted, changes = [] }: RedactOutcome,
): Promise<RedactReport> {
  return {
    conversation: plan.conversation,
    redacted: redacted?.id ?? null,
    status,
    branches: [...(redacted?.branches.values() ?? [])],
    changes,
    earlier: status === "created" ? (plan.earlier?.copy ?? null) : null,
    secrets: plan.found.secrets,
    left_out: plan.leftOut,
    seen_on: await listConversationRemotes(workspace, plan.conversation),
  };
}
