// What a word may name, look-up by look-up: compactions, commits, events, and conversations by prefix or title.
import { conversationOf } from "../../core/conversation-name.ts";
import { turnIndexOfPath } from "../../core/event/turn-file.ts";
import type { BranchTip } from "../../store/conversation-store.ts";
import { readBranchLog } from "../branch/branch-log.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { conversationTitle } from "../branch/titles.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { mainBranch, preferredBranch } from "./conversations.ts";
import { resolveBranchRevision } from "./revision.ts";

export type Target =
  | { readonly kind: "branch"; readonly branch: string; readonly commit: string }
  | { readonly kind: "compaction"; readonly branch: string; readonly compaction: string }
  | { readonly kind: "commit"; readonly branch: string; readonly commit: string }
  | { readonly kind: "event"; readonly branch: string; readonly turn: number; readonly event: string };

/** A name and the target it stands for. */
export interface Candidate {
  readonly name: string;
  readonly target: Target;
}

/** The branch or conversation of exactly this name, else the active conversation's fork of it; null when there is none. */
export function exactBranch(branches: readonly BranchTip[], word: string, active: string | null): Target | null {
  const named = (name: string): BranchTip | undefined => branches.find((branch) => branch.name === name);
  const own = active === null ? undefined : named(`${conversationOf(active)}/${word}`);
  const tip = named(word) ?? mainBranch(branches, word, active) ?? own;
  return tip === null || tip === undefined ? null : { kind: "branch", branch: tip.name, commit: tip.commit };
}

/** Compactions of any branch's history whose id begins with the word. */
export async function findCompactions(
  workspace: Workspace,
  branches: readonly BranchTip[],
  word: string,
): Promise<readonly Candidate[]> {
  if (!/^[\w.-]+$/.test(word)) return [];
  const active = await preferredBranch(workspace);
  // The active branch first: a compaction that several forks share is meant on the branch one stands on.
  const ordered = [...branches].sort((a, b) => Number(b.name === active) - Number(a.name === active));
  const found = new Map<string, Candidate>();
  for (const branch of ordered) {
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
export async function findCommit(workspace: Workspace, word: string): Promise<readonly Candidate[]> {
  const found = await resolveBranchRevision(workspace, word);
  if (found === null) return [];
  const isPrefix = /^[0-9a-f]{4,39}$/.test(word);
  return [{ name: isPrefix ? found.commit : word, target: { kind: "commit", ...found } }];
}

/** Events whose id begins with the word: of the active branch, and only where it has none, of the others. */
export async function findEvents(
  workspace: Workspace,
  branches: readonly BranchTip[],
  word: string,
): Promise<readonly Candidate[]> {
  const { store } = workspace;
  const active = await preferredBranch(workspace);
  const tip = branches.find((branch) => branch.name === active);
  if (tip !== undefined) {
    const tree = await loadBranchTree(store, tip.name, tip.commit);
    const all = tree.turnOids.map((_, turn) => turn);
    const found = await findInTurns(workspace, tree, { turns: all, word });
    if (found.length > 0) return found;
  }
  const others = branches.filter((branch) => branch !== tip);
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

/** Conversations and branches whose name begins with the word. */
export async function findByPrefix(
  workspace: Workspace,
  branches: readonly BranchTip[],
  word: string,
): Promise<readonly Candidate[]> {
  const active = await preferredBranch(workspace);
  const found = new Map<string, Candidate>();
  for (const { name } of branches) {
    const conversation = conversationOf(name);
    const match = conversation.startsWith(word) ? conversation : name.startsWith(word) ? name : null;
    const target = match === null ? null : exactBranch(branches, match, active);
    if (match !== null && target !== null) found.set(match, { name: match, target });
  }
  return [...found.values()];
}

/** Conversations whose title begins with the word, upper and lower case alike. */
export async function findByTitle(
  workspace: Workspace,
  branches: readonly BranchTip[],
  word: string,
): Promise<readonly Candidate[]> {
  const active = await preferredBranch(workspace);
  const found = new Map<string, Candidate>();
  for (const conversation of new Set(branches.map(({ name }) => conversationOf(name)))) {
    const target = exactBranch(branches, conversation, active);
    if (target?.kind !== "branch") continue;
    const title = await titleOf(workspace, target);
    if (title?.toLowerCase().startsWith(word.toLowerCase())) found.set(conversation, { name: conversation, target });
  }
  return [...found.values()];
}

/** Null when the conversation cannot be read: it is found by its name only, and does not hide the others. */
async function titleOf(
  workspace: Workspace,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<string | null> {
  try {
    return await conversationTitle(workspace, await loadBranchTree(workspace.store, branch, commit));
  } catch {
    return null;
  }
}
