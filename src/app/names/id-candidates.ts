// Looks up what a word may name: conversations, sessions, compactions, commits, events, titles. Each function returns exact matches
// and names that begin with the word; resolve-id.ts decides which of them counts.
import {
  abbreviateCommit,
  conversationOf,
  findNamed,
  forkOf,
  isNamedBy,
  isTurnNumber,
  SHORTEST_BEGINNING,
} from "../../core/conversation/name.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { type JpgError, nearestName, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { plainForm } from "../../core/look/search-words.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { BranchTip } from "../../store/store.ts";
import { compactionIdOfPath, findAddition } from "../conversation/append.ts";
import { readRecordLog } from "../conversation/log.ts";
import { conversationTitle } from "../conversation/title.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { branchesBeginning, branchesCalled, mainBranch, type NamedBranch } from "./conversations.ts";
import { exportedSessions, sessionsBeginning } from "./find-session.ts";
import { resolveBranchRevision } from "./revision.ts";

export type Target =
  | {
      readonly kind: "branch";
      readonly branch: string;
      readonly commit: string;
      /** The word named this fork; absent = the whole conversation. */
      readonly isFork?: true;
    }
  | { readonly kind: "compaction"; readonly branch: string; readonly compaction: string }
  | { readonly kind: "commit"; readonly branch: string; readonly commit: string }
  | { readonly kind: "event"; readonly branch: string; readonly turn: number; readonly event: string };

/** A name and its target. */
export interface Candidate {
  readonly name: string;
  readonly target: Target;
  /** The word is a full name, so that it may name another conversation than the active one. */
  readonly isFull?: true;
}

/** Where a word is looked up: the store's branches, and the active one. */
export interface NameScope {
  readonly workspace: Workspace;
  readonly branches: readonly BranchTip[];
  readonly active: string | null;
}

/** Returns whether a branch belongs to the active conversation. */
export function isInActiveConversation({ active }: Pick<NameScope, "active">, branch: string): boolean {
  return active !== null && conversationOf(branch) === conversationOf(active);
}

/** Makes candidates of found branches. */
export function candidatesOf(found: readonly NamedBranch[], how: Pick<Candidate, "isFull"> = {}): readonly Candidate[] {
  return found.map(({ name, tip, isFork }) => ({
    name,
    target: { kind: "branch", branch: tip.name, commit: tip.commit, ...(isFork ? { isFork } : {}) },
    ...how,
  }));
}

/** Finds compactions in any branch's history whose id begins with the word. */
export async function findCompactions(scope: NameScope, word: string): Promise<readonly Candidate[]> {
  if (!/^[\w.-]+$/.test(word)) return [];
  const { workspace, branches, active } = scope;
  // The active branch first, then its conversation: a compaction that several forks share is found on the nearest.
  const rank = ({ name }: BranchTip): number => (name === active ? 0 : isInActiveConversation(scope, name) ? 1 : 2);
  const found = new Map<string, Candidate>();
  for (const branch of [...branches].sort((a, b) => rank(a) - rank(b))) {
    const entries = await readRecordLog(workspace.store, branch.commit);
    for (const path of entries.flatMap((entry) => [...entry.added, ...entry.removed])) {
      const id = compactionIdOfPath(path);
      if (id?.startsWith(word) && !found.has(id))
        found.set(id, { name: id, target: { kind: "compaction", branch: branch.name, compaction: id } });
    }
    if (found.has(word)) break;
  }
  return [...found.values()];
}

/** Finds the commit that a revision names. An abbreviated id is a prefix; anything else that git resolves is exact. */
export async function findCommit({ workspace, active }: NameScope, word: string): Promise<readonly Candidate[]> {
  const near = active === null ? {} : { conversation: conversationOf(active) };
  const found = await resolveBranchRevision(workspace, word, near);
  if (found === null) return [];
  const { commit, branch, byName } = found;
  const isPrefix = /^[0-9a-f]{4,39}$/.test(word);
  const name = isPrefix ? commit : word;
  return [{ name, target: { kind: "commit", commit, branch }, ...(byName ? { isFull: true } : {}) }];
}

