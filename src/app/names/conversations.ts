// Finds conversations among the branches of a store, by full name or beginning, and the active one.
import { titleOfRequest } from "../../core/conversation/marks.ts";
import {
  branchName,
  conversationId,
  conversationOf,
  forkOf,
  isTurnNumber,
  mayBeBeginning,
  suffixOf,
} from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import type { RemoteBranch } from "../../store/sharing.ts";
import type { BranchTip } from "../../store/store.ts";
import { readCheckedOut } from "../conversation/checked-out.ts";
import { randomId } from "../conversation/runtime.ts";
import { type ConversationHeader, FORMAT_VERSION } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";

/** Returns a conversation's branch: the active one if it belongs to it, else `main`, else the first. */
export function mainBranch(
  branches: readonly BranchTip[],
  conversation: string,
  active: string | null,
): BranchTip | null {
  const family = branches.filter((branch) => conversationOf(branch.name) === conversation);
  return (
    family.find((branch) => branch.name === active) ??
    family.find((branch) => branch.name === `${conversation}/main`) ??
    family[0] ??
    null
  );
}

export interface NamedBranch {
  /** Full name: that of the conversation, or of the fork if the word names one. */
  readonly name: string;
  readonly tip: BranchTip;
  /** Whether the word names one fork, not the whole conversation. */
  readonly isFork: boolean;
}

/**
 * Finds the branches that a word names in full: a branch, else a conversation, else a fork of the active conversation by its own
 * name, else a conversation by its suffix (`k3f9`, and `k3f9/try-b` for its fork). More than one only if several share a suffix.
 */
export function branchesCalled(
  tips: readonly BranchTip[],
  word: string,
  active: string | null,
): readonly NamedBranch[] {
  const tip = tips.find(({ name }) => name === word);
  if (tip !== undefined) return [forkNamed(tip)];
  const main = mainBranch(tips, word, active);
  if (main !== null) return [{ name: word, tip: main, isFork: false }];
  const own = active === null ? undefined : tips.find(({ name }) => name === `${conversationOf(active)}/${word}`);
  if (own !== undefined) return [forkNamed(own)];
  const [suffix, fork] = partsOf(word);
  return fork === null
    ? conversationsOf(tips).flatMap((name) => (suffixOf(name) === word ? conversationNamed(tips, name, active) : []))
    : tips.filter(({ name }) => suffixOf(conversationOf(name)) === suffix && forkOf(name) === fork).map(forkNamed);
}

/**
 * Finds the conversations whose names begin with a word. In `fix/try` each part may be a beginning, or the first a suffix; forks
 * with exactly that name come before those that begin so.
 */
export function branchesBeginning(
  tips: readonly BranchTip[],
  word: string,
  active: string | null,
): readonly NamedBranch[] {
  const [beginning, fork] = partsOf(word);
  if (fork === null)
    return conversationsOf(tips).flatMap((name) =>
      name.startsWith(word) ? conversationNamed(tips, name, active) : [],
    );
  const found = tips.filter(({ name }) => {
    const conversation = conversationOf(name);
    const isMeant = conversation.startsWith(beginning) || suffixOf(conversation) === beginning;
    return beginning !== "" && isMeant && forkOf(name).startsWith(fork);
  });
  const exact = found.filter(({ name }) => forkOf(name) === fork);
  return (exact.length > 0 ? exact : found).map(forkNamed);
}

function forkNamed(tip: BranchTip): NamedBranch {
  return { name: tip.name, tip, isFork: true };
}

function conversationNamed(tips: readonly BranchTip[], name: string, active: string | null): readonly NamedBranch[] {
  const tip = mainBranch(tips, name, active);
  return tip === null ? [] : [{ name, tip, isFork: false }];
}

function conversationsOf(tips: readonly BranchTip[]): readonly string[] {
  return [...new Set(tips.map(({ name }) => conversationOf(name)))];
}

/** Splits a word into conversation and fork; null = no slash. */
function partsOf(word: string): readonly [string, string | null] {
  return word.includes("/") ? [conversationOf(word), forkOf(word)] : [word, null];
}

/**
 * Returns the branch `@` names: JPG_CONVERSATION (a branch, a conversation or the beginning of one), else what the current folder
 * has checked out, else HEAD of the store; null when there is none yet, or HEAD is detached. Throws `unknown_id` for a variable
 * that names nothing here, `ambiguous_id`.
 */
export async function activeBranch(workspace: Workspace): Promise<string | null> {
  return (await readVariable(workspace)) ?? (await readCheckedOut(workspace)).branch;
}

/** Returns the branch to prefer among several: that of `@`, or of HEAD if the variable names nothing. */
export async function preferredBranch(workspace: Workspace): Promise<string | null> {
  const { branch } = await readCheckedOut(workspace);
  return readVariable(workspace).then(
    (named) => named ?? branch,
    () => branch,
  );
}

/** Returns whether JPG_CONVERSATION decides `@`, rather than what is checked out. */
export function isVariableSet({ runtime }: Workspace): boolean {
  return !["", "@"].includes(runtime.env["JPG_CONVERSATION"] ?? "");
}

