// Which branch an agent's session belongs to: by the id that its sources are kept under, by its file, and of a session that jpg
// wrote for an agent by the id that jpg gave it then.
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { conversationOf, forkOf, shortId } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { readRecordLog } from "../conversation/log.ts";
import { sha1Bytes, sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { openSession } from "../sessions/open-session.ts";
import { type WritingAgent, writingAgents } from "../sessions/session-registry.ts";
import { mainBranch, type NamedBranch } from "./conversations.ts";

/**
 * Finds the branch that holds a session: one of the conversation that its id names, else a fork of another one, for a session
 * that was forked off another is kept as a fork. Null when none holds it.
 */
export async function findSession(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { format, session }: { readonly format: string; readonly session: string },
): Promise<BranchTip | null> {
  const family = familyOf(tips, { suffix: importSuffix(format, session), continues: undefined });
  const forks = tips.filter((tip) => forkOf(tip.name) !== "main" && !family.includes(tip));
  for (const tip of [...family, ...forks]) if (await holdsSession(store, tip, session)) return tip;
  return null;
}

/** One that cannot be read holds nothing; it is named where it is looked at. */
async function holdsSession(store: ConversationStore, { commit }: BranchTip, session: string): Promise<boolean> {
  const path = `sources/${session}`;
  const entries = await store.readEntries(commit, [path]).catch(() => null);
  return entries?.has(path) === true;
}

/** Branches among which a session is looked for, and the active one. */
export interface SessionPlaces {
  readonly tips: readonly BranchTip[];
  readonly active: string | null;
}

/** A session's id, or the beginning of one, as `sources/<id>` has it. */
const SESSION_ID = /^[\w][\w.-]{3,127}$/;
/** At the end of a file's name, which says when it was begun before that; ids of events have a number there. */
const UUID_AT_END = /(?<=^|.{10})[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Characters of a session's id that an agent puts at the end of its file's name, at the least. */
const TAIL = 8;

/** The conversations of a session that a word names in full: by its id, by its file, or by the name of its file. */
export async function sessionsCalled(
  workspace: Workspace,
  { tips, active }: SessionPlaces,
  word: string,
): Promise<readonly NamedBranch[]> {
  const file = await readSessionFile(workspace, word);
  const exported = file?.origin == null ? undefined : branchOfOrigin(tips, file.origin);
  if (exported !== undefined) return [exported];
  const ids = file === null ? idsIn(word).whole : [file.sessionId];
  for (const id of new Set(ids.filter((candidate) => SESSION_ID.test(candidate)))) {
    const held = await Promise.all(tips.map((tip) => holdsSession(workspace.store, tip, id)));
    const found = namesOf(
      tips.filter((_, at) => held[at]),
      active,
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** The conversations of the sessions whose id begins with a word, or with the end of a file's name. */
export async function sessionsBeginning(
  { store }: Workspace,
  { tips, active }: SessionPlaces,
  word: string,
): Promise<readonly NamedBranch[]> {
  const { beginnings } = idsIn(word);
  const holding = new Map<string, BranchTip[]>();
  for (const tip of tips) {
    const files = await store.listTree(tip.commit, { under: ["sources"] }).catch(() => []);
    for (const session of new Set(files.map(({ path }) => path.split("/")[1] ?? "")))
      if (beginnings.some((beginning) => session.startsWith(beginning)))
        holding.set(session, [...(holding.get(session) ?? []), tip]);
  }
  return [...holding.values()].flatMap((held) => namesOf(held, active));
}

/** How often a session is written anew from one commit before its id is no longer looked for. */
const MOST_REWRITTEN = 4;

/**
 * The branches from whose commits jpg wrote a session of this id for an agent, or of an id that begins so: what the agent has not
 * gone on with is in no branch. Of the active conversation all commits count, of others those at which something was compacted or
 * is the newest.
 */
export async function exportedSessions(
  { store }: Workspace,
  { tips, active }: SessionPlaces,
  word: string,
): Promise<{ readonly called: readonly NamedBranch[]; readonly beginning: readonly NamedBranch[] }> {
  const { whole, beginnings } = idsIn(word);
  const called: NamedBranch[] = [];
  const beginning: NamedBranch[] = [];
  if (beginnings.length === 0) return { called, beginning };
  for (const tip of tips) {
    const { name: branch, commit } = tip;
    const isActive = active !== null && conversationOf(branch) === conversationOf(active);
    const log = await (isActive ? store.readLog({ from: commit }) : readRecordLog(store, commit)).catch(() => []);
    const commits = new Set([commit, ...log.flatMap((entry) => [entry.commit, ...entry.parents])]);
    const ids = [...commits].flatMap((from) => exportedIds({ branch, commit: from }));
    if (ids.some((id) => whole.includes(id))) called.push(nameOf(tip));
    else if (ids.some((id) => beginnings.some((begun) => id.startsWith(begun)))) beginning.push(nameOf(tip));
  }
  return { called, beginning };
}

function exportedIds(tree: Pick<BranchTree, "branch" | "commit">): readonly string[] {
  return writingAgents().flatMap((agent) =>
    Array.from({ length: MOST_REWRITTEN }, (_, n) => exportSessionId(agent, tree, n)),
  );
}

/** The id of an exported session: the same branch, tip and count always have the same. */
export function exportSessionId(
  { name, write }: WritingAgent,
  { branch, commit, atTurn }: Pick<BranchTree, "branch" | "commit" | "atTurn">,
  n: number,
): string {
  const tip = atTurn === undefined ? commit : `${commit}:${atTurn}`;
  return write.sessionId({ conversation: conversationOf(branch), branch, tip, target: name, n }, sha1Bytes);
}

/** Whether a file is there; what cannot be looked at is none. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // a part of the path is no folder, or too long
  }
}

/** Reads a session's file; null when the word names no file that is one. */
async function readSessionFile(
  { runtime }: Workspace,
  word: string,
): Promise<{ readonly origin: ExportOrigin | null; readonly sessionId: string } | null> {
  // A word without a dot or a slash is a name, whatever files are here.
  if (!/[./\\]/.test(word)) return null;
  const path = resolve(runtime.cwd, word);
  if (!isFile(path)) return null;
  try {
    return await openSession(runtime, { path, named: true }, { allBranches: false });
  } catch (error) {
    if (error instanceof JpgError && error.kind === "user") return null;
    throw error;
  }
}

/** The branch that a session says it was written from; anybody may write such a line, and it names no other conversation's. */
function branchOfOrigin(tips: readonly BranchTip[], { conversation, branch }: ExportOrigin): NamedBranch | undefined {
  const tip = conversationOf(branch) === conversation ? tips.find(({ name }) => name === branch) : undefined;
  return tip === undefined ? undefined : nameOf(tip);
}

/** The conversations of branches that hold a session, each once: the conversation where its main fork does, else that fork. */
function namesOf(holding: readonly BranchTip[], active: string | null): readonly NamedBranch[] {
  return [...new Set(holding.map(({ name }) => conversationOf(name)))].flatMap((conversation) => {
    const tip = mainBranch(holding, conversation, active);
    if (tip === null) return [];
    const isWhole = holding.some(({ name }) => name === `${conversation}/main`);
    return [isWhole ? { name: conversation, tip, isFork: false } : nameOf(tip)];
  });
}

function nameOf(tip: BranchTip): NamedBranch {
  return forkOf(tip.name) === "main"
    ? { name: conversationOf(tip.name), tip, isFork: false }
    : { name: tip.name, tip, isFork: true };
}

/** The ids that a word may hold, a session's or the beginning of one: the word, or the end of a file's name. */
function idsIn(word: string): { readonly whole: readonly string[]; readonly beginnings: readonly string[] } {
  const stem = basename(word).replace(/(?<=.)\.[a-z]\w{1,5}(?:\.[a-z]\w{1,3})?$/i, "");
  const tail = stem === word ? "" : stem.slice(stem.lastIndexOf("-") + 1);
  const whole = [word, stem, UUID_AT_END.exec(stem)?.[0] ?? ""].filter((id) => SESSION_ID.test(id));
  const beginnings = [stem, ...(tail.length < TAIL ? [] : [tail])].filter((id) => SESSION_ID.test(id));
  return { whole, beginnings };
}

/** The suffix of an imported conversation's id: derived from the session, so that everyone's import has the same. */
export function importSuffix(format: string, session: string, length = 4): string {
  return shortId(sha256(`${format}:${session}`), length);
}

/** What the branches of a session are found by. */
export interface FamilyNames {
  /** As `importSuffix` gives it, four characters or more. */
  readonly suffix: string;
  /** The conversation that the file says it continues. */
  readonly continues: string | undefined;
}

interface Member {
  readonly tip: BranchTip;
  readonly conversation: string;
  /** Place among all branches. */
  readonly at: number;
}

/** Members by conversation, and by the first characters of its suffix. */
interface Families {
  readonly byConversation: ReadonlyMap<string, readonly Member[]>;
  readonly bySuffix: ReadonlyMap<string, readonly Member[]>;
}

/** Characters that every suffix has. */
const SHORTEST_SUFFIX = 4;

/** By the list of branches, which is one for all sessions of a pass. */
const known = new WeakMap<readonly BranchTip[], Families>();

/** The branches of a session's conversation, or of the one it continues, in the order of the branches. */
export function familyOf(branches: readonly BranchTip[], { suffix, continues }: FamilyNames): readonly BranchTip[] {
  const { byConversation, bySuffix } = familiesOf(branches);
  // A suffix is longer than usual where two sessions would have had one name.
  const own = (bySuffix.get(suffix.slice(0, SHORTEST_SUFFIX)) ?? []).filter(({ conversation }) =>
    suffixOf(conversation).startsWith(suffix),
  );
  const continued = continues === undefined ? [] : (byConversation.get(continues) ?? []);
  return [...new Set([...own, ...continued])].sort((a, b) => a.at - b.at).map(({ tip }) => tip);
}

function familiesOf(branches: readonly BranchTip[]): Families {
  const made = known.get(branches);
  if (made !== undefined) return made;
  const members = branches.map((tip, at) => ({ tip, conversation: conversationOf(tip.name), at }));
  const families = {
    byConversation: groupBy(members, ({ conversation }) => conversation),
    bySuffix: groupBy(members, ({ conversation }) => suffixOf(conversation).slice(0, SHORTEST_SUFFIX)),
  };
  known.set(branches, families);
  return families;
}

function groupBy(members: readonly Member[], keyOf: (member: Member) => string): Map<string, Member[]> {
  const groups = new Map<string, Member[]>();
  for (const member of members) {
    const group = groups.get(keyOf(member));
    if (group === undefined) groups.set(keyOf(member), [member]);
    else group.push(member);
  }
  return groups;
}

function suffixOf(conversation: string): string {
  return conversation.slice(conversation.lastIndexOf("-") + 1);
}
