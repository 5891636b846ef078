// Where two commits parted, told from the commits around them: most branches part a few commits back. What is further away, or
// has more than one answer, is left to git.
import type { CommitPair, IsAside } from "../../sharing.ts";
import type { NearCommits } from "../objects/near-commits.ts";

/** The best common ancestor of a pair; none of unrelated ones; null when git has to be asked. */
export async function nearBases(
  commits: NearCommits,
  { one, other }: CommitPair,
  isAside?: IsAside,
): Promise<readonly string[] | null> {
  const parentsOf = async (commit: string): Promise<readonly string[] | null> => {
    const near = commits.read(commit);
    if (near === null) return null;
    const isCut = near.parents.length > 1 && (await isAside?.(near)) === true;
    return isCut ? near.parents.slice(0, 1) : near.parents;
  };
  const [before, beforeOther] = [openWalk(one, parentsOf), openWalk(other, parentsOf)];
  // Side by side: one of them mostly comes to the other soon, and may itself go far back.
  for (;;) {
    const steps = [await before.step(), await beforeOther.step()];
    if (beforeOther.met.has(one)) return [one];
    if (before.met.has(other)) return [other];
    if (steps.includes("lost")) return null;
    if (steps.every((step) => step === "end")) break;
  }
  const common = new Set([...before.met.keys()].filter((commit) => beforeOther.met.has(commit)));
  for (const commit of [...common]) for (const parent of before.met.get(commit) ?? []) common.delete(parent);
  return common.size > 1 ? null : [...common];
}

/** A walk through what comes before a commit, itself among it. */
interface Walk {
  /** Parents of the commits that were met. */
  readonly met: ReadonlyMap<string, readonly string[]>;
  /** Meets one more; `lost` when git has to be asked for it. */
  step(): Promise<"met" | "end" | "lost">;
}

function openWalk(from: string, parentsOf: (commit: string) => Promise<readonly string[] | null>): Walk {
  const met = new Map<string, readonly string[]>();
  const next = new Set([from]);
  return {
    met,
    async step() {
      const [commit] = next;
      if (commit === undefined) return "end";
      const parents = await parentsOf(commit);
      if (parents === null) return "lost";
      next.delete(commit);
      met.set(commit, parents);
      for (const parent of parents) if (!met.has(parent)) next.add(parent);
      return "met";
    },
  };
}
