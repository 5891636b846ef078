// Which branch takes an object along, of several that are sent together. It is asked only where a push is refused, so that what is
// said names a conversation; what leaves is listed for all branches at once.
import type { BranchTip } from "../../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { requireSharing } from "./remotes.ts";

/** Branches that are sent, and commits that the other side has. */
interface Sent {
  readonly tips: readonly BranchTip[];
  readonly known: readonly string[];
}

/**
 * Finds a branch for each object, of which `sent` takes all along: the first half of the branches is asked, then half of the half
 * that has it, so that of a thousand ten are asked.
 */
export async function findCarriers(
  workspace: Workspace,
  { tips, known }: Sent,
  oids: readonly string[],
): Promise<ReadonlyMap<string, BranchTip>> {
  const [first, ...others] = tips;
  if (first === undefined || oids.length === 0) return new Map();
  if (others.length === 0) return new Map(oids.map((oid) => [oid, first]));
  const half = tips.slice(0, Math.ceil(tips.length / 2));
  const { objects } = await requireSharing(workspace).outgoing({ tips: half.map(({ commit }) => commit), known });
  const there = new Set(objects.map(({ oid }) => oid));
  const [inHalf, inRest] = [oids.filter((oid) => there.has(oid)), oids.filter((oid) => !there.has(oid))];
  return new Map([
    ...(await findCarriers(workspace, { tips: half, known }, inHalf)),
    ...(await findCarriers(workspace, { tips: tips.slice(half.length), known }, inRest)),
  ]);
}
