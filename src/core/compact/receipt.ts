// Computes the loss receipt of a compaction from the views before and after it. Each view is walked once and facts are looked up, never
// searched for, so the cost grows with the texts, not with the number of facts.
import {
  FACT_KINDS,
  type FactCounts,
  type FactKind,
  type LossReceipt,
  type MentionedFact,
} from "../conversation/compaction.ts";
import type { Event, ProjectedTurn, View } from "../conversation/event.ts";
import { type Facts, factsOf, pathEnds, scanPieces } from "./facts.ts";
import { type HoldsFact, indexSummary } from "./grounding.ts";
import { commandFacts, commandLineOf, textsOf } from "./hidden-content.ts";

interface LossInput {
  /** The raw events that the compaction covers. */
  readonly raw: readonly Event[];
  /** The whole view without the compaction. */
  readonly before: View;
  /** The whole view with it; unchanged events are the same objects in both. */
  readonly after: View;
  /** Text of the compaction's summary. Its injected turn does not count as visible. */
  readonly summary?: string | undefined;
  /** Ids of pinned events; those not covered are ignored. */
  readonly pins?: readonly string[];
}

const MOST_MENTIONED = 20;
const MOST_OF_KIND = 5;
const LONGEST_TEXT = 120;

/** A fact that the covered events showed, and where it is after the compaction. */
export interface TracedFact {
  readonly kind: FactKind;
  readonly text: string;
  /** Turn of the event that showed it first, 0-based. */
  readonly turn: number;
  /** Id of that event as in the view: a synthetic one where an older summary showed it. */
  readonly event: string;
  /** As `FactCounts` counts them; `by_name` are those of its `visible` that only the end of a path shows. */
  readonly fate: "visible" | "by_name" | "summary" | "pointer" | "hidden";
  /** First later turn of the view that mentions it although its source is gone, 0-based; null = none. */
  readonly mentionedIn: number | null;
  /** How many of the covered events showed it; 1 or more. */
  readonly times: number;
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
      const { text, turn, event, mentionedIn, times } = entry;
      return { kind, text, turn, event, fate: fateOf(entry, holds), mentionedIn, times };
    }),
  );
}

function fateOf({ kind, text, isVisible, isByName, hasPointer }: LedgerEntry, holds: HoldsFact): TracedFact["fate"] {
  if (isVisible) return "visible";
  if (isByName) return "by_name";
  if (holds(kind, text)) return "summary";
  return hasPointer ? "pointer" : "hidden";
}

/** The covered events as the view showed them, including what older summaries and replacements injected and is now gone. */
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

/** An index says that something is hidden, so it does not make it visible. */
function withoutLists({ turns }: View): View {
  return { turns: turns.filter(({ origin }) => origin.kind !== "index") };
}

function compactionsIn(view: View): ReadonlySet<string> {
  return new Set(view.turns.flatMap(({ origin }) => (origin.kind === "kept" ? [] : [origin.compaction])));
}

