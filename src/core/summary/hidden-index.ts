// The index of what a view hides, made by rule: files with what was done to them, commands with how they ended, error lines, SHAs,
// names that were defined; newest first, and nothing that the view still shows. Without a call's help nobody can tell from a view
// what there was; this says it in a few hundred words.
import type { HiddenIndex } from "../compaction/compaction.ts";
import { type Event, traitsOf } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import { textsOf } from "../loss/event-texts.ts";
import { proseChars } from "../tokens/text-tokens.ts";
import { estimateEvent } from "../tokens/token-estimate.ts";
import { listToolCalls } from "../tools/tool-call.ts";
import { type IndexEntry, type IndexList, listEntries } from "./index-entries.ts";

/** The index takes so much of the tokens that are hidden, and so many, at most. */
const SHARE = 0.02;
const MOST_TOKENS = 1500;
/** Below this it would say too little to be worth a line. */
const LEAST_TOKENS = 60;
/** Characters of English prose; other scripts take more tokens for as many. */
const CHARS_PER_TOKEN = 4;
const HEADING = "[Index of what is left out above, made by rule, newest first]";
const SEPARATOR = "; ";
/** What stands for it inside an entry, so that a list is read back as it was written. */
const INNER = ";";

/** What an index is made of. */
export interface IndexRequest {
  /** The raw turns that the index speaks of, in order; those that an older compaction hides may be left out for `former`. */
  readonly turns: readonly Turn[];
  /** The events of the view without any index. */
  readonly shown: readonly Event[];
  /** Text of the index that it replaces: what stands in it and is not among `turns` is taken over behind what is new. */
  readonly former?: string;
}

/** Makes the index; null where too little is hidden, or nothing that an index could name. */
export function indexHidden({ turns, shown, former = "" }: IndexRequest): HiddenIndex | null {
  const standing = new Set(shown);
  const hidden = turns.flatMap(({ events }) =>
    events.filter((event) => traitsOf(event).providerVisible && !standing.has(event)),
  );
  const room = Math.min(MOST_TOKENS, SHARE * tokensGone(hidden, shown) + proseChars(former) / CHARS_PER_TOKEN);
  if (room < LEAST_TOKENS) return null;
  const isGone = (event: Event | null): boolean => event !== null && !standing.has(event);
  const calls = listToolCalls(turns).filter(({ request, response }) => isGone(request) || isGone(response));
  const text = withoutSeparators(shown.flatMap(textsOf).join("\n"));
  const lists = listEntries(hidden.toReversed(), calls.toReversed());
  const kept = lists.map((list) => ({ ...list, entries: behind(list.entries, formerEntries(former, list.title)) }));
  return writeIndex(kept, lookUp(text), Math.floor(room * CHARS_PER_TOKEN));
}

/** Tells whether a name stands in a text. One that is a word is looked for in the text's words, each of which is there once. */
function lookUp(text: string): (name: string) => boolean {
  let words: string | null = null;
  return (name) => {
    if (!/^\w+$/.test(name)) return text.includes(name);
    words ??= [...new Set(text.match(/\w+/g))].join(" ");
    return words.includes(name);
  };
}

/** The entries, then those of an older list that name something else. */
function* behind(entries: Iterable<IndexEntry>, former: readonly IndexEntry[]): Generator<IndexEntry> {
  const names = new Set<string>();
  for (const entry of entries) {
    names.add(nameIn(withoutSeparators(entry.text)));
    yield entry;
  }
  for (const entry of former) if (!names.has(entry.name)) yield entry;
}

/** Reads one list of an index back. */
function formerEntries(text: string, title: string): readonly IndexEntry[] {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${title}: `)) ?? "";
  const texts = line.slice(title.length + 2).split(SEPARATOR);
  return texts.flatMap((entry) => (entry === "" ? [] : { name: nameIn(entry), text: entry }));
}

/** The name in an entry, as far as it stands there: what stands before what was done with it. */
function nameIn(entry: string): string {
  return entry.replace(/ (?:\([^()]*\)|→ .*)$/, "").replace(/^…|…$/g, "");
}

function withoutSeparators(text: string): string {
  return text.replaceAll(SEPARATOR, INNER);
}

/** Tokens of events less those of what stands in their place. */
function tokensGone(hidden: readonly Event[], shown: readonly Event[]): number {
  const ids = new Set(hidden.map(({ id }) => id));
  const sum = (events: readonly Event[]): number => events.reduce((tokens, event) => tokens + estimateEvent(event), 0);
  return sum(hidden) - sum(shown.filter(({ id }) => ids.has(id)));
}

/** Fills the room list by list; what one leaves of its share, the next may take. */
function writeIndex(lists: readonly IndexList[], isShown: (name: string) => boolean, room: number): HiddenIndex | null {
  const chars = room - HEADING.length;
  const lines = [HEADING];
  let unused = 0;
  let count = 0;
  for (const { title, share, entries } of lists) {
    let left = share * chars + unused - title.length - 3;
    // By name: of a command that ran again and again, how it ended last.
    const taken = new Map<string, string>();
    for (const entry of entries) {
      const [name, text] = [withoutSeparators(entry.name), withoutSeparators(entry.text)];
      const size = proseChars(text) + SEPARATOR.length;
      if (left < size) break;
      if (taken.has(name) || isShown(name)) continue;
      taken.set(name, text);
      left -= size;
    }
    unused = Math.max(0, taken.size === 0 ? left + title.length + 3 : left);
    count += taken.size;
    if (taken.size > 0) lines.push(`${title}: ${[...taken.values()].join(SEPARATOR)}`);
  }
  return count === 0 ? null : { text: lines.join("\n"), entries: count };
}
