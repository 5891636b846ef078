// Finds events by their text, in all conversations, whether the view shows them or not. Git preselects files that may match; then
// the text of events is searched, never the JSON around it.

import { createContext, runInContext } from "node:vm";
import { stringsIn, textsOf } from "../../core/compact/hidden-content.ts";
import type { Disposition } from "../../core/conversation/contents/content-type.ts";
import { type Event, fieldsOf, type Turn } from "../../core/conversation/event.ts";
import { isMostlyContained, type LineSketch } from "../../core/conversation/merge-sides.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { resolveDispositions } from "../../core/conversation/winner.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import {
  createWordFinder,
  findLine,
  lineAround,
  type MatchedLine,
  type NamePlace,
  type PatternOptions,
  parsePattern,
  parseWords,
  type RankedText,
  type RankedTexts,
  rankTexts,
  readWordHits,
  type SoughtWords,
  type TextPattern,
} from "../../core/look/search-words.ts";
import { partName } from "../../core/model/part-name.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { countProgress } from "../conversation/progress.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { requireTexts } from "../conversation/turns.ts";
import { loadCompactions, loadTurns, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { preferredBranch } from "../names/conversations.ts";
import { resolveId } from "../names/resolve-id.ts";

/** Searches. Throws `bad_pattern`, `unknown_id`. */
export async function searchConversations(workspace: Workspace, request: SearchRequest): Promise<SearchReport> {
  if (request.rank === true) return rankEvents(workspace, request);
  const pattern = parsePattern(request.pattern, request);
  const isWanted = scopeTest(request.scopes);
  const inSummaries = request.scopes?.includes("summary") === true;
  const branches = await branchesOf(workspace, request.id);
  const candidates = await findCandidates(workspace, branches, pattern);
  const limit = request.limit ?? Number.POSITIVE_INFINITY;
  const hits: SearchHit[] = [];
  const unreadable: { branch: string; error: JpgError }[] = [];
  const seen = request.all === true ? null : new Set<string>();
  for (const tip of countProgress(workspace, "searching conversations", branches)) {
    const wanted = candidates.get(tip.commit) ?? [];
    if (wanted.length === 0 && !inSummaries) continue;
    const found = await searchBranch(workspace, tip, {
      wanted,
      seen,
      inSummaries,
      find: (event, texts) => (isWanted(event) ? findLine(texts(), pattern) : null),
      findInTexts: (texts) => findLine(texts, pattern),
      ...(request.regex === true ? { longestMs: request.longestMs ?? LONGEST_MS } : {}),
    });
    if (found instanceof JpgError) unreadable.push({ branch: tip.name, error: found });
    else appendAll(hits, found);
    if (hits.length > limit) break;
  }
  return { hits: hits.slice(0, limit), cut: hits.length > limit, unreadable };
}

/** Reads everything, and ranks the events that contain any of the words. */
async function rankEvents(workspace: Workspace, request: SearchRequest): Promise<SearchReport> {
  const counter = createWordCounter(parseWords(request.pattern));
  const isWanted = scopeTest(request.scopes);
  const branches = await branchesOf(workspace, request.id);
  const hits = new Map<number, SearchHit>();
  const unreadable: { branch: string; error: JpgError }[] = [];
  const seen = request.all === true ? null : new Set<string>();
  for (const tip of countProgress(workspace, "searching conversations", branches)) {
    const positions: number[] = [];
    const findInTexts = (texts: readonly string[]): MatchedLine | null => {
      const { at, isHit } = counter.add(texts);
      if (isHit) positions.push(at);
      return isHit ? NO_LINE : null;
    };
    const found = await searchBranch(workspace, tip, {
      wanted: "all",
      seen,
      inSummaries: request.scopes?.includes("summary") === true,
      find: (event, texts) => (isWanted(event) ? findInTexts(texts()) : null),
      findInTexts,
    });
    if (found instanceof JpgError) unreadable.push({ branch: tip.name, error: found });
    else for (const [index, hit] of found.entries()) hits.set(positions[index] ?? -1, hit);
  }
  const ranked = counter.rank({
    weigh: (at) => {
      const hit = hits.get(at);
      return hit === undefined ? 1 : rankWeight(hit.type, hit.state);
    },
    areNear: (at, other) => hits.get(at)?.branch === hits.get(other)?.branch,
  });
  const all = ranked.flatMap(({ at, alike }) => {
    const hit = hits.get(at);
    const more = alike.filter((other) => hits.has(other)).length;
    return hit === undefined ? [] : [{ at, hit: more === 0 ? hit : { ...hit, alike: more } }];
  });
  const most = request.limit ?? all.length;
  const best = all.slice(0, most).map(({ at, hit }) => ({ ...hit, ...counter.line(at) }));
  return { hits: best, cut: all.length > most, unreadable };
}

/** Placeholder in a hit until all are ranked. */
const NO_LINE: MatchedLine = { line: "", from: 0, to: 0 };

interface BranchSearch {
  /** The matching line of an event, null = no match. Called in the order of the turns. */
  readonly find: (event: Event, texts: () => readonly string[]) => MatchedLine | null;
  /** Like `find`, for a summary; called after all turns of its branch. */
  readonly findInTexts: (texts: readonly string[]) => MatchedLine | null;
  readonly inSummaries: boolean;
  readonly wanted: readonly number[] | "all";
  /** Turns and summaries that were searched; null = search each wherever it is. */
  readonly seen: Set<string> | null;
  /** Milliseconds for one turn; absent = no limit is needed. */
  readonly longestMs?: number;
}

/** Milliseconds: any sensible expression searches a turn in far less. */
const LONGEST_MS = 5000;

/** Searches one branch. Returns the error of one that cannot be read, so that it does not hide the others. */
async function searchBranch(
  workspace: Workspace,
  { name, commit }: BranchTip,
  search: BranchSearch,
): Promise<readonly SearchHit[] | JpgError> {
  const { wanted, seen, inSummaries } = search;
  try {
    const tree = await loadBranchTree(workspace.store, name, commit);
    const all = wanted === "all" ? tree.turnOids.map((_, turn) => turn) : wanted;
    const turns = seen === null ? all : all.filter((turn) => isNew(seen, tree, turn));
    const hits = await searchTurns(workspace, tree, { ...search, turns });
    if (!inSummaries) return hits;
    const find = (texts: readonly string[]): MatchedLine | null =>
      endLatePattern(search.longestMs, `the summaries of ${name}`, () => search.findInTexts(texts));
    return [...hits, ...(await searchSummaries(workspace.store, tree, { find, seen }))];
  } catch (error) {
    if (error instanceof JpgError && error.kind === "repository") return error;
    throw error;
  }
}

/** Whether a turn was not searched yet: forks share turns. */
function isNew(seen: Set<string>, { branch, turnOids }: BranchTree, turn: number): boolean {
  const key = `${conversationOf(branch)}:${turnOids[turn]}`;
  const isFirst = !seen.has(key);
  seen.add(key);
  return isFirst;
}

/** The branches to search, in order: by conversation, its active branch first, then `main`. */
async function branchesOf(workspace: Workspace, id: string | undefined): Promise<readonly BranchTip[]> {
  const { store } = workspace;
  const active = await preferredBranch(workspace);
  const rank = ({ name }: BranchTip): number => (name === active ? 0 : forkOf(name) === "main" ? 1 : 2);
  const branches = [...(await store.listBranches())].sort(
    (a, b) => compare(conversationOf(a.name), conversationOf(b.name)) || rank(a) - rank(b) || compare(a.name, b.name),
  );
  if (id === undefined) return branches;
  const target = await resolveId(workspace, id, ["branch", "commit"]);
  const { branch } = target;
  if (target.kind === "commit") return [{ name: branch, commit: target.commit }];
  const isFork = target.kind === "branch" && target.isFork === true;
  const conversation = conversationOf(branch);
  return branches.filter(({ name }) => (isFork ? name === branch : conversationOf(name) === conversation));
}

/** Turns that may match, by commit, ascending; `all` if nothing can be excluded. */
async function findCandidates(
  { store }: Workspace,
  branches: readonly BranchTip[],
  { needles, ignoreCase }: TextPattern,
): Promise<ReadonlyMap<string, readonly number[] | "all">> {
  const commits = [...new Set(branches.map(({ commit }) => commit))];
  const everything = new Map(commits.map((commit) => [commit, "all" as const]));
  if (needles === null) return everything;
  try {
    return await narrow(store, commits, { needles, ignoreCase });
  } catch (error) {
    // One branch that git cannot read ends git's search: then read each branch.
    if (error instanceof JpgError && error.kind === "repository") return everything;
    throw error;
  }
}

async function narrow(
  store: ConversationStore,
  commits: readonly string[],
  { needles, ignoreCase }: { readonly needles: readonly string[]; readonly ignoreCase: boolean },
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = await store.findText(commits, { texts: needles, under: ["turns", "attachments"], ignoreCase });
  const names = new Set<string>();
  for (const paths of found.values())
    for (const path of paths) if (path.startsWith("attachments/")) names.add(path.slice(path.lastIndexOf("/") + 1));
  const referring = await store.findText(commits, { texts: [...names], under: ["turns"] });
  return new Map(
    commits.map((commit) => {
      const paths = [...(found.get(commit) ?? []), ...(referring.get(commit) ?? [])];
      const turns = new Set(paths.flatMap((path) => turnIndexOfPath(path) ?? []));
      return [commit, [...turns].sort((a, b) => a - b)];
    }),
  );
}

async function searchTurns(
  { store }: Workspace,
  tree: BranchTree,
  { turns, ...search }: Pick<BranchSearch, "find" | "longestMs"> & { readonly turns: readonly number[] },
): Promise<readonly SearchHit[]> {
  const read = await loadTurns(store, tree, turns);
  const found: { readonly turn: number; readonly event: Event; readonly line: MatchedLine }[] = [];
  for (const { index, events } of read.values()) {
    requireTexts(tree.commit, events);
    const lines = endLatePattern(search.longestMs, `turn ${index} of ${tree.branch}`, () =>
      events.map((event) => search.find(event, () => searchedTexts(event))),
    );
    for (const [at, line] of lines.entries()) {
      const event = events[at];
      if (line !== null && event !== undefined) found.push({ turn: index, event, line });
    }
  }
  if (found.length === 0) return [];
  const dispositions = await dispositionsIn(store, tree, read);
  const { branch } = tree;
  return found.map(({ turn, event: { id, type }, line }) => {
    const place = { conversation: conversationOf(branch), branch, turn, event: id, type, ...line };
    return { ...place, ...stateOf(dispositions.get(id)) };
  });
}

/** What compactions do to the events that were read. */
async function dispositionsIn(
  store: ConversationStore,
  tree: BranchTree,
  read: ReadonlyMap<number, Turn>,
): Promise<ReadonlyMap<string, Disposition>> {
  const { applied } = await loadCompactions(store, tree);
  if (applied.length === 0) return new Map();
  // Turns that were not read are empty: no event decides over another turn's event.
  const turns = tree.turnOids.map((_, index) => read.get(index) ?? { index, events: [] });
  return resolveDispositions(turns, applied);
}

function stateOf(disposition: Disposition | undefined): Pick<SearchHit, "state" | "compaction"> {
  if (disposition === undefined || disposition.action === "keep") return { state: "shown" };
  const isGone = disposition.action === "hide" || disposition.action === "omit";
  const isReasoningLeftOut = disposition.content === "reasoning";
  return { state: isGone || isReasoningLeftOut ? "hidden" : "changed", compaction: disposition.compaction.id };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Ranks events by the words in them. Reads every turn once and counts only the words sought: no index has to be maintained, and
// memory grows with the hits only.

/** Searches are mostly for what the view hides or changes; tool results are most of that. */
const HIDDEN_WEIGHT = 3;
const RESULT_WEIGHT = 1.5;

/** Counts words while events are read; rank after all were added. */
interface WordCounter {
  /** Adds an event's texts; returns its position, and whether it contains any of the words. */
  add(texts: readonly string[]): { readonly at: number; readonly isHit: boolean };
  /** Ranks the hits, best first. `areNear` = whether one may represent the other if it shows all that the other shows. */
  rank(how: Pick<RankedTexts, "weigh"> & { areNear(at: number, other: number): boolean }): readonly RankedText[];
  /** The line of a hit with the rarest of its words, by the counts at the time it was added. */
  line(at: number): MatchedLine;
}

/** The factor for a hit's score. */
export function rankWeight(type: SearchHit["type"], state: "shown" | "changed" | "hidden"): number {
  return (type === "tool_call_response" ? RESULT_WEIGHT : 1) * (state === "shown" ? 1 : HIDDEN_WEIGHT);
}

function createWordCounter(words: SoughtWords): WordCounter {
  const find = createWordFinder(words);
  const lengths: number[] = [];
  const postings = new Map<string, Map<number, number>>([...words.keys()].map((word) => [word, new Map()]));
  const hits = new Map<number, { readonly line: MatchedLine; readonly lines: LineSketch }>();
  const rarestOf = (places: ReadonlyMap<string, NamePlace>): NamePlace | undefined => {
    const byRarity = [...places].sort(([a], [b]) => (postings.get(a)?.size ?? 0) - (postings.get(b)?.size ?? 0));
    return byRarity[0]?.[1];
  };
  return {
    add(texts) {
      const at = lengths.length;
      lengths.push(texts.reduce((sum, { length }) => sum + length, 0));
      const { times, first, lines } = readWordHits(texts, find);
      for (const [word, count] of times) postings.get(word)?.set(at, count);
      const place = rarestOf(first);
      if (place === undefined) return { at, isHit: false };
      hits.set(at, { line: lineAround(place.text, place.from, place.to), lines });
      return { at, isHit: true };
    },
    rank: ({ weigh, areNear }) =>
      rankTexts(words, {
        lengths,
        holding: (word) => postings.get(word),
        weigh,
        isShownBy: (at, better) =>
          areNear(at, better) && isMostlyContained(hits.get(at)?.lines ?? [], hits.get(better)?.lines ?? []),
      }),
    line: (at) => hits.get(at)?.line ?? { line: "", from: 0, to: 0 },
  };
}

// The request and the report of `jpg search`, as `--json` prints it.

export interface SearchRequest extends PatternOptions {
  readonly pattern: string;
  /** Rank events by the words of the pattern, best first, hidden ones before shown ones (default false: in order). */
  readonly rank?: boolean;
  /** Search only what these said; absent = everything. */
  readonly scopes?: readonly SearchScope[];
  /** Conversation to search with its forks, or one branch by its full name; absent = all conversations. */
  readonly id?: string;
  /** Report a turn on every branch that has it, not once per conversation. */
  readonly all?: boolean;
  /** Most hits, > 0; absent = all. */
  readonly limit?: number;
  /** Milliseconds that an expression may take for one turn; default 5000. */
  readonly longestMs?: number;
}

/** An event whose text was found. */
export interface SearchHit extends MatchedLine {
  readonly conversation: string;
  readonly branch: string;
  /** Turn position, 0-based. */
  readonly turn: number;
  /** Id of the event; for a summary its compaction's, and `turn` is the last one that it replaces. */
  readonly event: string;
  readonly type: Event["type"] | "summary";
  /** `hidden` from the view, `changed` there, or `shown` as it is. */
  readonly state: "shown" | "changed" | "hidden";
  /** The compaction that hides or changes it; absent for a summary. */
  readonly compaction?: string;
  /**
   * When ranked: further events of the branch that this one represents, because it has all of their matching lines; absent = none.
   */
  readonly alike?: number;
}

export interface SearchReport {
  /** By conversation, then branch, then turn: the active branch first, then `main`. When ranked, best first. */
  readonly hits: readonly SearchHit[];
  /** Whether the limit cut off more hits. */
  readonly cut: boolean;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}

/** Who said it: `tool` = calls and their results; `summary` = text that replaces turns, searched only if named. */
export type SearchScope = "user" | "assistant" | "tool" | "summary";

export const SEARCH_SCOPES: readonly SearchScope[] = ["user", "assistant", "tool", "summary"];

/** Returns a test whether one of them said an event; absent = anybody. */
function scopeTest(scopes: readonly SearchScope[] | undefined): (event: Event) => boolean {
  if (scopes === undefined) return () => true;
  return ({ type }) => {
    if (type === "chat_request") return scopes.includes("user");
    if (type === "chat_response") return scopes.includes("assistant");
    return (type === "tool_call_request" || type === "tool_call_response") && scopes.includes("tool");
  };
}

/** The text of an event for people and models; none for kinds that no model sees. */
export function searchedTexts(event: Event): readonly string[] {
  if (event.type === "tool_call_request") return [event.name, ...textsOf(event)];
  if (event.type === "chat_response" && event.data !== undefined) return stringsIn(event.data);
  return textsOf(event);
}

/** Searches the summaries of a branch that were not searched yet; `seen` = null searches all. */
async function searchSummaries(
  store: ConversationStore,
  tree: BranchTree,
  {
    find,
    seen,
  }: { readonly find: (texts: readonly string[]) => MatchedLine | null; readonly seen: Set<string> | null },
): Promise<readonly SearchHit[]> {
  const { branch } = tree;
  const conversation = conversationOf(branch);
  const found: SearchHit[] = [];
  for (const { id, summary, to_turn: turn } of (await loadCompactions(store, tree)).all) {
    const key = `${conversation}:${id}`;
    if (summary === undefined || seen?.has(key) === true) continue;
    seen?.add(key);
    const line = find([summary.summary]);
    if (line !== null) found.push({ conversation, branch, turn, event: id, type: "summary", state: "shown", ...line });
  }
  if (found.length === 0) return found;
  const { view } = await loadView(store, tree);
  const shown = new Set(view.turns.flatMap(({ origin }) => (origin.kind === "summary" ? [origin.compaction] : [])));
  return found.map((hit) => (shown.has(hit.event) ? hit : { ...hit, state: "hidden" }));
}

/** Runs `look`, which must be synchronous, and stops it after so many milliseconds; undefined = never. Throws `slow_pattern`. */
function endLatePattern<Found>(longestMs: number | undefined, place: string, look: () => Found): Found {
  if (longestMs === undefined) return look();
  try {
    return runInContext("look()", createContext({ look }), { timeout: longestMs }) as Found;
  } catch (error) {
    // The error is from another context, so `instanceof` does not recognise it.
    if (fieldsOf(error)["code"] !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw userError(
      "slow_pattern",
      `The expression takes more than ${longestMs / 1000} s on ${place}, so it was stopped.`,
      {
        hints: [
          "Repetitions inside repetitions, such as (a+)+, take that long; without --regex a text is found at once.",
        ],
      },
    );
  }
}

/**
 * Returns `user`, `added by the agent`, `system`, `developer`, `assistant`, `reasoning`, `tool call NAME` or `tool result NAME`; names by call
 * id.
 */
export function describeSpeaker(event: Event, toolNames: ReadonlyMap<string, string>): string {
  switch (event.type) {
    case "chat_request":
      return event.metadata?.origin === "harness" ? partName("harness") : (event.role ?? "user");
    case "chat_response":
      return event.reasoning === undefined ? "assistant" : "reasoning";
    case "tool_call_request":
      return `tool call ${event.name}`;
    case "tool_call_response":
      return `tool result ${toolNames.get(event.call_id) ?? event.call_id}`;
    default:
      return event.type;
  }
}
