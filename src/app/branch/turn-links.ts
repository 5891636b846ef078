// Whether the turns of a branch follow each other. Each `turn_start` names the turn file that it was said after (`prev`); a
// stock merge, cherry-pick or rebase can put turns together that no model ever saw in a row. What was found is kept below
// the git dir by the object id of `turns/`: of a new tree only the turns that changed are read, and only their first lines.
import * as z from "zod/mini";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import type { ConversationStore } from "../../store/store.ts";
import { objectId, sha256 } from "../workspace/object-id.ts";
import type { BranchTree } from "./branch-tree.ts";
import { readPrevious } from "./turn-bytes.ts";
import { listTurnOids } from "./turn-list.ts";

/** The turns of a branch at a commit. */
export type Turns = Pick<BranchTree, "branch" | "commit" | "turnOids" | "missing" | "atTurn">;

/** A tree of turns that was checked. */
interface CheckedTurns {
  readonly branch: string;
  /** A commit that holds it. */
  readonly commit: string;
  /** Object id of `turns/`. */
  readonly turns: string;
  /** As `findBrokenLinks` gives them. */
  readonly broken: readonly number[];
}

const checkedTurns: z.ZodMiniType<CheckedTurns[]> = z.array(
  z.object({ branch: z.string(), commit: objectId, turns: objectId, broken: z.array(z.int()) }),
);

const CACHE = "links";
/** Trees remembered of a conversation, those of all its forks together. */
const MOST_ENTRIES = 16;

/** Positions of the turns that were said after another turn than the one before them here, ascending; none = all follow. */
export async function findBrokenLinks(store: ConversationStore, tree: Turns): Promise<readonly number[]> {
  if (tree.atTurn !== undefined) return checkLinks(store, tree.turnOids);
  const turns = tree.turnOids.length < 2 ? undefined : await turnsEntry(store, tree.commit);
  if (turns === undefined) return [];
  const known = readChecked(store, tree.branch);
  const same = known.find((entry) => entry.turns === turns);
  if (same !== undefined) return same.broken;
  const before = known.find((entry) => entry.branch === tree.branch) ?? known[0];
  const broken = await checkAfter(store, tree.turnOids, before);
  // Turns of a partial clone that are not here are not fetched for this.
  if ((store.partial?.missing(tree.turnOids).length ?? 0) > 0) return broken;
  await keepChecked(store, known, { branch: tree.branch, commit: tree.commit, turns, broken });
  return broken;
}

/** Remembers that the turns of a commit follow each other, of one that was made so. */
export async function rememberWhole(
  store: ConversationStore,
  { branch, commit }: Pick<Turns, "branch" | "commit">,
): Promise<void> {
  const turns = await turnsEntry(store, commit);
  if (turns === undefined) return;
  await keepChecked(store, readChecked(store, branch), { branch, commit, turns, broken: [] });
}

/**
 * Checks turns, all or those at some positions, and gives the positions that do not follow. `previous` = what turn files
 * name, by object id; what is read is added to it.
 */
export async function checkLinks(
  store: ConversationStore,
  oids: readonly string[],
  { positions = [...oids.keys()], previous = new Map() }: CheckedPositions = {},
): Promise<readonly number[]> {
  const absent = new Set(store.partial?.missing(oids));
  const unread = positions.flatMap((turn) => oids[turn] ?? []).filter((oid) => !previous.has(oid) && !absent.has(oid));
  for (const [at, name] of (await readPrevious(store, unread)).entries()) previous.set(unread[at] ?? "", name);
  return positions.filter((turn) => isBrokenLink(previous.get(oids[turn] ?? "") ?? null, oids[turn - 1]));
}

/** Whether a turn that names `previous` was said after another turn than the one before it. One that names none may follow any. */
export function isBrokenLink(previous: string | null, before: string | undefined): boolean {
  return previous !== null && previous !== before;
}

interface CheckedPositions {
  readonly positions?: readonly number[];
  readonly previous?: Map<string, string | null>;
}

/** Checks the turns that differ from those of a tree that was checked before, and those after them. */
async function checkAfter(
  store: ConversationStore,
  oids: readonly string[],
  before: CheckedTurns | undefined,
): Promise<readonly number[]> {
  const old = before === undefined ? [] : await listCheckedTurns(store, before.commit);
  const isOpen = (turn: number): boolean => oids[turn] !== old[turn] || oids[turn - 1] !== old[turn - 1];
  const positions = [...oids.keys()].filter(isOpen);
  const still = (before?.broken ?? []).filter((turn) => turn < oids.length && !isOpen(turn));
  return [...still, ...(await checkLinks(store, oids, { positions }))].sort((a, b) => a - b);
}

/** None when the commit is gone: then everything is checked again. */
async function listCheckedTurns(store: ConversationStore, commit: string): Promise<readonly (string | undefined)[]> {
  try {
    return await listTurnOids(store, commit);
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

async function turnsEntry(store: ConversationStore, commit: string): Promise<string | undefined> {
  return (await store.readEntries(commit, ["turns"])).get("turns");
}

function keyOf(branch: string): string {
  return sha256(conversationOf(branch)).slice(0, 40);
}

function readChecked(store: ConversationStore, branch: string): readonly CheckedTurns[] {
  // Never written, or damaged: everything is checked.
  return parseJson(String(store.cache(CACHE).read(keyOf(branch))), checkedTurns) ?? [];
}

/** The newest stands first. */
async function keepChecked(
  store: ConversationStore,
  known: readonly CheckedTurns[],
  entry: CheckedTurns,
): Promise<void> {
  const entries = [entry, ...known].slice(0, MOST_ENTRIES);
  await store.cache(CACHE).write(JSON.stringify(entries), keyOf(entry.branch));
}