/** Resolves JPG_CONVERSATION to a branch; null when it is not set. Throws `unknown_id`, `ambiguous_id`. */
async function readVariable(workspace: Workspace): Promise<string | null> {
  if (!isVariableSet(workspace)) return null;
  const word = workspace.runtime.env["JPG_CONVERSATION"] ?? "";
  const head = (await readCheckedOut(workspace)).branch;
  const branches = await workspace.store.listBranches();
  const called = isTurnNumber(word) ? [] : branchesCalled(branches, word, head);
  const named = called.length === 0 && mayBeBeginning(word) ? branchesBeginning(branches, word, head) : called;
  const [only, ...more] = named;
  if (only !== undefined && more.length === 0) return only.tip.name;
  throw wrongVariable(
    word,
    named.map(({ name }) => name),
  );
}

function wrongVariable(word: string, candidates: readonly string[]): Error {
  const hints = ["`unset JPG_CONVERSATION` goes back to the store's active conversation; `jpg ls` lists all."];
  const says = `JPG_CONVERSATION is ${word}`;
  if (candidates.length === 0)
    return userError("unknown_id", `${says}, which is not a conversation in this store.`, { hints });
  const message = `${says}, which could mean ${candidates.length} things: ${candidates.slice(0, 10).join(", ")}.`;
  return userError("ambiguous_id", message, { hints, data: { candidates } });
}

/** Returns the branch that was active here before, like `git switch -`; null = none. */
export async function previousBranch(workspace: Workspace): Promise<string | null> {
  const { worktree } = await readCheckedOut(workspace);
  return workspace.store.previousBranch(worktree ?? undefined);
}

/** Says what remotes have that is not here, and what to type; null if nothing. */
export async function describeRemotes(workspace: Workspace): Promise<string | null> {
  const [first, ...more] = await findRemote(workspace);
  if (first === undefined) return describeUnpulled(workspace);
  const what =
    more.length === 0
      ? `a conversation branch not here yet: ${first.name}`
      : `${more.length + 1} conversation branches not here yet, such as ${first.name}`;
  return `${first.remote} has ${what}. \`jpg pull\` brings in all, \`jpg use ${first.name}\` that one.`;
}

/** Says, in a store without conversations, how to pull from a remote; null if there is none. */
async function describeUnpulled({ location, store }: Workspace): Promise<string | null> {
  if (!location.exists || (await store.listBranches()).length > 0) return null;
  const remotes = await store.sharing?.remotes().catch(() => []); // `jpg pull` reports a wrong address
  const [remote] = remotes ?? [];
  return remote === undefined ? null : `No conversation is here yet: \`jpg pull\` brings in what ${remote.name} has.`;
}

/**
 * Creates a branch from a remote's: the one with that name, with or without its remote's, or the conversation's main one. Returns
 * its name; null when remotes have none.
 */
export async function trackRemoteBranch(workspace: Workspace, word: string): Promise<string | null> {
  const remote = await findRemote(workspace);
  const found =
    remote.find(({ remote: from, name }) => name === word || `${from}/${name}` === word) ??
    remote.find(({ name }) => name === `${word}/main`) ??
    remote.find(({ name }) => conversationOf(name) === word);
  if (found === undefined) return null;
  await workspace.store.remotes?.track(found);
  return found.name;
}

async function findRemote(workspace: Workspace): Promise<readonly RemoteBranch[]> {
  if (!workspace.location.exists) return [];
  const { store } = workspace;
  const [remote = [], own] = await Promise.all([store.remotes?.list(), store.listBranches()]);
  const here = new Set(own.map(({ name }) => name));
  return remote.filter(({ name }) => !here.has(name));
}

// Names a new conversation: id, first title, branch. Nothing is written before its first turn.

/** Characters after the slug, which make ids of the same title differ. */
const SUFFIX_LENGTH = 4;

/** A conversation to begin. */
export interface NewConversation {
  readonly branch: string;
  readonly root: ConversationHeader;
}

/** Names a new conversation after its first request. */
export async function newConversation({ store, runtime }: Workspace, request: string): Promise<NewConversation> {
  const title = titleOfRequest(request) || "conversation";
  const named = await titleForId(title);
  for (;;) {
    const id = conversationId(named, randomId(runtime, SUFFIX_LENGTH));
    const branch = branchName(id, "main");
    if ((await store.readBranch(branch)) !== null) continue;
    const created_at = runtime.now().toISOString();
    return { branch, root: { format: FORMAT_VERSION, id, title, created_at, source: null } };
  }
}

/** Matches a text that may hold a secret at all: a word of letters and digits of a secret's length, or an address. */
const MAY_HOLD_SECRET = /(?=\S*\d)(?=\S*[a-z])\S{8}|:\/\//i;

/** Removes secrets from the title from which an id is made. Loads the rules only if they may be needed. */
export async function titleForId(title: string): Promise<string> {
  if (!MAY_HOLD_SECRET.test(title)) return title;
  const { clearOfSecrets } = await import("../../core/secrets/find-secrets.ts");
  return clearOfSecrets(title);
}

/** Makes up a free branch name: `<conversation>/<stem>-<4 characters>`. */
export async function newForkName(workspace: Workspace, conversation: string, stem: string): Promise<string> {
  for (;;) {
    const name = branchName(conversation, `${stem}-${randomId(workspace.runtime, 4)}`);
    if ((await workspace.store.readBranch(name)) === null) return name;
  }
}
