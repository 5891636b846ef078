// Lists conversations: one row each, on its active or main branch; or one row a branch.
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import { marksInForce } from "../../core/conversation/marks.ts";
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import type { BranchTip, Cache, ConversationStore } from "../../store/store.ts";
import { type CountedView, loadCountedHere, reportTokens } from "../conversation/counted-view.ts";
import { isBrokenLink } from "../conversation/spliced-turns.ts";
import {
  type BranchTree,
  type ConversationHeader,
  loadBranchTree,
  type ParentSession,
  parentSession,
  warnOfDamage,
} from "../conversation/tree.ts";
import { readMetas, titleIn } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { preferredBranch } from "../names/conversations.ts";
import { findSession } from "../names/find-session.ts";

/** The list, with what could not be read: one damaged or newer conversation does not hide the others. */
export interface Listing {
  /** Newest first. */
  readonly rows: ListReport;
  /** How many rows are left out because they are archived. */
  readonly archived: number;
  readonly unreadable: readonly { readonly branch: string; readonly error: JpgError }[];
}

interface ListOptions {
  /** A row for every fork, archived ones among them. */
  readonly all: boolean;
  /** Only what is archived; else that is left out. */
  readonly archived?: boolean;
  /** Only what has all of these labels. */
  readonly labels?: readonly string[];
  /** Told, before that is done, how many conversations are read whole because nothing is known of them yet. */
  readonly onReading?: ((count: number) => void) | undefined;
}

/** Facts that are worked out before they are kept: a list that is broken off goes on there the next time. */
const KEPT_AT_ONCE = 500;

/** Lists conversations. */
export async function listConversations(workspace: Workspace, options: ListOptions): Promise<Listing> {
  const { store } = workspace;
  const listing = store.listBranches();
  listing.catch(() => undefined);
  const known = openFactsCache(store);
  const [tips, active] = await Promise.all([listing, preferredBranch(workspace)]);
  const shown = shownOf(tips, { active, all: options.all });
  const kept = collectRows(shown, { known, active, options });
  const finish = async (collected: CollectedRows) => {
    const listed = await warnAndSort(workspace, collected);
    return { ...listed, rows: await placeAgents(store, tips, { rows: listed.rows, all: options.all }) };
  };
  if (kept.unknown.length === 0) return { ...(await finish(kept)), unreadable: [] };
  const unreadable = await readUnknown(workspace, kept.unknown, { known, tips, onReading: options.onReading });
  return { ...(await finish(collectRows(shown, { known, active, options }))), unreadable };
}

interface CollectedRows {
  readonly rows: ListRow[];
  readonly archived: number;
  readonly damaged: readonly BranchTip[];
  /** What nothing is known of. */
  readonly unknown: readonly ShownBranch[];
}

/** Facts are asked for and forgotten one by one: ten thousand that are kept take as long to be collected as to be made. */
function collectRows(
  shown: readonly ShownBranch[],
  {
    known,
    active,
    options,
  }: { readonly known: FactsCache; readonly active: string | null; readonly options: ListOptions },
): CollectedRows {
  const rows: ListRow[] = [];
  const damaged: BranchTip[] = [];
  const unknown: ShownBranch[] = [];
  let archived = 0;
  for (const branch of shown) {
    const facts = known.find(branch.tip.commit);
    if (facts === null) {
      unknown.push(branch);
      continue;
    }
    if (facts.damaged === true) damaged.push(branch.tip);
    if (!hasLabels(facts, options.labels)) continue;
    if (options.all || (facts.archived ?? false) === (options.archived ?? false))
      rows.push(toRow(branch, facts, active));
    else if (facts.archived === true) archived++;
  }
  return { rows, archived, damaged, unknown };
}

async function warnAndSort(
  workspace: Workspace,
  { rows, archived, damaged }: CollectedRows,
): Promise<Omit<Listing, "unreadable">> {
  for (const { name, commit } of damaged)
    await warnOfDamage(workspace, await loadBranchTree(workspace.store, name, commit));
  return { rows: rows.sort(newestFirst), archived };
}