/** An abbreviated id whose number stands after a UUID, see `abbreviateId`. */
const ABBREVIATED = /^([0-9a-f]{8})(?:-[0-9a-f]{4})?[.-]\d+(?:\.\d+)?$/;

/** Finds events whose id begins with the word, or is abbreviated so: on the active branch, or if it has none on the others. */
export async function findEvents(scope: NameScope, word: string): Promise<readonly Candidate[]> {
  const { workspace, branches, active } = scope;
  const { store } = workspace;
  const tip = branches.find((branch) => branch.name === active);
  if (tip !== undefined) {
    const tree = await loadBranchTree(store, tip.name, tip.commit);
    const all = tree.turnOids.map((_, turn) => turn);
    const found = await findInTurns(workspace, tree, { turns: all, word });
    if (found.length > 0) return found;
  }
  const others = branches.filter((branch) => branch !== tip);
  others.sort((a, b) => Number(isInActiveConversation(scope, b.name)) - Number(isInActiveConversation(scope, a.name)));
  const texts = [`"id":"${ABBREVIATED.exec(word)?.[1] ?? word}`];
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
    // Forks share events: the first branch that has one represents all.
    for (const candidate of candidates) if (!found.has(candidate.name)) found.set(candidate.name, candidate);
  }
  return [...found.values()];
}

/** Finds an event of the active branch by its turn, `3:EVENT`; empty if the word has another form. */
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
  return findNamed(found, event, ({ name }) => name);
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
      if (id !== undefined && isNamedBy(id, word))
        found.push({ name: id, target: { kind: "event", branch, turn, event: id } });
    }
  }
  return found;
}

/** Finds conversations whose title begins with the word, ignoring case. */
export async function findByTitle(
  { workspace, branches, active }: NameScope,
  word: string,
): Promise<readonly Candidate[]> {
  const found: NamedBranch[] = [];
  for (const name of new Set(branches.map((branch) => conversationOf(branch.name)))) {
    const tip = mainBranch(branches, name, active);
    const title = tip === null ? null : await titleOf(workspace, tip);
    if (tip !== null && title !== null && foldedForm(title).startsWith(foldedForm(word)))
      found.push({ name, tip, isFork: false });
  }
  return candidatesOf(found);
}

function foldedForm(text: string): string {
  return plainForm(text).toLowerCase();
}

/** Returns null when the conversation cannot be read: it can then be found only by its name. */
async function titleOf(workspace: Workspace, { name, commit }: BranchTip): Promise<string | null> {
  try {
    return await conversationTitle(workspace, await loadBranchTree(workspace.store, name, commit));
  } catch {
    return null;
  }
}

// Errors of words that name nothing, or nothing that the command may change, with what to type instead.

type TargetKind = Target["kind"];

/** Most names that an error lists. */
const MOST_NAMES = 10;

/** Creates the error of an ambiguous word. */
export function ambiguous(word: string, found: readonly Pick<Candidate, "name">[]): JpgError {
  return userError("ambiguous_id", `${word} could mean ${found.length} things: ${listed(found)}.`, {
    hints: ["Type more of the name you mean."],
    data: { candidates: found.map(({ name }) => name) },
  });
}

/** Creates the error of a word that names nothing, with the nearest names. */
export function unknownId(word: string, branches: readonly BranchTip[], kinds: readonly TargetKind[]): JpgError {
  const names = [...new Set(branches.flatMap((branch) => [branch.name, conversationOf(branch.name)]))];
  const nearest = nearestName(word, names);
  const forks = branches.filter((branch) => forkOf(branch.name) === word).map((branch) => branch.name);
  const suggestions = [...forks, ...(nearest === undefined ? [] : [nearest])].slice(0, 3);
  return userError("unknown_id", `This store has no ${nounsOf(kinds)} called ${word}.`, {
    hints: [...suggestions.map((name) => `Did you mean ${name}?`), whereToLook(kinds)],
  });
}

