// What an [ID] means: branch > conversation > compaction id > commit > event > unique prefix of these or of a title.
import { userError } from "../core/errors.ts";
import { nearestName } from "../core/nearest-name.ts";
import type { BranchTip } from "../store/conversation-store.ts";
import { type BranchTree, loadBranchTree } from "./branch-tree.ts";
import { activeBranch, conversationOf, forkOf, mainBranch, previousBranch } from "./conversations.ts";
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
import { refuseSplice, warnOfSplice } from "./spliced-turns.ts";
import type { Workspace } from "./workspace.ts";

type TargetKind = Target["kind"];

/** Resolves an id. Throws `no_conversation`, `ambiguous_id` (with the candidates), `unknown_id` (with the nearest name). */
export async function resolveId(
  workspace: Workspace,
  id: string | undefined,
  kinds: readonly TargetKind[] = ["branch"],
): Promise<Target> {
  const word = id === undefined || id === "" ? "@" : id;
  if (word === "@" || word === "-") return specialTarget(workspace, word);
  const branches = await workspace.store.listBranches();
  const allowed = (found: readonly Candidate[]): readonly Candidate[] =>
    found.filter(({ target }) => kinds.includes(target.kind));
  const branch = exactBranch(branches, word, await workspace.store.readActiveBranch());
  if (branch !== null && kinds.includes("branch")) return branch;
  const named = kinds.includes("compaction") ? await findCompactions(workspace, branches, word) : [];
  const commits = kinds.includes("commit") ? await findCommit(workspace, branches, word) : [];
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

/** Resolves an id to a branch and loads its tree; says so when the branch's turns do not follow each other. */
export async function resolveBranch(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await resolveTree(workspace, id);
  await warnOfSplice(workspace, tree);
  return tree;
}

/** The same, for what makes something of all turns. Throws `spliced_turns`. */
export async function resolveWhole(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await resolveTree(workspace, id);
  await refuseSplice(workspace, tree);
  return tree;
}

async function resolveTree(workspace: Workspace, id?: string): Promise<BranchTree> {
  const target = await resolveId(workspace, id);
  if (target.kind !== "branch")
    throw userError("not_a_branch", `${id ?? "@"} names a ${target.kind}, not a conversation.`);
  return loadBranchTree(workspace.store, target.branch, target.commit);
}

/** The active branch, or the one before, read from its own files: no other branch is looked at. */
async function specialTarget(workspace: Workspace, word: "@" | "-"): Promise<Target> {
  const name = word === "@" ? await activeBranch(workspace) : await previousBranch(workspace);
  const commit = name === null ? null : await workspace.store.readBranch(name);
  if (name !== null && commit !== null) return { kind: "branch", branch: name, commit };
  // Of a store that is damaged, the list says what is wrong.
  const branches = await workspace.store.listBranches();
  const tip = name === null ? null : mainBranch(branches, name, null);
  if (tip !== null) return { kind: "branch", branch: tip.name, commit: tip.commit };
  throw noConversation(
    name !== null
      ? `The active conversation ${name} has no branch in this store.`
      : word === "@"
        ? "No conversation is active."
        : "No conversation was active before.",
  );
}

function noConversation(message: string): Error {
  return userError("no_conversation", message, {
    hints: [
      "`jpg ls` lists the conversations; `jpg use ID` makes one active.",
      "`jpg import` brings in sessions of the agents on this machine.",
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
        hints: ["Type more of the one you mean."],
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
  return userError("unknown_id", `${word} is no ${what} of this store.`, {
    hints: [...meant.map((name) => `Did you mean ${name}?`), "`jpg ls` lists conversations, `jpg log` compactions."],
  });
}
