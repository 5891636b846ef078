// Resolves an [ID]: branch > conversation > an agent's session > compaction > commit > event > the beginning of one of these or of
// a title. A number is always a turn. A command that changes something looks in the active conversation only, unless the word is a
// full name, so that no beginning or id changes a conversation by accident.
import { abbreviateId, conversationOf, forkOf, isTurnNumber, mayBeBeginning } from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { detachedHeadError, readCheckedOut } from "../conversation/checked-out.ts";
import { refreshStaleViews } from "../conversation/refresh-view.ts";
import { refuseSplice, warnOfSplice } from "../conversation/spliced-turns.ts";
import { type BranchTree, loadBranchTree, warnOfDamage } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import {
  activeBranch,
  branchesBeginning,
  branchesCalled,
  describeRemotes,
  mainBranch,
  preferredBranch,
  previousBranch,
} from "./conversations.ts";
import { exportedSessions, fileToImport, sessionsBeginning, sessionsCalled } from "./find-session.ts";
import {
  ambiguous,
  type Candidate,
  candidatesOf,
  findByTitle,
  findCommit,
  findCompactions,
  findEvents,
  findPlacedEvent,
  isInActiveConversation,
  type NameScope,
  notImported,
  refuseOther,
  refuseTurn,
  type Target,
  tooShort,
  unknownId,
} from "./id-candidates.ts";
import { branchHolding, type Revision, resolveBranchRevision } from "./revision.ts";

type TargetKind = Target["kind"];

interface Naming {
  /** Whether the target will be changed: then ids and beginnings count only in the active conversation. */
  readonly changes?: boolean;
  /** A branch of the conversation to treat as active; default `@`. */
  readonly near?: string;
  /** Whether a full id counts in any conversation, although something changes: its target is only read. */
  readonly takesIds?: boolean;
  /** Returns the hint for a turn number, when a number was written. */
  readonly aboutTurn?: (turn: string) => string;
}

/**
 * Resolves an id. Throws `no_conversation`, `ambiguous_id` (with the candidates), `unknown_id` (with the nearest name, or with what
 * begins with a word that is too short), `turn_number`, and `other_conversation` if something would change there.
 */
export async function resolveId(
  workspace: Workspace,
  id: string | undefined,
  kinds: readonly TargetKind[] = ["branch"],
  naming: Naming = {},
): Promise<Target> {
  const word = id === undefined || id === "" ? "@" : id;
  if (word === "@" || word === "-") return specialTarget(workspace, word, kinds);
  const branches = await workspace.store.listBranches();
  const place = { workspace, branches, active: naming.near ?? (await preferredBranch(workspace)) };
  if (isTurnNumber(word)) throw await refuseTurn(place, word, { kinds, ...naming });
  let elsewhere: readonly Candidate[] = [];
  for (const look of lookUps(place, word, kinds)) {
    const found = await look();
    const own = found.filter((one) => isAllowed(place, word, naming, one));
    const one = unique(word, own);
    if (one !== null) return one;
    if (elsewhere.length === 0) elsewhere = found;
  }
  if (elsewhere.length > 0) throw refuseOther(place, word, elsewhere);
  if (!mayBeBeginning(word)) throw await tooShort(place, word, kinds);
  const file = kinds.includes("branch") ? await fileToImport(workspace, word) : null;
  throw file === null ? unknownId(word, branches, kinds) : notImported(word, file);
}

/** Returns whether the command may use a candidate. */
function isAllowed(
  place: NameScope,
  word: string,
  { changes, takesIds }: Naming,
  { name, target, isFull }: Candidate,
): boolean {
  if (changes !== true || isFull === true) return true;
  return isInActiveConversation(place, target.branch) || (takesIds === true && name === word);
}

type LookUp = () => Promise<readonly Candidate[]>;

/**
 * Lists the look-ups for a word, to be tried in order: first full names, then beginnings. Beginnings of all kinds rank equally, but
 * those of events and titles count only if nothing shorter matches.
 */
function lookUps(place: NameScope, word: string, kinds: readonly TargetKind[]): readonly LookUp[] {
  const { workspace, branches, active } = place;
  const places = { tips: branches, active };
  const only = (kind: TargetKind, look: LookUp): LookUp => once(kinds.includes(kind) ? look : async () => []);
  const exact =
    (look: LookUp): LookUp =>
    async () =>
      (await look()).filter(({ name }) => name === word);
  const compactions = only("compaction", () => findCompactions(place, word));
  const commits = only("commit", () => findCommit(place, word));
  const events = only("event", () => findEvents(place, word));
  const exported = only("branch", async () => {
    const { called, beginning } = await exportedSessions(workspace, places, word);
    return called.length > 0 ? candidatesOf(called, { isFull: true }) : candidatesOf(beginning);
  });
  const called: readonly LookUp[] = [
    only("branch", async () => candidatesOf(branchesCalled(branches, word, active), { isFull: true })),
    only("branch", async () => candidatesOf(await sessionsCalled(workspace, places, word), { isFull: true })),
    exact(compactions),
    exact(commits),
    exact(events),
    only("event", () => findPlacedEvent(place, word)),
  ];
  if (!mayBeBeginning(word)) return called;
  const begun = only("branch", async () => candidatesOf(branchesBeginning(branches, word, active)));
  return [
    ...called,
    async () => {
      const names = await begun();
      const begunSessions = only("branch", async () => candidatesOf(await sessionsBeginning(workspace, places, word)));
      const others = [...(await compactions()), ...(await commits())];
      return [...names, ...others, ...(names.length > 0 ? [] : await begunSessions())];
    },
    events,
    only("branch", () => findByTitle(place, word)),
    exported,
  ];
}