/** Creates the error of a session on this machine that the store does not have. */
export function notImported(word: string, path: string): JpgError {
  return userError("unknown_id", `${word} is a session that is not in this store yet.`, {
    hints: [`\`jpg import ${shellWord(path)}\` brings it in.`],
    data: { path },
  });
}

/** Creates the error of a word that is no name and too short to be the beginning of one; lists what begins with it. */
export async function tooShort(scope: NameScope, word: string, kinds: readonly TargetKind[]): Promise<JpgError> {
  const found = await findBeginnings(scope, word, kinds);
  if (found.length === 0) return unknownId(word, scope.branches, kinds);
  return userError(
    "unknown_id",
    `${word} is too short to be the beginning of a name: expected ${SHORTEST_BEGINNING} characters or more.`,
    {
      hints: [`These begin with it: ${listed(found)}. Type more of the name.`],
      data: { candidates: found.map(({ name }) => name) },
    },
  );
}

/** Creates the error of a beginning or an id in another conversation, which a command may not change. */
export function refuseOther({ active }: NameScope, word: string, found: readonly Candidate[]): JpgError {
  const [first, ...more] = found;
  const here = active === null ? "no conversation is active" : `the active conversation is ${conversationOf(active)}`;
  if (first === undefined || more.length > 0)
    return userError("other_conversation", `${word} could mean ${listed(found)}, but ${here}.`, {
      hints: ["Type the full name of the one that you mean."],
      data: { candidates: found.map(({ name }) => name) },
    });
  const { name, target } = first;
  const { branch } = target;
  if (target.kind === "branch")
    return userError("other_conversation", `${word} could mean ${name}, but ${here}.`, {
      hints: [`If you mean that one, type its full name: ${name}`],
      data: { word, name },
    });
  return userError(
    "other_conversation",
    `${word} is ${withArticle(target.kind)} of ${conversationOf(branch)}, but ${here}.`,
    {
      hints: [`To change it there, first make that conversation active: \`jpg use ${branch}\``],
      data: { word, branch },
    },
  );
}

/**
 * Creates the error of a number where a name is expected. Lists the compactions that cover that turn, what to type about the turn,
 * and what these digits may name.
 */
export async function refuseTurn(
  scope: NameScope,
  word: string,
  { kinds, aboutTurn }: { readonly kinds: readonly TargetKind[]; readonly aboutTurn?: (turn: string) => string },
): Promise<JpgError> {
  const called = await namesForDigits(scope, word, kinds);
  const about = await hintsAboutTurn(scope, Number(word), { kinds, aboutTurn });
  return userError("turn_number", `${word} is the number of a turn, not ${nounsOf(kinds, "a")}.`, {
    hints: [
      ...about,
      ...(called.length === 0
        ? []
        : [`If you mean something else that begins with ${word}, type: ${called.join(", ")}`]),
      whereToLook(kinds),
    ],
    data: { candidates: called },
  });
}

/** Hints on what to type about a turn of the active branch. */
async function hintsAboutTurn(
  { workspace, branches, active }: NameScope,
  turn: number,
  { kinds, aboutTurn }: { readonly kinds: readonly TargetKind[]; readonly aboutTurn?: (turn: string) => string },
): Promise<readonly string[]> {
  const tip = branches.find(({ name }) => name === active);
  if (tip === undefined) return [];
  const tree = await loadBranchTree(workspace.store, tip.name, tip.commit);
  const last = tree.turnOids.length - 1;
  if (turn > last) return [`The turns of ${tip.name} are 0..${last}.`];
  const over = kinds.includes("compaction") ? [await compactionsOver(workspace, tree, turn)] : [];
  return [
    ...over,
    ...(aboutTurn === undefined ? [] : [aboutTurn(String(turn))]),
    `To see turn ${turn}: \`jpg print ${turn}\``,
  ];
}

/** Says which compactions in force cover a turn. */
async function compactionsOver({ store }: Workspace, tree: BranchTree, turn: number): Promise<string> {
  const { applied } = await loadCompactions(store, tree);
  const over = applied.filter(({ from_turn, to_turn }) => from_turn <= turn && turn <= to_turn);
  if (over.length === 0) return `No compaction in force covers turn ${turn}.`;
  const names = over.slice(0, MOST_NAMES).map(({ id, from_turn, to_turn }) => `${id} (turns ${from_turn}..${to_turn})`);
  return `Turn ${turn} is covered by ${names.join(", ")}: name a compaction by its id.`;
}

