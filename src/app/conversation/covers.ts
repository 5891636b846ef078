// `covers`: the digest that binds a compaction to the turns it was made over, from object ids alone where possible
// (docs/FORMAT.md). A summary whose digest does not match the branch must not be applied: it would describe other turns.
import type { PlacedEvent } from "../../core/compact/event-ledger.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { checkCoverage } from "../../core/conversation/coverage.ts";
import type { Event, Turn } from "../../core/conversation/event.ts";
import { project } from "../../core/conversation/projection.ts";
import { cutTurnFile, cutTurnFileBefore } from "../../core/conversation/turn-file.ts";
import { JpgError } from "../../core/errors.ts";
import type { ConversationStore } from "../../store/store.ts";
import { blobId, sha256 } from "./runtime.ts";
import { type BranchTree, collectBlobs } from "./tree.ts";
import { inlineEvents } from "./turns.ts";

/** Reads a turn file's text; called only for end turns that are cut inside. */
type ReadTurnText = (index: number) => Promise<string>;

interface CoverFacts {
  /** Object id of each turn file of the branch. */
  readonly turnOids: readonly string[];
  readonly readText: ReadTurnText;
}

type Bounds = Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event">;

/** Computes the digest over what `bounds` covers; null when a turn or bound event is not on the branch. */
export async function coversDigest(bounds: Bounds, facts: CoverFacts): Promise<string | null> {
  const first = await endTurnEntry(bounds.from_turn, bounds, facts);
  const last = bounds.to_turn === bounds.from_turn ? first : await endTurnEntry(bounds.to_turn, bounds, facts);
  return first === null || last === null ? null : digest(bounds, facts.turnOids, first, last);
}

/** Whether a compaction fits the branch it is on. */
export interface CoverCheck {
  readonly matches: boolean;
  /** Whether both end turns are wholly covered although a bound event is named. */
  readonly whole: boolean;
}

/**
 * Checks `covers` against the branch. Tries object ids first, so that wholly covered turns are never read; reads an end
 * turn only when the digest says that it is cut inside.
 */
export async function checkCovers(compaction: Compaction, facts: CoverFacts): Promise<CoverCheck> {
  if (compaction.covers === undefined) return { matches: true, whole: false };
  const { from_turn: from, to_turn: to } = compaction;
  if (facts.turnOids[from] === undefined || facts.turnOids[to] === undefined) return { matches: false, whole: false };
  const bound = compaction.from_event !== undefined || compaction.to_event !== undefined;
  if (coversWhole(compaction, facts)) return { matches: true, whole: bound };
  if (!bound) return { matches: false, whole: false };
  return { matches: (await coversDigest(compaction, facts)) === compaction.covers, whole: false };
}

/** Returns whether object ids alone prove that the covered turns are here, end turns as a whole. */
export function coversWhole(compaction: Compaction, { turnOids }: Pick<CoverFacts, "turnOids">): boolean {
  const { from_turn: from, to_turn: to } = compaction;
  return digest(compaction, turnOids, `${from}:${turnOids[from]}`, `${to}:${turnOids[to]}`) === compaction.covers;
}

function digest(bounds: Bounds, oids: readonly string[], first: string, last: string): string | null {
  const { from_turn: from, to_turn: to } = bounds;
  let text = `${first}\n`;
  for (let index = from + 1; index < to; index++) {
    const oid = oids[index];
    if (oid === undefined) return null;
    text += `${index}:${oid}\n`;
  }
  return sha256(to > from ? `${text}${last}\n` : text);
}

async function endTurnEntry(index: number, bounds: Bounds, facts: CoverFacts): Promise<string | null> {
  const oid = facts.turnOids[index];
  if (oid === undefined) return null;
  const cut = cutBounds(index, bounds);
  if (cut === null) return `${index}:${oid}`;
  const id = cutId(await facts.readText(index), cut);
  return id === null ? null : `${index}:${id}`;
}

/** Returns the bounds inside a turn; null when there are none. */
function cutBounds(index: number, bounds: Bounds): CutBounds | null {
  const fromEvent = index === bounds.from_turn ? bounds.from_event : undefined;
  const toEvent = index === bounds.to_turn ? bounds.to_event : undefined;
  return fromEvent === undefined && toEvent === undefined ? null : { fromEvent, toEvent };
}