/**
 * Whether a word names no conversation, nor nearly one: what a verb is given in its place then is meant for the active one. Throws the
 * other errors of `resolveId`.
 */
export async function namesNothing(workspace: Workspace, word: string): Promise<boolean> {
  try {
    await resolveId(workspace, word, ["branch", "commit"]);
    return false;
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "unknown_id") throw error;
    return error.hints.every((hint) => !hint.startsWith("Did you mean "));
  }
}

function once(look: LookUp): LookUp {
  let found: ReturnType<LookUp> | undefined;
  return () => {
    found ??= look();
    return found;
  };
}

/**
 * Resolves an id to a branch that will be changed, and loads its tree; warns when records are damaged or turns do not follow each
 * other. Throws `detached_head`, `not_a_branch` for a commit, and the errors of `resolveId` for a change.
 */
export async function resolveBranch(
  workspace: Workspace,
  id?: string,
  naming: Naming = { changes: true },
): Promise<BranchTree> {
  const tree = await loadNamedBranch(workspace, id, naming);
  await refreshStaleViews(workspace, tree);
  await warnOfSplice(workspace, tree);
  return tree;
}

/** Like `resolveBranch`, for commands that build on every turn. Throws `spliced_turns`. */
export async function resolveWhole(
  workspace: Workspace,
  id?: string,
  naming: Omit<Naming, "changes"> = {},
): Promise<BranchTree> {
  const tree = await loadNamedBranch(workspace, id, { ...naming, changes: true });
  await refuseSplice(workspace, tree);
  return tree;
}

/** Resolves an id to a branch's tip or a commit, and loads its tree for reading; warns like `resolveBranch`. */
export async function resolveTree(workspace: Workspace, id?: string, naming: Naming = {}): Promise<BranchTree> {
  const tree = await loadNamedTree(workspace, id, naming);
  await refreshStaleViews(workspace, tree);
  await warnOfSplice(workspace, tree);
  return tree;
}

/** Like `resolveTree`, for commands that export every turn. Throws `spliced_turns`. */
export async function resolveWholeTree(workspace: Workspace, id?: string): Promise<BranchTree> {
  const tree = await loadNamedTree(workspace, id);
  await refuseSplice(workspace, tree);
  return tree;
}

async function loadNamedTree(workspace: Workspace, id: string | undefined, naming?: Naming): Promise<BranchTree> {
  return treeOfTarget(workspace, await resolveId(workspace, id, ["branch", "commit"], naming), id);
}

async function loadNamedBranch(workspace: Workspace, id: string | undefined, naming: Naming): Promise<BranchTree> {
  try {
    const target = await resolveId(workspace, id, ["branch"], naming);
    if (target.kind === "branch") return await treeOfTarget(workspace, target, id);
  } catch (error) {
    const isUnknown = error instanceof JpgError && error.code === "unknown_id";
    const found = isUnknown && id !== undefined ? await resolveBranchRevision(workspace, id) : null;
    if (found === null) throw error;
    const active = naming.near ?? (await preferredBranch(workspace));
    if (!found.byName && !isInActiveConversation({ active }, found.branch))
      throw notABranch(id, `\`jpg use ${found.branch}\`, then `);
  }
  throw notABranch(id);
}

/** Creates the error of a commit where a branch is needed; `first` = what to type before forking it. */
function notABranch(id: string | undefined, first = ""): JpgError {
  const word = id ?? "@";
  return userError(
    "not_a_branch",
    `${word} is a commit, which can only be read; only a conversation can be written to.`,
    {
      hints: [`${first}\`jpg fork ${word} NAME\` starts a fork at this commit.`],
    },
  );
}

/** Loads the tree of a target: a commit's own, else that of its branch's tip. Warns about damaged records. */
export async function treeOfTarget(workspace: Workspace, target: Target, id: string | undefined): Promise<BranchTree> {
  const { store } = workspace;
  const tip =
    target.kind === "branch" || target.kind === "commit" ? target.commit : await store.readBranch(target.branch);
  if (tip === null) throw userError("unknown_id", `${target.branch} is not a branch in this store.`);
  const tree = await loadBranchTree(store, target.branch, tip);
  await warnOfDamage(workspace, tree);
  return target.kind === "commit" ? { ...tree, revision: id ?? "@" } : tree;
}

