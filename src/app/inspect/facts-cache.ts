// The cache that keeps what a list says of each commit. It is made for being read whole, for many conversations at a time: a
// column is one value, and of a commit nothing is made before somebody asks for it.
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import type { BranchTip, Cache, ConversationStore } from "../../store/store.ts";
import type { ListRow } from "./list-row.ts";

/** What a row says that follows from the commit alone. */
export type ConversationFacts = Omit<ListRow, "id" | "branch" | "forks" | "active" | "agents">;

/** Facts by commit id. */
export interface FactsCache {
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
