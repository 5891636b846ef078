// What a word may name, look-up by look-up: conversations, sessions, compactions, commits, events, titles. Each gives what is called
// so and what begins so; resolve-id.ts decides which counts.
import { conversationOf } from "../../core/conversation/name.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { plainForm } from "../../core/look/search-words.ts";
import type { BranchTip } from "../../store/store.ts";
import { readBranchLog } from "../branch/branch-log.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { conversationTitle } from "../branch/titles.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { mainBranch, type NamedBranch } from "./conversations.ts";
import { resolveBranchRevision } from "./revision.ts";

export type Target =
  | {
      readonly kind: "branch";
      readonly branch: string;
      readonly commit: string;
      /** The word named this fork; absent = the conversation with all its forks. */
      readonly isFork?: true;
    }
  | { readonly kind: "compaction"; readonly branch: string; readonly compaction: string }
  | { readonly kind: "commit"; readonly branch: string; readonly commit: string }
  | { readonly kind: "event"; readonly branch: string; readonly turn: number; readonly event: string };

/** A name and the target it stands for. */
export interface Candidate {
  readonly name: string;
  readonly target: Target;
  /** The word names the target's conversation in full: that it is not the active one is no accident. */
  readonly isFull?: true;
}

/** Where a word is looked for: the store's branches, and the active one. */
export interface NameScope {
  readonly workspace: Workspace;
  readonly branches: readonly BranchTip[];
  readonly active: string | null;
}

/** Whether a branch is one of the active conversation's. */
export function isOwn({ active }: Pick<NameScope, "active">, branch: string): boolean {
  return active !== null && conversationOf(branch) === conversationOf(active);
}

/** The candidates of branches that were found. */
export function candidatesOf(found: readonly NamedBranch[], how: Pick<Candidate, "isFull"> = {}): readonly Candidate[] {
  return found.map(({ name, tip, isFork }) => ({
    name,
    target: { kind: "branch", branch: tip.name, commit: tip.commit, ...(isFork ? { isFork } : {}) },
    ...how,
  }));
}

/** Compactions of any branch's history whose id begins with the word. */
export async function findCompactions(place: NameScope, word: string): Promise<readonly Candidate[]> {
  if (!/^[\w.-]+$/.test(word)) return [];
  const { workspace, branches, active } = place;
  // The active branch first, then its conversation: a compaction that several forks share is meant where one is.
  const rank = ({ name }: BranchTip): number => (name === active ? 0 : isOwn(place, name) ? 1 : 2);
  const found = new Map<string, Candidate>();
  for (const branch of [...branches].sort((a, b) => rank(a) - rank(b))) {
    const entries = await readBranchLog(workspace.store, { branch: branch.name, commit: branch.commit });
    for (const path of entries.flatMap((entry) => [...entry.added, ...entry.removed])) {
      const id = compactionIdOfPath(path);
      if (id?.startsWith(word) && !found.has(id))
        found.set(id, { name: id, target: { kind: "compaction", branch: branch.name, compaction: id } });
    }
    if (found.has(word)) break;
  }
  return [...found.values()];
}

/** The commit that a revision names. An abbreviated id is a prefix; anything else that git can read is exact. */
export async function findCommit({ workspace, active }: NameScope, word: string): Promise<readonly Candidate[]> {
  const near = active === null ? {} : { conversation: conversationOf(active) };
  const found = await resolveBranchRevision(workspace, word, near);
  if (found === null) return [];
  const { commit, branch, byName } = found;
  const isPrefix = /^[0-9a-f]{4,39}$/.test(word);
  const name = isPrefix ? commit : word;
  return [{ name, target: { kind: "commit", commit, branch }, ...(byName ? { isFull: true } : {}) }];
}

/** Events whose id begins with the word: of the active branch, and only where it has none, of the others. */
export async function findEvents(place: NameScope, word: string): Promise<readonly Candidate[]> {
  const { workspace, branches, active } = place;
  const { store } = workspace;
  const tip = branches.find((branch) => branch.name === active);
  if (tip !== undefined) {
    const tree = await loadBranchTree(store, tip.name, tip.commit);
    const all = tree.turnOids.map((_, turn) => turn);
    const found = await findInTurns(workspace, tree, { turns: all, word });
    if (found.length > 0) return found;
  }
  const others = branches.filter((branch) => branch !== tip);
  others.sort((a, b) => Number(isOwn(place, b.name)) - Number(isOwn(place, a.name)));
  const texts = [`"id":"${word}`];
  const holding = /[\n"\\]/.test(word)
    ? new Map<string, readonly string[]>()
    : await store.findText(
        others.map(({ commit }) => commit),
        { texts, under: ["turns"] },
      );
  const found = new Map<string, Candidate>();
  for (const { name, commit } of others) {
    const turns = (holding.get(commit) ?? []).flatMap((path) => turnIndexOfPath(path) ?? []);
    if (turns.length === 0) continue;
    const candidates = await findInTurns(workspace, await loadBranchTree(store, name, commit), { turns, word });
    // Forks share events: the first branch that has one stands for all.
    for (const candidate of candidates) if (!found.has(candidate.name)) found.set(candidate.name, candidate);
  }
  return [...found.values()];
}

/** An event of the active branch by its turn, `3:EVENT`; none where the word is no such place. */
export async function findPlacedEvent(
  { workspace, branches, active }: NameScope,
  word: string,
): Promise<readonly Candidate[]> {
  const [, digits, event = ""] = /^(\d{1,9}):(\S+)$/.exec(word) ?? [];
  const tip = branches.find((branch) => branch.name === active);
  if (digits === undefined || tip === undefined) return [];
  const tree = await loadBranchTree(workspace.store, tip.name, tip.commit);
  const turn = Number(digits);
  if (turn >= tree.turnOids.length) return [];
  const found = await findInTurns(workspace, tree, { turns: [turn], word: event });
  const exact = found.filter(({ name }) => name === event);
  return exact.length > 0 ? exact : found;
}

async function findInTurns(
  { store }: Workspace,
  { branch, turnOids }: BranchTree,
  { turns, word }: { readonly turns: readonly number[]; readonly word: string },
): Promise<readonly Candidate[]> {
  const decoder = new TextDecoder();
  const found: Candidate[] = [];
  let next = 0;
  for await (const bytes of store.readBlobs(turns.map((turn) => turnOids[turn] ?? ""))) {
    const turn = turns[next++] ?? 0;
    for (const line of decoder.decode(bytes).split("\n")) {
      const id = /"id":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
      if (id?.startsWith(word)) found.push({ name: id, target: { kind: "event", branch, turn, event: id } });
    }
  }
  return found;
}

/** Conversations whose title begins with the word, upper and lower case alike. */
export async function findByTitle(
  { workspace, branches, active }: NameScope,
  word: string,
): Promise<readonly Candidate[]> {
  const found: NamedBranch[] = [];
  for (const name of new Set(branches.map((branch) => conversationOf(branch.name)))) {
    const tip = mainBranch(branches, name, active);
    const title = tip === null ? null : await titleOf(workspace, tip);
    if (tip !== null && title !== null && spelled(title).startsWith(spelled(word)))
      found.push({ name, tip, isFork: false });
  }
  return candidatesOf(found);
}

/** A word as it is compared with others. */
function spelled(text: string): string {
  return plainForm(text).toLowerCase();
}

/** Null when the conversation cannot be read: it is found by its name only, and does not hide the others. */
async function titleOf(workspace: Workspace, { name, commit }: BranchTip): Promise<string | null> {
  try {
    return await conversationTitle(workspace, await loadBranchTree(workspace.store, name, commit));
  } catch {
    return null;
  }
}