/** Lists what these digits name, or are a long enough beginning of; each by a name that is not all digits. */
async function namesForDigits(
  scope: NameScope,
  word: string,
  kinds: readonly TargetKind[],
): Promise<readonly string[]> {
  const { workspace, branches, active } = scope;
  const isLong = word.length >= SHORTEST_BEGINNING;
  const found = [
    ...(kinds.includes("branch") ? candidatesOf(branchesCalled(branches, word, active)) : []),
    ...(await findBeginnings(scope, word, kinds)).filter(({ name }) => isLong || name === word),
  ];
  const names = await Promise.all(found.map((one) => (isTurnNumber(one.name) ? otherName(scope, one) : one.name)));
  if (isLong && kinds.includes("branch")) appendAll(names, await sessionsForDigits(scope, word));
  const commit = isLong && kinds.includes("commit") ? await workspace.store.resolveCommit(word) : null;
  const shown = [...names, ...(commit === null ? [] : [abbreviateCommit(commit, Math.max(9, word.length))])];
  return [...new Set(shown)].slice(0, MOST_NAMES);
}

/** Names the conversations of sessions whose id begins with these digits. */
async function sessionsForDigits(
  { workspace, branches: tips, active }: NameScope,
  word: string,
): Promise<readonly string[]> {
  const places = { tips, active };
  const { called, beginning } = await exportedSessions(workspace, places, word);
  return [...(await sessionsBeginning(workspace, places, word)), ...called, ...beginning].map(({ name }) => name);
}

/** Returns another name of a thing whose id is all digits: its branch, or the commit that added it. */
async function otherName({ workspace, branches }: NameScope, { target }: Candidate): Promise<string> {
  if (target.kind !== "compaction") return target.branch;
  const tip = branches.find(({ name }) => name === target.branch);
  const log = tip === undefined ? [] : await readRecordLog(workspace.store, tip.commit);
  return abbreviateCommit(findAddition(log, target.compaction)?.entry.commit ?? "");
}

/** Finds what begins with a word: names of conversations and forks, titles, compactions. */
async function findBeginnings(
  scope: NameScope,
  word: string,
  kinds: readonly TargetKind[],
): Promise<readonly Candidate[]> {
  const { branches, active } = scope;
  const names = kinds.includes("branch") ? candidatesOf(branchesBeginning(branches, word, active)) : [];
  const titled = kinds.includes("branch") ? await findByTitle(scope, word) : [];
  const compactions = kinds.includes("compaction") ? await findCompactions(scope, word) : [];
  const found = new Map([...names, ...titled, ...compactions].map((one) => [one.name, one]));
  return [...found.values()].sort(
    (a, b) =>
      Number(isInActiveConversation(scope, b.target.branch)) - Number(isInActiveConversation(scope, a.target.branch)),
  );
}

function listed(found: readonly Pick<Candidate, "name">[]): string {
  const names = found.slice(0, MOST_NAMES).map(({ name }) => name);
  return `${names.join(", ")}${found.length > MOST_NAMES ? ", …" : ""}`;
}

/** Lists the kinds in words: `conversation or commit`; with an article `a conversation or a commit`. */
function nounsOf(kinds: readonly TargetKind[], article?: "a"): string {
  const nouns = kinds.map((kind) => (kind === "branch" ? "conversation" : kind));
  const worded = article === undefined ? nouns : nouns.map(withArticle);
  return worded.join(", ").replace(/, ((?:an? )?[a-z]+)$/, " or $1");
}

function withArticle(noun: string): string {
  return `${noun === "event" ? "an" : "a"} ${noun}`;
}

function whereToLook(kinds: readonly TargetKind[]): string {
  const lists = "`jpg ls` lists conversations, `jpg log` compactions";
  return kinds.includes("event") ? `${lists}; \`jpg search TEXT\` finds events.` : `${lists}.`;
}
