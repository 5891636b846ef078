// The ledger: every fact that the covered events show before a compaction, each with its source and with what is found of
// it in the view afterwards. Entries are filled in while the views are walked, once each.
import type { FactKind } from "../compaction/loss-receipt.ts";
import type { Event } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import { commandFacts } from "./command-facts.ts";
import { textsOf } from "./event-texts.ts";
import { type Facts, factsOf } from "./facts.ts";

/** Most facts of one kind that one event contributes: the listing of a whole disk must not outweigh the conversation. */
const MOST_OF_EVENT = 1000;

/** One fact and where it is afterwards. */
export interface LedgerEntry {
  readonly kind: FactKind;
  readonly text: string;
  /** Turn of the first covered event that showed it (its source), 0-based. */
  readonly turn: number;
  /** Id of that event, as the view had it. */
  readonly event: string;
  /** The source shows it no more. */
  readonly isGone: boolean;
  /** A stub of a covered event that showed it names that event. */
  hasPointer: boolean;
  isVisible: boolean;
  /** Visible through the end of its path only. */
  isByName: boolean;
  /** First later kept turn that mentions it, 0-based; null = none does. */
  mentionedIn: number | null;
}

/** Entries by kind and text, in order of appearance. */
export type Ledger = ReadonlyMap<FactKind, ReadonlyMap<string, LedgerEntry>>;

/** Gives the facts of an event in one view, commands with it. */
export type ReadFacts = (event: Event) => Facts;

/** Reads facts in two views; an event that stands in both is looked into once. */
export function createReaders(before: View, after: View): { readonly before: ReadFacts; readonly after: ReadFacts } {
  const known = new Map<Event, Facts>();
  const readerOf = (view: View): ReadFacts => {
    const commands = commandFacts(view);
    return (event) => {
      const facts = known.get(event) ?? factsOf(event);
      known.set(event, facts);
      const ran = commands.get(event);
      return ran === undefined ? facts : new Map<FactKind, ReadonlySet<string>>([...facts, ["commands", new Set(ran)]]);
    };
  };
  return { before: readerOf(before), after: readerOf(after) };
}

/** A covered event as the view showed it before. */
export interface CoveredEvent {
  readonly event: Event;
  /** Position of its turn, 0-based; of an injected turn the last one that it stood for. */
  readonly turn: number;
  /** What stands in the view for it afterwards; undefined = nothing. */
  readonly now: Event | undefined;
}

/** Opens the ledger over the covered events, in order. Nothing counts as visible yet. */
export function openLedger(
  covered: Iterable<CoveredEvent>,
  readers: { readonly before: ReadFacts; readonly after: ReadFacts },
): Ledger {
  const ledger = new Map<FactKind, Map<string, LedgerEntry>>();
  for (const { event, turn, now } of covered) {
    const isSame = now === event;
    const source = {
      turn,
      event: event.id,
      hasPointer: now !== undefined && !isSame && namesItself(now),
      left: isSame ? null : now === undefined ? NOTHING : readers.after(now),
    };
    for (const [kind, facts] of readers.before(event)) {
      const entries = ledger.get(kind) ?? new Map<string, LedgerEntry>();
      ledger.set(kind, entries);
      enterFacts(entries, { kind, facts, source });
    }
  }
  return ledger;
}

const NOTHING: Facts = new Map();

interface Showing {
  readonly kind: FactKind;
  readonly facts: Iterable<string>;
  /** The event that shows them; `left` = what it shows afterwards, null = the same. */
  readonly source: {
    readonly turn: number;
    readonly event: string;
    readonly hasPointer: boolean;
    readonly left: Facts | null;
  };
}

/** The first event that shows a fact is its source; any event that shows it may be fetched. */
function enterFacts(entries: Map<string, LedgerEntry>, { kind, facts, source }: Showing): void {
  const { turn, event, hasPointer, left } = source;
  const still = left?.get(kind);
  let room = MOST_OF_EVENT;
  for (const text of facts) {
    if (room === 0) return;
    room -= 1;
    const entry = entries.get(text);
    if (entry !== undefined) entry.hasPointer ||= hasPointer;
    else {
      const isGone = left !== null && still?.has(text) !== true;
      entries.set(text, {
        kind,
        text,
        turn,
        event,
        isGone,
        hasPointer,
        isVisible: false,
        isByName: false,
        mentionedIn: null,
      });
    }
  }
}

/** Notes that a turn of the view shows a fact; `turn` null = an injected turn, which mentions nothing. */
export function noteSeen(entry: LedgerEntry, turn: number | null): void {
  entry.isVisible = true;
  noteMention(entry, turn);
}

/** Notes that a turn of the view mentions a fact, in full or not; turns come in order. */
export function noteMention(entry: LedgerEntry, turn: number | null): void {
  if (entry.isGone && turn !== null && turn > entry.turn) entry.mentionedIn ??= turn;
}

function namesItself(stub: Event): boolean {
  return stub.id !== "" && textsOf(stub).some((text) => text.includes(stub.id));
}
