// Finds turns that stock git removed from the middle of a branch (`git revert` of one, a rebase that drops one) in its history or
// its former tips. They can be read from there; nothing new is built on the branch until they are back.
import { turnPath } from "../../core/conversation/turn-file.ts";
import type { ConversationStore } from "../../store/store.ts";

/** A turn that the branch lost, and a commit that still has it. */
export interface MissingTurn {
  /** 0-based. */
  readonly turn: number;
  readonly oid: string;
  readonly commit: string;
  /** The commit of the branch's history that removed it; null = the branch was moved to a history without it. */
  readonly removedBy: string | null;
}

/** Finds the missing turns of a list with holes, in ascending order; leaves out those that no commit has. */
export async function findMissingTurns(
  store: ConversationStore,
  { branch, commit }: { readonly branch: string; readonly commit: string },
  oids: readonly (string | undefined)[],
): Promise<readonly MissingTurn[]> {
  const wanted = oids.flatMap((oid, turn) => (oid === undefined ? [turn] : []));
  const places = await placesOf(store, { branch, commit });
  const found: MissingTurn[] = [];
  for (const turn of wanted) {
    const one = await findIn(store, places, turn);
    if (one !== null) found.push(one);
  }
  return found;
}

/** A commit that may have a missing turn. `removes` = paths that the commit after it removed; null = not known. */
interface Place {
  readonly commit: string;
  readonly removedBy: string | null;
  readonly removes: ReadonlySet<string> | null;
}

async function placesOf(
  store: ConversationStore,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<readonly Place[]> {
  const log = await store.readLog({ from: commit, paths: ["turns"] });
  const removals = log.flatMap(({ commit: removedBy, parents: [before], removed }) =>
    before === undefined || removed.length === 0 ? [] : [{ commit: before, removedBy, removes: new Set(removed) }],
  );
  const former = (await store.formerTips(branch)).filter((tip) => /[1-9a-f]/.test(tip));
  // A file that became a link or a submodule does not count as removed.
  const changes = log.flatMap(({ commit: removedBy, parents: [before] }) =>
    before === undefined ? [] : [{ commit: before, removedBy, removes: null }],
  );
  return [...removals, ...former.map((tip) => ({ commit: tip, removedBy: null, removes: null })), ...changes];
}

async function findIn(store: ConversationStore, places: readonly Place[], turn: number): Promise<MissingTurn | null> {
  const path = turnPath(turn);
  for (const { commit, removedBy, removes } of places) {
    if (removes?.has(path) === false) continue;
    const file = await store.listTree(commit, { under: [path] }).then(
      ([first]) => first,
      () => undefined, // git has pruned the commit
    );
    if (file?.path === path && file.special === undefined) return { turn, oid: file.oid, commit, removedBy };
  }
  return null;
}
