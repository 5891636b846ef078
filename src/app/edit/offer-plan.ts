// What there is to edit: the plan of a branch as it stands, and the verbs of an older plan brought over to it.
import { type EditItem, type EditVerb, type PlanBase, parsePlan } from "../../core/compact/edit-plan.ts";
import type { TokenCount } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { loadEdit } from "./load-edit.ts";
import { badPlan } from "./plan-error.ts";

/** A plan before it is written: its lines, and what the whole view comes to. */
export interface PlanOffer {
  readonly base: PlanBase;
  readonly items: readonly EditItem[];
  /** What each item's line is to say, by place; those left out stay as they are. */
  readonly verbs: ReadonlyMap<string, EditVerb>;
  readonly size: TokenCount;
  /** Tokens in front of the events; no line has them. */
  readonly overhead: number;
  /** Context window of the conversation's model, tokens; null = unknown. */
  readonly windowTokens: number | null;
  /** Lines of an older plan that said to change something, and that are not there any more, as they were written. */
  readonly lost: readonly string[];
}

/** Characters of a commit's id that a plan is written with. */
const COMMIT_CHARS = 12;

/** Offers a plan of a branch. */
export async function offerPlan(
  workspace: Workspace,
  tree: BranchTree,
  { calls }: Pick<PlanBase, "calls">,
): Promise<PlanOffer> {
  const { items, size, meter, windowTokens } = await loadEdit(workspace, tree, { calls });
  const base = { branch: tree.branch, commit: tree.commit.slice(0, COMMIT_CHARS), calls };
  return { base, items, verbs: new Map(), size, overhead: meter.overhead, windowTokens, lost: [] };
}

/**
 * Offers a plan with the verbs of an older one, where what they were said of stands unchanged. Throws `bad_plan`; lines that
 * cannot be read bring nothing over.
 */
export async function carryOver(workspace: Workspace, tree: BranchTree, text: string): Promise<PlanOffer> {
  const { plan, problems } = parsePlan(text);
  if (plan === null && problems.length > 0) throw badPlan(problems);
  const offer = await offerPlan(workspace, tree, { calls: plan?.base.calls ?? false });
  if (plan === null) return offer;
  const stands = await unchangedSince(workspace, tree, plan.base.commit);
  const items = new Map(offer.items.map((item) => [item.place, item] as const));
  const verbs = new Map<string, EditVerb>();
  const lost: string[] = [];
  for (const { place, verb } of plan.lines) {
    const item = items.get(place);
    if (item !== undefined && stands(item)) verbs.set(place, verb);
    else if (verb !== "keep" && verb !== "pin") lost.push(`${verb} ${place}`);
  }
  return { ...offer, verbs, lost };
}

/** Tells whether the turns of an item are those that stood there at a commit. */
async function unchangedSince(
  { store }: Workspace,
  { turnOids }: BranchTree,
  commit: string,
): Promise<(item: EditItem) => boolean> {
  const known = await store.resolveCommit(commit);
  const before = known === null ? [] : await listTurnOids(store, known);
  return ({ range: { from, to } }) => {
    for (let turn = from; turn <= to; turn++) if (turnOids[turn] !== before[turn]) return false;
    return true;
  };
}
