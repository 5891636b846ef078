// Finds the branch of an agent's session: by the id under which its sources are stored, by its file, or by the id that jpg gave it
// when it exported the session to an agent.
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { conversationOf, forkOf, shortId } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { ExportOrigin } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { readRecordLog } from "../conversation/log.ts";
import { sha1Bytes, sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { findAgentSessions } from "../sessions/kept-files.ts";
import { openSession } from "../sessions/open-session.ts";
import { type WritingAgent, writingAgents } from "../sessions/session-registry.ts";
import { mainBranch, type NamedBranch } from "./conversations.ts";

/**
 * Finds the branch that holds a session: one of the conversation that its id names, else a fork elsewhere, because a forked session
 * is stored as a fork. Null when none holds it.
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

/** An unreadable branch holds nothing here; reading it reports the damage. */
async function holdsSession(store: ConversationStore, { commit }: BranchTip, session: string): Promise<boolean> {
  const path = `sources/${session}`;
  const entries = await store.readEntries(commit, [path]).catch(() => null);
  return entries?.has(path) === true;
}

/** The branches to search, and the active one. */
export interface SessionPlaces {
  readonly tips: readonly BranchTip[];
  readonly active: string | null;
}

/** A session id, or the beginning of one, as in `sources/<id>`. */
const SESSION_ID = /^[\w][\w.-]{3,127}$/;
/** A UUID at the end of a file's name, after its date. In ids of events a short number precedes it. */
const UUID_AT_END = /(?<=^|.{10})[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Fewest characters of a session id that agents put at the end of a file's name. */
const TAIL = 8;

/** Finds the conversations of a session that a word names in full: by its id, its file, or the file's name. */
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

/** Eight digits of a UUID or more, or an id that begins with `ses_`. */
const LIKE_A_SESSION = /^(?:[0-9a-f]{8}(?:-[0-9a-f-]*)?|ses_\w+)$/;

/** The file of a session that a word names, by its path or id, and that no conversation holds; null = none on this machine. */
export async function fileToImport(workspace: Workspace, word: string): Promise<string | null> {
  if ((await readSessionFile(workspace, word)) !== null) return word;
  if (!LIKE_A_SESSION.test(word)) return null;
  const { files, unclear } = await findAgentSessions(workspace);
  // One agent has a folder for each session.
  const isNamed = ({ path }: { readonly path: string }): boolean =>
    basename(path).includes(word) || basename(dirname(path)).startsWith(word);
  const [only, ...more] = [...files, ...unclear].filter(isNamed);
  return only === undefined || more.length > 0 ? null : only.path;
}

/** Finds the conversations of sessions whose id begins with a word, or with the end of a file's name. */
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

/** Number of exports from one commit whose ids are recognised. */
export const MOST_REWRITTEN: number = 4;

/**
 * Finds the branches from which jpg exported a session of this id, or of an id that begins so: until the agent continues it, no
 * branch holds it. Searches all commits of the active conversation; of others only the tip and commits of compactions.
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

/** Derives the id of an exported session from branch, tip and count. */
export function exportSessionId(
  { name, write }: WritingAgent,
  { branch, commit, atTurn }: Pick<BranchTree, "branch" | "commit" | "atTurn">,
  n: number,
): string {
  const tip = atTurn === undefined ? commit : `${commit}:${atTurn}`;
  return write.sessionId({ conversation: conversationOf(branch), branch, tip, target: name, n }, sha1Bytes);
}

/** Returns whether a file exists; false if inaccessible. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // a part of the path is not a folder, or too long
  }
}

/** Reads a session's file; null when the word names no such file. */
async function readSessionFile(
  { runtime }: Workspace,
  word: string,
): Promise<{ readonly origin: ExportOrigin | null; readonly sessionId: string } | null> {
  // A word without a dot or a slash is a name, even if such a file exists.
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

/**
 * Returns the branch from which a session says it was exported. Anybody may write such a line, so the branch must belong to the
 * named conversation.
 */
function branchOfOrigin(tips: readonly BranchTip[], { conversation, branch }: ExportOrigin): NamedBranch | undefined {
  const tip = conversationOf(branch) === conversation ? tips.find(({ name }) => name === branch) : undefined;
  return tip === undefined ? undefined : nameOf(tip);
}

/** Names the conversations of branches that hold a session, each once: the conversation if its main branch does, else the fork. */
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

/** Lists the session ids, or beginnings of them, that a word may contain: the word itself, or the end of a file's name. */
function idsIn(word: string): { readonly whole: readonly string[]; readonly beginnings: readonly string[] } {
  const stem = basename(word).replace(/(?<=.)\.[a-z]\w{1,5}(?:\.[a-z]\w{1,3})?$/i, "");
  const tail = stem === word ? "" : stem.slice(stem.lastIndexOf("-") + 1);
  const whole = [word, stem, UUID_AT_END.exec(stem)?.[0] ?? ""].filter((id) => SESSION_ID.test(id));
  const beginnings = [stem, ...(tail.length < TAIL ? [] : [tail])].filter((id) => SESSION_ID.test(id));
  return { whole, beginnings };
}

/** Derives the suffix of an imported conversation's id from the session, so that every import has the same. */
export function importSuffix(format: string, session: string, length = 4): string {
  return shortId(sha256(`${format}:${session}`), length);
}

/** What identifies the branches of a session. */
export interface FamilyNames {
  /** From `importSuffix`, four characters or more. */
  readonly suffix: string;
  /** The conversation that the session's file says it continues. */
  readonly continues: string | undefined;
}

interface Member {
  readonly tip: BranchTip;
  readonly conversation: string;
  /** Position among all branches. */
  readonly at: number;
}

/** Members by conversation, and by the first characters of their suffix. */
interface Families {
  readonly byConversation: ReadonlyMap<string, readonly Member[]>;
  readonly bySuffix: ReadonlyMap<string, readonly Member[]>;
}

/** Length of the shortest suffix. */
const SHORTEST_SUFFIX = 4;

/** Keyed by the list of branches, which is the same object for all sessions of a pass. */
const familyCache = new WeakMap<readonly BranchTip[], Families>();

/** Finds the branches of a session's conversation, or of the one it continues, in the order of branches. */
export function familyOf(branches: readonly BranchTip[], { suffix, continues }: FamilyNames): readonly BranchTip[] {
  const { byConversation, bySuffix } = familiesOf(branches);
  // A suffix is longer if two sessions would otherwise have the same name.
  const own = (bySuffix.get(suffix.slice(0, SHORTEST_SUFFIX)) ?? []).filter(({ conversation }) =>
    suffixOf(conversation).startsWith(suffix),
  );
  const continued = continues === undefined ? [] : (byConversation.get(continues) ?? []);
  return [...new Set([...own, ...continued])].sort((a, b) => a.at - b.at).map(({ tip }) => tip);
}

function familiesOf(branches: readonly BranchTip[]): Families {
  const cached = familyCache.get(branches);
  if (cached !== undefined) return cached;
  const members = branches.map((tip, at) => ({ tip, conversation: conversationOf(tip.name), at }));
  const families = {
    byConversation: groupBy(members, ({ conversation }) => conversation),
    bySuffix: groupBy(members, ({ conversation }) => suffixOf(conversation).slice(0, SHORTEST_SUFFIX)),
  };
  familyCache.set(branches, families);
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
