// The whole histories that a branch was put together from, looked for once its turns were found not to follow each other.
import type { ConversationStore } from "../../store/store.ts";
import { checkLinks, type Turns } from "./turn-links.ts";
import { listTurnOids } from "./turn-list.ts";

/** A commit whose turns follow each other. */
export interface Side {
  readonly commit: string;
  /** How many turns it has, at least one. */
  readonly turns: number;
}

/** Commits looked at in history. */
const MOST_COMMITS = 500;
/** Former tips looked at where history alone does not have two sides. */
const MOST_TIPS = 50;

/**
 * The newest commits behind the tip whose turns follow each other, on every line of history that leads to it. A rebase or an
 * amended turn leaves one: what was there before is the last such commit that the branch stood at.
 */
export async function findSides(store: ConversationStore, tree: Turns): Promise<readonly Side[]> {
  const look = createLook(store);
  const { sides, seen } = await searchHistory(store, tree.commit, look);
  if (sides.length > 1) return sides;
  for (const tip of (await store.formerTips(tree.branch)).slice(0, MOST_TIPS)) {
    const side = seen.has(tip) || (await store.resolveCommit(tip)) === null ? null : await look(tip);
    if (side !== null) return [...sides, side];
  }
  return sides;
}

/** Gives a commit as a side, or null when its turns do not follow each other. */
type Look = (commit: string) => Promise<Side | null>;

/** Commits share turns: each turn file is read once. */
function createLook(store: ConversationStore): Look {
  const previous = new Map<string, string | null>();
  return async (commit) => {
    const oids = await listTurnOids(store, commit);
    const present = oids.filter((oid) => oid !== undefined);
    if (present.length === 0 || present.length < oids.length) return null;
    return (await checkLinks(store, present, { previous })).length === 0 ? { commit, turns: oids.length } : null;
  };
}

async function searchHistory(
  store: ConversationStore,
  tip: string,
  look: Look,
): Promise<{ readonly sides: readonly Side[]; readonly seen: ReadonlySet<string> }> {
  const log = await store.readLog({ from: tip, limit: MOST_COMMITS });
  const parents = new Map(log.map((entry) => [entry.commit, entry.parents]));
  const sides: Side[] = [];
  const seen = new Set([tip]);
  // A set also gives what is added to it while it is gone through.
  for (const commit of seen) {
    const side = commit === tip ? null : await look(commit);
    if (side !== null) sides.push(side);
    else for (const parent of parents.get(commit) ?? []) if (parents.has(parent)) seen.add(parent);
  }
  return { sides, seen };
}