function newestFirst(a: ListRow, b: ListRow): number {
  return a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0;
}

function hasLabels({ labels = [] }: ConversationFacts, wanted: readonly string[] = []): boolean {
  return wanted.length === 0 || wanted.every((label) => labels.includes(label.normalize("NFC")));
}

/** A branch that has a row, its conversation, and how many other branches that has. */
interface ShownBranch {
  readonly tip: BranchTip;
  readonly id: string;
  readonly forks: number;
}

/** Branches come ordered by name: those of one conversation stand together. */
function shownOf(
  tips: readonly BranchTip[],
  { active, all }: { readonly active: string | null; readonly all: boolean },
): readonly ShownBranch[] {
  const shown: ShownBranch[] = [];
  const ids = tips.map(({ name }) => conversationOf(name));
  for (let from = 0, to = 1; from < tips.length; from = to, to++) {
    const id = ids[from] ?? "";
    while (ids[to] === id) to++;
    const forks = to - from - 1;
    // Nearly all have one branch: of ten thousand conversations no list of one is made.
    const family =
      forks === 0 ? null : tips.slice(from, to).sort((a, b) => rankOf(a.name, active) - rankOf(b.name, active));
    for (let at = from; at < (all ? to : from + 1); at++) {
      const tip = family?.[at - from] ?? tips[at];
      if (tip !== undefined) shown.push({ tip, id, forks });
    }
  }
  return shown;
}

/** The active branch stands first, then `main`. */
function rankOf(name: string, active: string | null): number {
  return name === active ? 0 : forkOf(name) === "main" ? 1 : 2;
}

/** Works out what is not known yet, and keeps it. Gives those that could not be read. */
async function readUnknown(
  workspace: Workspace,
  unknown: readonly ShownBranch[],
  {
    known,
    tips,
    onReading,
  }: Pick<ListOptions, "onReading"> & { readonly known: FactsCache; readonly tips: readonly BranchTip[] },
): Promise<Listing["unreadable"]> {
  onReading?.(unknown.length);
  const unreadable: { branch: string; error: JpgError }[] = [];
  for (const [index, { tip }] of unknown.entries()) {
    try {
      known.add(tip.commit, await readFacts(workspace, tip));
    } catch (error) {
      if (!(error instanceof JpgError) || error.kind !== "repository") throw error;
      unreadable.push({ branch: tip.name, error });
    }
    if (index % KEPT_AT_ONCE === KEPT_AT_ONCE - 1) await known.save(tips);
  }
  await known.save(tips);
  return unreadable;
}

function toRow({ tip: { name }, id, forks }: ShownBranch, facts: ConversationFacts, active: string | null): ListRow {
  const { title, turns, tokens, tokens_source = "estimate", compactions, updated_at } = facts;
  const { turns_elsewhere, overhead_source, spliced, damaged, archived, labels, parent } = facts;
  const isActive = name === active;
  // Ten thousand copies of a row would be a fifth of the time: what most lack is set where it is there.
  const row: { -readonly [Key in keyof ListRow]: ListRow[Key] } =
    overhead_source === undefined
      ? { id, title, branch: name, turns, tokens, tokens_source, compactions, forks, updated_at, active: isActive }
      : {
          id,
          title,
          branch: name,
          turns,
          tokens,
          tokens_source,
          compactions,
          forks,
          updated_at,
          active: isActive,
          overhead_source,
        };
  if (turns_elsewhere !== undefined) row.turns_elsewhere = turns_elsewhere;
  if (spliced === true) row.spliced = spliced;
  if (damaged === true) row.damaged = damaged;
  if (archived === true) row.archived = archived;
  if (labels !== undefined) row.labels = labels;
  if (parent !== undefined) row.parent = parent;
  return row;
}