/** A pin is the id of an event; it is visible if the event is in the view unchanged. */
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
    const none = { isByName: false, mentionedIn: null, turn: 0, event: event.id, times: 1 };
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
  // A cut inside a surrogate pair drops both halves.
  const start = text.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start.trimEnd()}…`;
}

// The ledger: every fact that the covered events show before a compaction, each with its source and what the view afterwards shows of it.
// Filled in while each view is walked once.

/** Most facts of one kind from one event: the listing of a whole disk must not outweigh the conversation. */
const MOST_OF_EVENT = 1000;

export interface LedgerEntry {
  readonly kind: FactKind;
  readonly text: string;
  /** Turn of the first covered event that showed it (its source), 0-based. */
  readonly turn: number;
  /** Id of that event, as in the view. */
  readonly event: string;
  /** The source no longer shows it. */
  readonly isGone: boolean;
  /** The stub of a covered event that showed it names that event. */
  hasPointer: boolean;
  isVisible: boolean;
  /** Visible only through the end of its path. */
  isByName: boolean;
  /** First later kept turn that mentions it, 0-based; null = none. */
  mentionedIn: number | null;
  /** Covered events that showed it. */
  times: number;
}

/** Entries by kind and text, in order of appearance. */
type Ledger = ReadonlyMap<FactKind, ReadonlyMap<string, LedgerEntry>>;

/** Returns the facts of an event in one view, including commands. */
type ReadFacts = (event: Event) => Facts;

/** Reads facts in two views; an event that is in both is read once. */
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
  /** Position of its turn, 0-based; for an injected turn the last one that it replaced. */
  readonly turn: number;
  /** What replaces it in the view afterwards; undefined = nothing. */
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
    if (entry !== undefined) {
      entry.hasPointer ||= hasPointer;
      entry.times += 1;
    } else {
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
        times: 1,
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

// Finds the facts of a ledger in the view afterwards. Words are looked up; commands, error lines and requests are compared with the lines,
// sentences and code spans of texts, and only those whose source is gone.

/** Marks in the ledger what the turns of the view show and mention. */
export function markShown(ledger: Ledger, turns: readonly ProjectedTurn[], read: ReadFacts): void {
  const markWords = createWordMarker(ledger, read);
  const markPieces = createPieceMarker(ledger);
  for (const { origin, events } of turns) {
    const turn = origin.kind === "kept" ? origin.turn : null;
    for (const event of events) {
      markWords(event, turn);
      markPieces(event, turn);
    }
  }
}

type Mark = (event: Event, turn: number | null) => void;

function createWordMarker(ledger: Ledger, read: ReadFacts): Mark {
  const markFile = createFileMarker(ledger);
  const markSha = createShaMarker(ledger);
  return (event, turn) => {
    const facts = read(event);
    for (const [kind, texts] of facts) markFacts(ledger.get(kind), texts, turn);
    for (const path of facts.get("files") ?? []) markFile(path, turn);
    for (const sha of facts.get("shas") ?? []) markSha(sha, turn);
  };
}

function markFacts(
  entries: ReadonlyMap<string, LedgerEntry> | undefined,
  facts: Iterable<string>,
  turn: number | null,
): void {
  if (entries === undefined) return;
  for (const text of facts) {
    const entry = entries.get(text);
    if (entry !== undefined) noteSeen(entry, turn);
  }
}

/** A shown path also shows each of its ends; if it is itself an end, it names the one path that ends so. */
function createFileMarker(ledger: Ledger): (path: string, turn: number | null) => void {
  const files = ledger.get("files");
  const findFile = indexPathEnds(ledger);
  return (path, turn) => {
    noteName(findFile(path), turn);
    for (const end of pathEnds(path)) {
      const entry = files?.get(end);
      if (entry !== undefined) noteSeen(entry, turn);
    }
  };
}

function noteName(entry: LedgerEntry | undefined, turn: number | null): void {
  if (entry === undefined) return;
  entry.isByName = true;
  noteMention(entry, turn);
}

/** A longer SHA shows a shorter one; a shorter one only mentions it. */
function createShaMarker(ledger: Ledger): (sha: string, turn: number | null) => void {
  const findShas = indexShas(ledger);
  return (sha, turn) => {
    for (const entry of findShas(sha)) {
      if (sha.startsWith(entry.text)) noteSeen(entry, turn);
      else noteMention(entry, turn);
    }
  };
}

function createPieceMarker(ledger: Ledger): Mark {
  const wanted = new Map<string, LedgerEntry[]>();
  const want = (piece: string, entry: LedgerEntry): void => {
    const entries = wanted.get(piece);
    if (entries === undefined) wanted.set(piece, [entry]);
    else entries.push(entry);
  };
  for (const kind of ["commands", "errors", "requests"] as const) {
    for (const entry of ledger.get(kind)?.values() ?? []) {
      if (entry.isGone) want(kind === "commands" ? commandLineOf(entry.text) : entry.text, entry);
    }
  }
  const lengths = new Set([...wanted.keys()].map((piece) => piece.length));
  return (event, turn) => {
    if (wanted.size === 0) return;
    for (const text of textsOf(event)) {
      scanPieces(text, (start, end) => {
        if (!lengths.has(end - start)) return;
        for (const entry of wanted.get(text.slice(start, end)) ?? []) notePiece(entry, turn);
      });
    }
  };
}

/** A quoted command is only mentioned: its outcome is not visible. */
function notePiece(entry: LedgerEntry, turn: number | null): void {
  if (entry.kind === "commands") noteMention(entry, turn);
  else noteSeen(entry, turn);
}

/** Fewest digits that identify a SHA. */
const FEWEST_DIGITS = 7;
/** Most SHAs with the same first digits that are told apart. */
const MOST_ALIKE = 8;

/** Returns the one file whose path ends in a name at a segment; undefined when none does, or more than one. */
type FindFile = (name: string) => LedgerEntry | undefined;

function indexPathEnds(ledger: Ledger): FindFile {
  const ends = new Map<string, LedgerEntry | null>();
  for (const entry of ledger.get("files")?.values() ?? []) {
    for (const end of pathEnds(entry.text)) ends.set(end, ends.has(end) ? null : entry);
  }
  return (name) => ends.get(name) ?? undefined;
}

/** Returns the SHAs of the ledger that begin with this one, or that this one begins with. */
type FindShas = (sha: string) => readonly LedgerEntry[];

function indexShas(ledger: Ledger): FindShas {
  const alike = new Map<string, LedgerEntry[]>();
  for (const entry of ledger.get("shas")?.values() ?? []) {
    const first = entry.text.slice(0, FEWEST_DIGITS);
    const entries = alike.get(first);
    if (entries === undefined) alike.set(first, [entry]);
    else if (entries.length < MOST_ALIKE) entries.push(entry);
  }
  return (sha) =>
    (alike.get(sha.slice(0, FEWEST_DIGITS)) ?? []).filter(({ text }) => text.startsWith(sha) || sha.startsWith(text));
}
