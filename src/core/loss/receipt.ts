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
import { type CoveredEvent, createReaders, type Ledger, type LedgerEntry, openLedger } from "./ledger.ts";
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

/** Computes the receipt. The same conversation, compaction and pins always give the same receipt. */
export function lossReceipt(input: LossInput): LossReceipt {
  const readers = createReaders(input.before, input.after);
  const ledger = openLedger(listCovered(input), readers);
  const known = compactionsIn(input.before);
  const shown = withoutLists(input.after).turns.filter(
    ({ origin }) => origin.kind !== "summary" || known.has(origin.compaction),
  );
  markShown(ledger, shown, readers.after);
  const holds = indexSummary(input.summary);
  const facts: Partial<Record<FactKind, FactCounts>> = {};
  for (const kind of FACT_KINDS) {
    const entries = kind === "pins" ? pinEntries(input) : [...(ledger.get(kind)?.values() ?? [])];
    if (entries.length > 0) facts[kind] = countFacts(entries, holds);
  }
  return { facts, mentioned_later: listMentioned(ledger) };
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
    const none = { isByName: false, mentionedIn: null, turn: 0 };
    return { kind: "pins", text: event.id, ...none, isGone: !isVisible, isVisible, hasPointer };
  });
}

function countFacts(entries: readonly LedgerEntry[], holds: HoldsFact): FactCounts {
  const counts = {
    total: entries.length,
    visible: 0,
    by_name: 0,
    summary: 0,
    pointer: 0,
    hidden: 0,
    mentioned_later: 0,
  };
  for (const { kind, text, isVisible, isByName, hasPointer, mentionedIn } of entries) {
    if (mentionedIn !== null) counts.mentioned_later += 1;
    if (isVisible || isByName) counts.visible += 1;
    else if (holds(kind, text)) counts.summary += 1;
    else if (hasPointer) counts.pointer += 1;
    else counts.hidden += 1;
    if (isByName && !isVisible) counts.by_name += 1;
  }
  const { by_name, ...rest } = counts;
  return by_name === 0 ? rest : { ...rest, by_name };
}

function listMentioned(ledger: Ledger): readonly MentionedFact[] {
  const listed: MentionedFact[] = [];
  for (const kind of FACT_KINDS) {
    let room = MOST_OF_KIND;
    for (const { text, mentionedIn } of ledger.get(kind)?.values() ?? []) {
      if (mentionedIn === null) continue;
      if (room-- === 0 || listed.length === MOST_MENTIONED) break;
      listed.push({ kind, text: shorten(text), turn: mentionedIn });
    }
  }
  return listed;
}

function shorten(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  // A cut between the halves of a character leaves none of it.
  const start = text.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start.trimEnd()}…`;
}