/** Works facts out, from the facts of the turns. Throws what a damaged conversation throws. */
export async function readFacts(workspace: Workspace, { name, commit }: BranchTip): Promise<ConversationFacts> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const damaged = await warnOfDamage(workspace, tree);
  const [loaded, [seconds = 0]] = await Promise.all([loadCountedHere(store, tree), store.readCommitTimes([commit])]);
  const metas = await readMetas(workspace, tree);
  const { archived, labels } = marksInForce(metas);
  return {
    title: titleIn(metas, tree.header),
    turns: tree.turnOids.length,
    ...(loaded.elsewhere === 0 ? {} : { turns_elsewhere: loaded.elsewhere }),
    ...reportTokens(loaded),
    compactions: loaded.live.all.length,
    ...compactedTo(loaded, tree),
    ...parentOf(tree.header),
    ...(isSpliced(loaded, tree) ? { spliced: true as const } : {}),
    ...(damaged > 0 ? { damaged: true as const } : {}),
    updated_at: new Date(seconds * 1000).toISOString(),
    ...(archived ? { archived } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

function parentOf(header: ConversationHeader): Pick<ConversationFacts, "parent"> {
  const parent = parentSession(header);
  return parent === null || header.source === null ? {} : { parent: { format: header.source.format, ...parent } };
}

function compactedTo({ live }: CountedView, { turnOids }: BranchTree): Pick<ConversationFacts, "compacted_to"> {
  if (live.applied.length === 0) return {};
  const last = live.applied.reduce((turn, { to_turn }) => Math.max(turn, to_turn), 0);
  return { compacted_to: Math.min(last, turnOids.length - 1) };
}

/** As `findBrokenLinks` says, of facts that are at hand: nothing is read again, or kept for each conversation. */
function isSpliced({ facts }: CountedView, { turnOids }: BranchTree): boolean {
  return turnOids.length > 1 && facts.some(({ previous, index }) => isBrokenLink(previous, turnOids[index - 1]));
}

// The cache that keeps what a list says of each commit. It is made for being read whole, for many conversations at a time: a
// column is one value, and of a commit nothing is made before somebody asks for it.

/** What a row says that follows from the commit alone. */
export type ConversationFacts = Omit<ListRow, "id" | "branch" | "forks" | "active" | "agents">;

/** Facts by commit id. */
interface FactsCache {
  /** Cheapest in the order of `save`: what comes next there is found without looking. */
  find(commit: string): ConversationFacts | null;
  add(commit: string, facts: ConversationFacts): void;
  /** Writes what was added, and drops commits that are no longer a branch's tip. A store that cannot be written keeps none. */
  save(tips: readonly BranchTip[]): Promise<void>;
}

/** Raised when other facts are kept, or jpg counts otherwise. */
const FORMAT = 10;
const OID_LENGTH = 40;

/** What every conversation has, as lists of one length: the same index, the same commit. */
const COLUMNS = ["titles", "turns", "raw", "view", "compactions", "updated"] as const;

type Column = (typeof COLUMNS)[number];

/** What is kept of so many commits. Lists of words of a few kinds are one string, a letter for each commit. */
interface Table {
  /** The commits, one behind the other. */
  readonly commits: string;
  readonly columns: Readonly<Record<Column, readonly unknown[]>>;
  readonly sources: string;
  readonly overheads: string;
  /** What few conversations have, by commit. */
  readonly more: ReadonlyMap<string, unknown>;
}

const EMPTY: Table = {
  commits: "",
  columns: { titles: [], turns: [], raw: [], view: [], compactions: [], updated: [] },
  sources: "",
  overheads: "",
  more: new Map(),
};

/** How the words are kept. */
const RECORDED = "r";
const TYPICAL = "t";
const UNKNOWN = "u";
const ELSE = "-";

/** Opens what is known; nothing where there is no file, or one that cannot be read. */
export function openFactsCache(store: ConversationStore): FactsCache {
  const cache = store.cache("list");
  const table = readTable(cache);
  const added = new Map<string, ConversationFacts>();
  const rowOf = rowFinder(table.commits);
  const find = (commit: string): ConversationFacts | null => {
    if (added.size > 0 && added.has(commit)) return added.get(commit) ?? null;
    const row = rowOf(commit);
    return row === null ? null : factsIn(table, commit, row);
  };
  return {
    find,
    add: (commit, facts) => {
      added.set(commit, facts);
    },
    async save(tips) {
      if (added.size > 0) await cache.write(formatTable(tips, find));
    },
  };
}

/** Finds a commit's row. Most are asked for in the order in which they stand; an index is made for the first that is not. */
function rowFinder(commits: string): (commit: string) => number | null {
  let next = 0;
  let index: Map<string, number> | null = null;
  return (commit) => {
    if (commit.length === OID_LENGTH && commits.startsWith(commit, next * OID_LENGTH)) return next++;
    index ??= indexOf(commits);
    const row = index.get(commit);
    if (row === undefined) return null;
    next = row + 1;
    return row;
  };
}

function indexOf(commits: string): Map<string, number> {
  const index = new Map<string, number>();
  for (let at = 0; at < commits.length; at += OID_LENGTH)
    index.set(commits.slice(at, at + OID_LENGTH), at / OID_LENGTH);
  return index;
}

/** Read at once: this is what there is to do while git lists the branches. */
function readTable(cache: Cache): Table {
  try {
    return parseTable(fieldsOf(JSON.parse(String(cache.read())))) ?? EMPTY;
  } catch {
    return EMPTY; // never written, or damaged: the facts are worked out anew
  }
}

function formatTable(tips: readonly BranchTip[], find: FactsCache["find"]): string {
  const commits: string[] = [];
  const columns: Record<Column, unknown[]> = {
    titles: [],
    turns: [],
    raw: [],
    view: [],
    compactions: [],
    updated: [],
  };
  let sources = "";
  let overheads = "";
  const more: Record<string, unknown> = {};
  for (const commit of new Set(tips.map((tip) => tip.commit))) {
    const facts = find(commit);
    // What is not here now may be the next time.
    if (facts === null || facts.turns_elsewhere !== undefined) continue;
    const { title, turns, tokens, tokens_source, overhead_source, compactions, updated_at, ...rest } = facts;
    commits.push(commit);
    columns.titles.push(title);
    columns.turns.push(turns);
    columns.raw.push(tokens.raw);
    columns.view.push(tokens.view);
    columns.compactions.push(compactions);
    columns.updated.push(updated_at);
    sources += tokens_source === "recorded" ? RECORDED : ELSE;
    overheads += overhead_source === undefined ? ELSE : overhead_source === "typical" ? TYPICAL : UNKNOWN;
    if (Object.keys(rest).length > 0) more[commit] = rest;
  }
  return JSON.stringify({ format: FORMAT, commits: commits.join(""), ...columns, sources, overheads, more });
}

/** Anything may have written to the file: null for what is no table of ours. */
function parseTable(fields: Fields): Table | null {
  const { commits, sources, overheads } = fields;
  if (fields["format"] !== FORMAT || typeof commits !== "string" || commits.length % OID_LENGTH !== 0) return null;
  const rows = commits.length / OID_LENGTH;
  const isList = (value: unknown): boolean => Array.isArray(value) && value.length === rows;
  if (!COLUMNS.every((column) => isList(fields[column]))) return null;
  if (typeof sources !== "string" || typeof overheads !== "string") return null;
  const columns = fields as unknown as Table["columns"];
  return { commits, columns, sources, overheads, more: new Map(Object.entries(fieldsOf(fields["more"]))) };
}

/** Null where the facts are not whole. */
function factsIn({ columns, sources, overheads, more }: Table, commit: string, row: number): ConversationFacts | null {
  const title = columns.titles[row];
  const turns = columns.turns[row];
  const raw = columns.raw[row];
  const view = columns.view[row];
  const compactions = columns.compactions[row];
  const updated_at = columns.updated[row];
  const isWhole =
    typeof title === "string" &&
    typeof turns === "number" &&
    typeof raw === "number" &&
    typeof view === "number" &&
    typeof compactions === "number" &&
    typeof updated_at === "string";
  if (!isWhole) return null;
  const tokens = { raw, view };
  const tokens_source = sources[row] === RECORDED ? "recorded" : "estimate";
  const overhead = overheads[row];
  const facts: ConversationFacts =
    overhead === UNKNOWN || overhead === TYPICAL
      ? {
          title,
          turns,
          tokens,
          tokens_source,
          overhead_source: overhead === UNKNOWN ? "unknown" : "typical",
          compactions,
          updated_at,
        }
      : { title, turns, tokens, tokens_source, compactions, updated_at };
  const rest = more.size > 0 ? more.get(commit) : undefined;
  return rest === undefined ? facts : { ...fieldsOf(rest), ...facts };
}

/** One conversation of `ls`, seen on one branch. */
export interface ListRow {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly turns: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Turns of a partial clone that are not here: `tokens.raw` does not count them. Absent = none. */
  readonly turns_elsewhere?: number;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Where the size of system prompt and tools is from; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
  /** Live compactions. */
  readonly compactions: number;
  /** Last turn that a live compaction covers, 0-based; absent = there is none. */
  readonly compacted_to?: number;
  /** Branches beside this one. */
  readonly forks: number;
  /** RFC 3339 UTC. */
  readonly updated_at: string;
  /** Whether it is the active conversation (`@`). */
  readonly active?: boolean;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly labels?: readonly string[];
  /** The session that this one comes from, of a sub-agent's or one that was forked off elsewhere; `id`: its conversation here. */
  readonly parent?: ParentSession & { readonly format: string; readonly id?: string };
  /** Conversations of sub-agents that are left out of the list; absent = none. */
  readonly agents?: number;
  /** Some turns do not follow the turn before them: git put them together. */
  readonly spliced?: true;
  /** Whether records of the branch are damaged: they are not applied. */
  readonly damaged?: true;
}

export type ListReport = readonly ListRow[];

/** Places them. One whose parent is not in the store stands for itself. */
async function placeAgents(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { rows, all }: { readonly rows: ListReport; readonly all: boolean },
): Promise<ListReport> {
  const agents = new Map<string, ListRow[]>();
  const own: ListRow[] = [];
  const parents = new Map<string, string | null>();
  for (const row of rows) {
    const id = await parentBranchOf(store, tips, { row, parents });
    const named = row.parent === undefined || id === null ? row : { ...row, parent: { ...row.parent, id } };
    if (id === null || row.parent?.kind !== "agent") own.push(named);
    else agents.set(id, [...(agents.get(id) ?? []), named]);
  }
  if (agents.size === 0) return own;
  return all ? [...behindParents(own, agents)] : own.map((row) => withCount(row, agents.get(row.id)?.length ?? 0));
}

/** The conversation that holds the session which a row's comes from; null where there is none, or it comes from none. */
async function parentBranchOf(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { row, parents }: { readonly row: ListRow; readonly parents: Map<string, string | null> },
): Promise<string | null> {
  if (row.parent === undefined) return null;
  const { format, session } = row.parent;
  const key = `${format} ${session}`;
  let id = parents.get(key);
  if (id === undefined) {
    const tip = await findSession(store, tips, { format, session });
    id = tip === null ? null : conversationOf(tip.name);
    parents.set(key, id);
  }
  // Whoever says that it comes from itself is not left out for that.
  return id === row.id ? null : id;
}

function withCount(row: ListRow, agents: number): ListRow {
  return agents === 0 ? row : { ...row, agents };
}

/** Rows, each followed by its agents', and these by theirs; what no row comes before stands last. */
function* behindParents(rows: ListReport, agents: Map<string, readonly ListRow[]>): Generator<ListRow> {
  for (const row of rows) {
    yield row;
    yield* takeAgents(row, agents);
  }
  for (const left of [...agents.keys()]) yield* agents.get(left) ?? [];
}

/** Each is given once, also where they name each other in a ring. */
function* takeAgents({ id }: ListRow, agents: Map<string, readonly ListRow[]>): Generator<ListRow> {
  const own = agents.get(id) ?? [];
  agents.delete(id);
  for (const row of own) {
    yield row;
    yield* takeAgents(row, agents);
  }
}
