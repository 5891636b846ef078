// Keeps the facts of turns by the object id of the turn's file, in one cache file per conversation, so that what a view hides is
// counted without being read. The file counts only where it stands: it begins with a digest of its bytes and of the very folder
// that it was written in, so that neither damage nor a store from somebody else brings facts of its own.
import { fieldsOf } from "../../core/event/fields.ts";
import type { AnswerFacts, TurnFacts } from "../../core/tokens/turn-facts.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { openSealedCache } from "./sealed-cache.ts";

/** The facts of a turn's file, wherever it stands. */
export type StoredFacts = Omit<TurnFacts, "index">;

export interface TurnFactsCache {
  /** Facts of the turn file with this object id; null when they are not known. */
  find(oid: string): StoredFacts | null;
  add(oid: string, facts: StoredFacts): void;
  /** Writes what was added; without effect where nothing can be written. */
  save(): Promise<void>;
}

/** Raised when other facts are kept, or jpg or its tokenizers count otherwise. */
const FORMAT = 1;
/** Turns in a file before those of other forks are dropped. */
const MOST_TURNS = 100_000;

/** What stands in the file for a turn. */
type Row = readonly [
  oid: string,
  events: number,
  tokens: number,
  kinds: TurnFacts["kinds"],
  model: string | null,
  previous: string | null,
  answers: readonly AnswerFacts[],
];

/** Opens what is known of the conversation whose first turn has this object id; `counter` names what counted the tokens. */
export function openTurnFactsCache(store: ConversationStore, first: string, counter = "estimate"): TurnFactsCache {
  const cache = openSealedCache(store, `facts-${counter}`);
  const known = parseRows(cache.read(first));
  const used = new Map<string, StoredFacts>();
  let isChanged = false;
  return {
    find(oid) {
      const facts = known.get(oid) ?? null;
      if (facts !== null) used.set(oid, facts);
      return facts;
    },
    add(oid, facts) {
      isChanged ||= !known.has(oid);
      known.set(oid, facts);
      used.set(oid, facts);
    },
    async save() {
      if (!isChanged) return;
      const body = JSON.stringify({
        format: FORMAT,
        rows: [...(known.size > MOST_TURNS ? used : known)].map(toRow),
      });
      await cache.write(body, first);
    },
  };
}

/** What was sealed here was written by jpg: its rows are taken as they are. */
function parseRows(body: Buffer | null): Map<string, StoredFacts> {
  if (body === null) return new Map();
  const { format, rows } = fieldsOf(JSON.parse(String(body)));
  return format === FORMAT ? new Map((rows as readonly Row[]).map(fromRow)) : new Map();
}

function toRow([oid, { events, tokens, kinds, model, previous, answers }]: [string, StoredFacts]): Row {
  return [oid, events, tokens, kinds, model, previous, answers];
}

function fromRow([oid, events, tokens, kinds, model, previous, answers]: Row): [string, StoredFacts] {
  return [oid, { events, tokens, kinds, model, previous, answers }];
}