/** Resolves `@` or `-` from its own ref, without listing other branches. */
async function specialTarget(workspace: Workspace, word: "@" | "-", kinds: readonly TargetKind[]): Promise<Target> {
  const name = word === "@" ? await activeBranch(workspace) : await previousBranch(workspace);
  const detached = name === null && word === "@" ? await detachedTarget(workspace, kinds) : null;
  if (detached !== null) return detached;
  const commit = name === null ? null : await workspace.store.readBranch(name);
  if (name !== null && commit !== null) return { kind: "branch", branch: name, commit };
  // In a damaged store, listing the branches reports the damage.
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

/** Returns the commit of a detached HEAD; null when HEAD is on a branch. Throws `detached_head` if a branch is needed. */
async function detachedTarget(workspace: Workspace, kinds: readonly TargetKind[]): Promise<Target | null> {
  const checkedOut = await readCheckedOut(workspace);
  const { commit, worktree } = checkedOut;
  if (commit === null) return null;
  const branch = await branchHolding(workspace, commit, worktree ?? undefined);
  if (!kinds.includes("commit")) throw await detachedHeadError(workspace, checkedOut, branch);
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
  const exact = found.filter(({ name }) => name === word);
  const abbreviated = found.filter(({ name }) => abbreviateId(name) === word);
  const meant = [exact, abbreviated, found].find((some) => some.length > 0) ?? [];
  // Two sessions may find the same conversation.
  const rest = new Map(meant.map((one) => [`${one.target.kind} ${one.name}`, one]));
  if (rest.size > 1) throw ambiguous(word, [...rest.values()]);
  const [only] = rest.values();
  return only?.target ?? null;
}

/**
 * Resolves a fork at its tip; `near` = a branch of the conversation whose forks go by their own names, default the active one.
 * Throws like `resolveWhole`.
 */
export async function resolveFork(
  workspace: Workspace,
  word: string | undefined,
  near?: string | null,
): Promise<BranchTree> {
  const found = await findRevision(workspace, word, near);
  const naming = near === undefined || near === null ? {} : { near };
  return resolveWhole(workspace, found !== null && isByName(found, word) ? found.branch : word, naming);
}

/**
 * Resolves a fork for reading, at its tip or an earlier state: `try-b~2`, a commit, a detached HEAD. Throws like
 * `resolveWholeTree`.
 */
export async function resolveForkRevision(workspace: Workspace, word: string | undefined): Promise<BranchTree> {
  const found = await findRevision(workspace, word);
  return found === null
    ? resolveWholeTree(workspace, word)
    : loadBranchTree(workspace.store, found.branch, found.commit);
}

async function findRevision(
  workspace: Workspace,
  word: string | undefined,
  near?: string | null,
): Promise<Revision | null> {
  if (word === undefined || word === "@" || word === "-") return null;
  const branch = near ?? (await preferredBranch(workspace));
  const conversation = branch === null ? {} : { conversation: conversationOf(branch) };
  return resolveBranchRevision(workspace, word, { bareForks: true, ...conversation });
}

function isByName({ branch }: Revision, word: string | undefined): boolean {
  return word === branch || word === forkOf(branch);
}

/**
 * Resolves the arguments of `jpg fork`: conversation and name. A single word that is the name of an existing fork here counts as
 * that name, which is then taken.
 */
export async function resolveForkArguments(
  workspace: Workspace,
  args: readonly string[],
): Promise<{ readonly tree: BranchTree; readonly name?: string }> {
  const { tree, rest } = await resolveFirst(workspace, args, {
    changes: true,
    aboutTurn: (turn) => `To fork with the turns up to that one: \`jpg fork --until ${turn}\``,
  });
  const [only] = args;
  if (rest === undefined && only === forkOf(tree.branch)) return { tree: await resolveTree(workspace), name: only };
  return rest === undefined ? { tree } : { tree, name: rest };
}

/** Resolves the arguments of `jpg checkout`: what to check out, and the directory. */
export async function resolveCheckoutArguments(
  workspace: Workspace,
  args: readonly string[],
): Promise<{ readonly tree: BranchTree; readonly directory?: string }> {
  const { tree, rest } = await resolveFirst(workspace, args, {});
  return rest === undefined ? { tree } : { tree, directory: rest };
}

/** Reads the first word as an id. A single word that names nothing is the second argument, for the active conversation. */
async function resolveFirst(
  workspace: Workspace,
  args: readonly string[],
  naming: Naming,
): Promise<{ readonly tree: BranchTree; readonly rest?: string }> {
  const [first, second] = args;
  if (second !== undefined) return { tree: await resolveTree(workspace, first, naming), rest: second };
  if (first === undefined) return { tree: await resolveTree(workspace) };
  try {
    return { tree: await resolveTree(workspace, first, naming) };
  } catch (error) {
    if (!(error instanceof JpgError) || error.code !== "unknown_id") throw error;
    return { tree: await resolveTree(workspace), rest: first };
  }
}
