// What an [ID] means: branch > conversation > own name of a fork of the active conversation > compaction id > commit > event > unique prefix of these or of a title.
import { conversationOf, forkOf } from "../../core/conversation-name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { nearestName } from "../../core/nearest-name.ts";
import type { BranchTip } from "../../store/conversation-store.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { followReset } from "../branch/refresh-view.ts";
import { refuseSplice, warnOfSplice } from "../branch/spliced-turns.ts";
import { warnOfDamage } from "../branch/stored-records.ts";
import { detachedHead, readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { activeBranch, mainBranch, preferredBranch, previousBranch } from "./conversations.ts";
import {
  type Candidate,
  exactBranch,
  findByPrefix,
  findByTitle,
  findCommit,
  findCompactions,
  findEvents,
  type Target,
} from "./id-candidates.ts";
import { describeRemotes } from "./remote-conversations.ts";
import { branchHolding, resolveBranchRevision } from "./revision.ts";

type TargetKind = Target["kind"];

/** Resolves an id. Throws `no_conversation`, `ambiguous_id` (with the candidates), `unknown_id` (with the nearest name). */
export async function resolveId(
  workspace: Workspace,
  id: string | undefined,
  kinds: readonly TargetKind[] = ["branch"],
): Promise<Target> {
  const word = id === undefined || id === "" ? "@" : id;
  if (word === "@" || word === "-") return specialTarget(workspace, word, kinds);
  const branches = await workspace.store.listBranches();
  const allowed = (found: readonly Candidate[]): readonly Candidate[] =>
    found.filter(({ target }) => kinds.includes(target.kind));
  const branch = exactBranch(branches, word, await preferredBranch(workspace));
  if (branch !== null && kinds.includes("branch")) return branch;
  const named = kinds.includes("compaction") ? await findCompactions(workspace, branches, word) : [];
  const commits = kinds.includes("commit") ? await findCommit(workspace, word) : [];
  const events = kinds.includes("event") ? await findEvents(workspace, branches, word) : [];
  const exact = [...named, ...commits, ...events].find((candidate) => candidate.name === word);
  if (exact !== undefined) return exact.target;
  // Prefixes: all kinds count alike, but long ids of events and titles only where nothing shorter fits.
  for (const found of [[...allowed(await findByPrefix(workspace, branches, word)), ...named, ...commits], events]) {
    const one = unique(word, found);
    if (one !== null) return one;
  }
  const titled = unique(word, allowed(await findByTitle(workspace, branches, word)));
  if (titled !== null) return titled;
  throw unknownId(word, branches, kinds);
}

/**
 * Resolves an id to a branch, to build on it, and loads its tree; says so when records are damaged, or when its turns do not
 * follow each other. Throws `detached_head`, `not_a_branch` for a commit.
 */
export async function resolveBranch(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await loadNamedBranch(workspace, id);
  await followReset(workspace, tree);
  await warnOfSplice(workspace, tree);
  return tree;
}

/** The same, for what makes something of all turns. Throws `spliced_turns`. */
export async function resolveWhole(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await loadNamedBranch(workspace, id);
  await refuseSplice(workspace, tree);
  return tree;
}

/** Resolves an id to a branch as it stands, or to a commit, and loads its tree to read it; warns as `resolveBranch` does. */
export async function resolveTree(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await loadNamedTree(workspace, id);
  await followReset(workspace, tree);
  await warnOfSplice(workspace, tree);
  return tree;
}

/** The same, for what gives all turns away. Throws `spliced_turns`. */
export async function resolveWholeTree(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await loadNamedTree(workspace, id);
  await refuseSplice(workspace, tree);
  return tree;
}

async function loadNamedTree(workspace: Workspace, id: string | undefined): Promise<BranchTree> {
  return treeOfTarget(workspace, await resolveId(workspace, id, ["branch", "commit"]), id);
}

async function loadNamedBranch(workspace: Workspace, id: string | undefined): Promise<BranchTree> {
  try {
    const target = await resolveId(workspace, id);
    if (target.kind === "branch") return await treeOfTarget(workspace, target, id);
  } catch (error) {
    const isUnknown = error instanceof JpgError && error.code === "unknown_id";
    if (!isUnknown || id === undefined || (await resolveBranchRevision(workspace, id)) === null) throw error;
  }
  const word = id ?? "@";
  throw userError(
    "not_a_branch",
    `${word} is a commit, which can only be read; only a conversation can be written to.`,
    {
      hints: [`\`jpg fork ${word} NAME\` starts a fork at this commit.`],
    },
  );
}

/** The tree that a target is read from: a commit's own, else that of its branch as it stands; says which records are damaged. */
export async function treeOfTarget(workspace: Workspace, target: Target, id: string | undefined): Promise<BranchTree> {
  const { store } = workspace;
  const tip =
    target.kind === "branch" || target.kind === "commit" ? target.commit : await store.readBranch(target.branch);
  if (tip === null) throw userError("unknown_id", `${target.branch} is not a branch in this store.`);
  const tree = await loadBranchTree(store, target.branch, tip);
  await warnOfDamage(workspace, tree);
  return target.kind === "commit" ? { ...tree, revision: id ?? "@" } : tree;
}

/** The active branch, or the one before, read from its own files: no other branch is looked at. */
async function specialTarget(workspace: Workspace, word: "@" | "-", kinds: readonly TargetKind[]): Promise<Target> {
  const name = word === "@" ? await activeBranch(workspace) : await previousBranch(workspace);
  const detached = name === null && word === "@" ? await detachedTarget(workspace, kinds) : null;
  if (detached !== null) return detached;
  const commit = name === null ? null : await workspace.store.readBranch(name);
  if (name !== null && commit !== null) return { kind: "branch", branch: name, commit };
  // Of a store that is damaged, the list says what is wrong.
  const branches = await workspace.store.listBranches();
  const tip = name === null ? null : mainBranch(branches, name, null);
  if (tip !== null) return { kind: "branch", branch: tip.name, commit: tip.commit };
  const remote = branches.length === 0 ? await describeRemotes(workspace) : null;
  if (remote !== null) throw userError("no_conversation", "No conversation is here yet.", { hints: [remote] });
  throw noConversation(sayMissing(word, name));
}

function sayMissing(word: "@" | "-", name: string | null): string {
  if (name === null) return `No conversation ${word === "@" ? "is active" : "was active before"}.`;
  if (!name.includes("/"))
    return `No conversation is checked out here: HEAD is on ${name}, which is not a conversation.`;
  return `${word === "@" ? `The active conversation ${name}` : `${name}, active before,`} is not in this store.`;
}

/** The commit of a detached HEAD; null when HEAD is on a branch. Throws `detached_head` where a branch is needed. */
async function detachedTarget(workspace: Workspace, kinds: readonly TargetKind[]): Promise<Target | null> {
  const standing = await readStanding(workspace);
  const { commit, worktree } = standing;
  if (commit === null) return null;
  const branch = await branchHolding(workspace, commit, worktree ?? undefined);
  if (!kinds.includes("commit")) throw await detachedHead(workspace, standing, branch);
  return { kind: "commit", branch, commit };
}

function noConversation(message: string): Error {
  return userError("no_conversation", message, {
    hints: [
      "`jpg ls` lists the conversations; `jpg use ID` makes one active.",
      "`jpg import` imports the sessions of agents on this machine.",
    ],
  });
}

function unique(word: string, found: readonly Candidate[]): Target | null {
  const exact = found.filter((candidate) => candidate.name === word);
  const rest = exact.length > 0 ? exact : found;
  if (rest.length > 1) {
    const names = rest.slice(0, 10).map((candidate) => candidate.name);
    throw userError(
      "ambiguous_id",
      `${word} could mean ${rest.length} things: ${names.join(", ")}${rest.length > 10 ? ", …" : ""}.`,
      {
        hints: ["Type more of the name you mean."],
        data: { candidates: rest.map((candidate) => candidate.name) },
      },
    );
  }
  return rest[0]?.target ?? null;
}

function unknownId(word: string, branches: readonly BranchTip[], kinds: readonly TargetKind[]): Error {
  const names = [...new Set(branches.flatMap((branch) => [branch.name, conversationOf(branch.name)]))];
  const nearest = nearestName(word, names);
  const forks = branches.filter((branch) => forkOf(branch.name) === word).map((branch) => branch.name);
  const meant = [...forks, ...(nearest === undefined ? [] : [nearest])].slice(0, 3);
  const nouns = kinds.map((kind) => (kind === "branch" ? "conversation" : kind));
  const what = nouns.join(", ").replace(/, ([a-z]+)$/, " or $1");
  return userError("unknown_id", `This store has no ${what} called ${word}.`, {
    hints: [...meant.map((name) => `Did you mean ${name}?`), ...whereToLook(word, kinds)],
  });
}

function whereToLook(word: string, kinds: readonly TargetKind[]): readonly string[] {
  const lists = "`jpg ls` lists conversations, `jpg log` compactions";
  if (!kinds.includes("event")) return [`${lists}.`];
  const turn = /^\d{1,6}$/.test(word) ? [`To see turn ${word}: \`jpg print --turn ${word}\`.`] : [];
  return [...turn, `${lists}; \`jpg search TEXT\` finds events.`];
}