/**
 * Returns the object id of the turn up to the cut; `<id before>..<id up to>` when the range begins inside; null if an event is
 * missing.
 */
function cutId(text: string, { fromEvent, toEvent }: CutBounds): string | null {
  const end = toEvent === undefined ? text : cutTurnFile(text, toEvent);
  if (end === null) return null;
  if (fromEvent === undefined) return textId(end);
  const before = cutTurnFileBefore(text, fromEvent);
  if (before === null) return null;
  // A range from the turn's first event does not cut it.
  return before === "" ? textId(end) : `${textId(before)}..${textId(end)}`;
}

function textId(text: string): string {
  return blobId(new TextEncoder().encode(text));
}

/** The bound events inside one turn, as a compaction names them. */
interface CutBounds {
  readonly fromEvent: string | undefined;
  readonly toEvent: string | undefined;
}

// The raw events that a compaction covers, bounds inside its end turns included.

/** Lists the covered events in order, each with its turn (0-based); skips turns that were not read. */
export function coveredEvents(
  { from_turn, to_turn, from_event, to_event }: Bounds,
  turns: ReadonlyMap<number, Turn>,
): readonly PlacedEvent[] {
  const covered: PlacedEvent[] = [];
  for (let turn = from_turn; turn <= to_turn; turn++) {
    const events = turns.get(turn)?.events ?? [];
    const first = turn === from_turn && from_event !== undefined ? positionOf(events, from_event, events.length) : 0;
    const last =
      turn === to_turn && to_event !== undefined ? positionOf(events, to_event, events.length - 1) : events.length - 1;
    for (const event of events.slice(first, last + 1)) covered.push({ turn, event });
  }
  return covered;
}

/**
 * Reads the covered events with the payloads that were moved to attachments in the tree of `commit`. Throws `attachment_missing`.
 */
export async function readCovered(
  store: ConversationStore,
  commit: string,
  { compaction, turns }: { readonly compaction: Bounds; readonly turns: ReadonlyMap<number, Turn> },
): Promise<readonly PlacedEvent[]> {
  const covered = coveredEvents(compaction, turns);
  const stored = covered.map(({ event }) => event);
  const events = await inlineEvents(store, commit, stored);
  return covered.map(({ turn, event }, at) => ({ turn, event: events[at] ?? event }));
}

/** As in a projection: a missing first event covers nothing, a missing last one covers the rest. */
function positionOf(events: readonly Event[], id: string, otherwise: number): number {
  const position = events.findIndex((event) => event.id === id);
  return position === -1 ? otherwise : position;
}

export function coverFacts(store: ConversationStore, { turnOids }: Pick<BranchTree, "turnOids">): CoverFacts {
  const decoder = new TextDecoder();
  const texts = new Map<number, Promise<string>>();
  const read = async (index: number): Promise<string> => {
    const [bytes] = await collectBlobs(store, [turnOids[index] ?? ""]);
    return decoder.decode(bytes);
  };
  return {
    turnOids,
    readText: (index) => {
      const text = texts.get(index) ?? read(index);
      texts.set(index, text);
      return text;
    },
  };
}

/**
 * Checks the view under these compactions. Wholly hidden turns need not be loaded. Throws `coverage_broken`: a bug, so nothing may
 * be written.
 */
export function verifyCoverage(facts: {
  readonly turnCount: number;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
}): void {
  const { turnCount, turns, compactions } = facts;
  const ordered = [...turns.values()].sort((a, b) => a.index - b.index);
  const [violation, ...more] = checkCoverage(ordered, compactions, project(facts), { turnCount });
  if (violation === undefined) return;
  throw new JpgError(
    "internal",
    "coverage_broken",
    `The view would break the coverage invariant (${violation.rule}): ${violation.message}; ${more.length} more.`,
    {
      hints: ["Nothing was committed. Please report this with the conversation's event kinds."],
      data: { rule: violation.rule, id: violation.id },
    },
  );
}
