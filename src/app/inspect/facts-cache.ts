// The cache that keeps what a list says of each commit. It is made for being read whole, for many conversations
// at a time: columns and not objects, which are parsed in a fourth of the time.
import { type Fields, fieldsOf } from "../../core/event/fields.ts";
import type { Cache } from "../../store/cache.ts";
import type { BranchTip, ConversationStore } from "../../store/conversation-store.ts";
import type { ListRow } from "./list-row.ts";

/** What a row says that follows from the commit alone. */
export type ConversationFacts = Omit<ListRow, "id" | "branch" | "forks" | "active">;

/** Facts by commit id. */
export interface FactsCache {
  find(commit: string): ConversationFacts | null;
  add(commit: string, facts: ConversationFacts): void;
  /** Writes what was added, and drops commits that are no longer a branch's tip. A store that cannot be written keeps none. */
  save(tips: readonly BranchTip[]): Promise<void>;
}

/** Raised when other facts are kept, or jpg counts otherwise. */
const FORMAT = 8;

/** What every conversation has, as lists of one length: the same index, the same commit. */
const COLUMNS = [
  "commits",
  "titles",
  "turns",
  "raw",
  "view",
  "sources",
  "overheads",
  "compactions",
  "updated",
] as const;

type Column = (typeof COLUMNS)[number];
type Columns = Readonly<Record<Column, readonly unknown[]>>;

/** Opens what is known; nothing where there is no file, or one that cannot be read. */
export function openFactsCache(store: ConversationStore): FactsCache {
  const cache = store.cache("list");
  const known = readKnown(cache);
  let isChanged = false;
  return {
    find: (commit) => known.get(commit) ?? null,
    add: (commit, facts) => {
      known.set(commit, facts);
      isChanged = true;
    },
    async save(tips) {
      if (isChanged) await cache.write(formatTable(tips, known));
    },
  };
}

/** Read at once: this is what there is to do while git lists the branches. */
function readKnown(cache: Cache): Map<string, ConversationFacts> {
  try {
    return parseTable(fieldsOf(JSON.parse(String(cache.read()))));
  } catch {
    return new Map(); // never written, or damaged: the facts are worked out anew
  }
}

function formatTable(tips: readonly BranchTip[], known: ReadonlyMap<string, ConversationFacts>): string {
  const columns: Record<Column, unknown[]> = {
    commits: [],
    titles: [],
    turns: [],
    raw: [],
    view: [],
    sources: [],
    overheads: [],
    compactions: [],
    updated: [],
  };
  const more: Record<string, unknown> = {};
  for (const commit of new Set(tips.map((tip) => tip.commit))) {
    const facts = known.get(commit);
    if (facts === undefined) continue;
    const {
      title,
      turns,
      tokens,
      tokens_source = "estimate",
      overhead_source,
      compactions,
      updated_at,
      ...rest
    } = facts;
    columns.commits.push(commit);
    columns.titles.push(title);
    columns.turns.push(turns);
    columns.raw.push(tokens.raw);
    columns.view.push(tokens.view);
    columns.sources.push(tokens_source);
    columns.overheads.push(overhead_source ?? null);
    columns.compactions.push(compactions);
    columns.updated.push(updated_at);
    if (Object.keys(rest).length > 0) more[commit] = rest;
  }
  return JSON.stringify({ format: FORMAT, ...columns, more });
}

/** Anything may have written to the file: facts that are not whole are passed over. */
function parseTable(fields: Fields): Map<string, ConversationFacts> {
  const known = new Map<string, ConversationFacts>();
  if (fields["format"] !== FORMAT || !hasColumns(fields)) return known;
  for (let row = 0; row < fields.commits.length; row++) {
    const commit = fields.commits[row];
    const facts = factsIn(fields, row);
    if (typeof commit === "string" && facts !== null) known.set(commit, facts);
  }
  for (const [commit, rest] of Object.entries(fieldsOf(fields["more"]))) {
    const facts = known.get(commit);
    if (facts !== undefined) known.set(commit, { ...fieldsOf(rest), ...facts });
  }
  return known;
}

function hasColumns(fields: Fields): fields is Fields & Columns {
  const { commits } = fields;
  return COLUMNS.every((column) => {
    const values = fields[column];
    return Array.isArray(values) && Array.isArray(commits) && values.length === commits.length;
  });
}

function factsIn(columns: Columns, row: number): ConversationFacts | null {
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
  const tokens_source = columns.sources[row] === "recorded" ? "recorded" : "estimate";
  const tokens = { raw, view };
  const overhead_source = columns.overheads[row];
  return overhead_source === "typical" || overhead_source === "unknown"
    ? { title, turns, tokens, tokens_source, overhead_source, compactions, updated_at }
    : { title, turns, tokens, tokens_source, compactions, updated_at };
}
