// Computes the loss receipt of a compaction from the view before it and the view after it. Each view is walked once and
// facts are looked up, never searched for, so that the cost grows with the texts and not with the facts.
import {
  FACT_KINDS,
  type FactCounts,
  type FactKind,
  type LossReceipt,
  type MentionedFact,
} from "../compaction/loss-receipt.ts";
import type { Event } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import { type CoveredEvent, createReaders, type LedgerEntry, openLedger } from "./ledger.ts";
import { markShown } from "./mentions.ts";
import { type HoldsFact, indexSummary } from "./summary-index.ts";

/** What a receipt is computed from. */
export interface LossInput {
  /** The raw events that the compaction covers. */
  readonly raw: readonly Event[];
  /** The whole view without the compaction. */
  readonly before: View;
  /** The whole view with it; events that stay are the same objects in both. */
  readonly after: View;
  /** Text of the compaction's summary. Its injected turn does not count as visible. */
  readonly summary?: string | undefined;
  /** Ids of pinned events; those not covered are left out. */
  readonly pins?: readonly string[];
}

const MOST_MENTIONED = 20;
const MOST_OF_KIND = 5;
const LONGEST_TEXT = 120;

/** One fact that the covered events showed, and where it is after the compaction. */
export interface TracedFact {
  readonly kind: FactKind;
  readonly text: string;
  /** Turn of the event that showed it first, 0-based. */
  readonly turn: number;
  /** Id of that event, as the view had it: a synthetic one where an older summary showed it. */
  readonly event: string;
  /** As `FactCounts` counts them; `by_name` are those of its `visible` that only the end of a path shows. */
  readonly fate: "visible" | "by_name" | "summary" | "pointer" | "hidden";
  /** First later turn of the view that mentions it although its source is gone, 0-based; null = none does. */
  readonly mentionedIn: number | null;
}

/** Computes the receipt. The same conversation, compaction and pins always give the same receipt. */
export function lossReceipt(input: LossInput): LossReceipt {
  const traced = traceFacts(input);
  const facts: Partial<Record<FactKind, FactCounts>> = {};
  for (const kind of FACT_KINDS) {
    const own = traced.filter((fact) => fact.kind === kind);
    if (own.length > 0) facts[kind] = countFacts(own);
  }
  return { facts, mentioned_later: listMentioned(traced) };
}

/** Lists the facts that a receipt counts, by kind and then in order of appearance. */
export function traceFacts(input: LossInput): readonly TracedFact[] {
  const readers = createReaders(input.before, input.after);
  const ledger = openLedger(listCovered(input), readers);
  const known = compactionsIn(input.before);
  const shown = withoutLists(input.after).turns.filter(
    ({ origin }) => origin.kind !== "summary" || known.has(origin.compaction),
  );
  markShown(ledger, shown, readers.after);
  const holds = indexSummary(input.summary);
  return FACT_KINDS.flatMap((kind) =>
    (kind === "pins" ? pinEntries(input) : [...(ledger.get(kind)?.values() ?? [])]).map((entry) => {
      const { text, turn, event, mentionedIn } = entry;
      return { kind, text, turn, event, fate: fateOf(entry, holds), mentionedIn };
    }),
  );
}

function fateOf({ kind, text, isVisible, isByName, hasPointer }: LedgerEntry, holds: HoldsFact): TracedFact["fate"] {
  if (isVisible) return "visible";
  if (isByName) return "by_name";
  if (holds(kind, text)) return "summary";
  return hasPointer ? "pointer" : "hidden";
}

/** The covered events as the view showed them, with what older summaries and replacements put there that is now gone. */
function listCovered({ raw, ...views }: LossInput): readonly CoveredEvent[] {
  const [before, after] = [withoutLists(views.before), withoutLists(views.after)];
  const covered = new Set(raw.map(({ id }) => id));
  const injected = compactionsIn(after);
  const now = new Map<string, Event>();
  for (const { events } of after.turns) for (const event of events) now.set(event.id, event);
  return before.turns.flatMap(({ origin, events }) => {
    const isKept = origin.kind === "kept";
    if (!isKept && injected.has(origin.compaction)) return [];
    const turn = isKept ? origin.turn : origin.to;
    return events
      .filter((event) => !isKept || covered.has(event.id))
      .map((event) => ({ event, turn, now: now.get(event.id) }));
  });
}

/** An index says that something is hidden, and is no place where it is visible. */
function withoutLists({ turns }: View): View {
  return { turns: turns.filter(({ origin }) => origin.kind !== "index") };
}

function compactionsIn(view: View): ReadonlySet<string> {
  return new Set(view.turns.flatMap(({ origin }) => (origin.kind === "kept" ? [] : [origin.compaction])));
}

/** A pin is the id of an event; it is visible while the event stands in the view unchanged. */
function pinEntries({ raw, after, pins = [] }: LossInput): readonly LedgerEntry[] {
  const wanted = new Set(pins);
  const pinned = raw.filter(({ id }) => wanted.has(id));
  const shown = new Map<string, Event>();
  for (const { events } of after.turns)
    for (const event of events) if (wanted.has(event.id)) shown.set(event.id, event);
  return pinned.map((event) => {
    const now = shown.get(event.id);
    const isVisible = now === event || (now !== undefined && JSON.stringify(now) === JSON.stringify(event));
    const hasPointer = now !== undefined && !isVisible && JSON.stringify({ ...now, id: "" }).includes(event.id);
    const none = { isByName: false, mentionedIn: null, turn: 0, event: event.id };
    return { kind: "pins", text: event.id, ...none, isGone: !isVisible, isVisible, hasPointer };
  });
}

function countFacts(traced: readonly TracedFact[]): FactCounts {
  const counts = { visible: 0, by_name: 0, summary: 0, pointer: 0, hidden: 0 };
  for (const { fate } of traced) counts[fate] += 1;
  const { visible, by_name, ...gone } = counts;
  const known = {
    total: traced.length,
    visible: visible + by_name,
    ...gone,
    mentioned_later: traced.filter(({ mentionedIn }) => mentionedIn !== null).length,
  };
  return by_name === 0 ? known : { ...known, by_name };
}

function listMentioned(traced: readonly TracedFact[]): readonly MentionedFact[] {
  const listed: MentionedFact[] = [];
  const room = new Map<FactKind, number>();
  for (const { kind, text, mentionedIn } of traced) {
    const left = room.get(kind) ?? MOST_OF_KIND;
    if (mentionedIn === null || left === 0) continue;
    if (listed.length === MOST_MENTIONED) break;
    room.set(kind, left - 1);
    listed.push({ kind, text: shorten(text), turn: mentionedIn });
  }
  return listed;
}

function shorten(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  // A cut between the halves of a character leaves none of it.
  const start = text.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start.trimEnd()}…`;
}
