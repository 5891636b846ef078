// Sends conversations to a remote, as planned, and says what became of them.
import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { TransferOptions } from "../../store/sharing.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import { readTemplate } from "../workspace/templates.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { checkOutgoing } from "./check-outgoing.ts";
import { findPassedOver } from "./passed-over.ts";
import { isLeaving, type PlannedPush, type PushPlan } from "./push-plan.ts";
import { type PushReport, reportPush } from "./push-report.ts";
import { requireSharing } from "./remotes.ts";

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
  const passedOver = await findPassedOver(workspace, plan.branches, pushed);
  return reportPush(plan, turns, { pushed, readme: readme?.name ?? "", passedOver });
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
