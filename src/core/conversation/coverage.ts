// The coverage invariant: every event that a model could be sent is exactly one of shown, changed by the compaction that wins
// its type, or replaced by the one that hides it. Nothing is lost, doubled, reordered or made up.
import { type Compaction, compareCompactions, isHiding } from "./compaction.ts";
import type { Covered, Expectation } from "./contents/content-type.ts";
import { CONTENT_TYPES } from "./contents/content-types.ts";
import { type Event, type Origin, type ToolCallRequest, type Turn, traitsOf, type View } from "./event.ts";
import { type CallPairs, pairCalls } from "./tool-pairing.ts";

type CoverageRule =
  | "event_missing"
  | "event_repeated"
  | "event_not_hidden"
  | "event_not_as_expected"
  | "event_unknown"
  | "order_broken"
  | "replacement_missing"
  | "replacement_repeated"
  | "replacement_unfounded"
  | "index_wrong";

/** One place where a view breaks the invariant. */
interface CoverageViolation {
  readonly rule: CoverageRule;
  /** Id of the event or compaction it is about. */
  readonly id: string;
  readonly message: string;
}

interface CoverageOptions {
  /** Number of turns of the conversation; absent = the turns passed in are all of them. */
  readonly turnCount?: number;
  /** Ids of events that a named hardening rule dropped from the view. */
  readonly dropped?: ReadonlySet<string>;
}

interface CheckedEvent extends IndexedEvent {
  readonly hider: Compaction | undefined;
  readonly expectation: Expectation;
  /** The content types whose parts of the event are to be stripped as well. */
  readonly parts: readonly Covered[];
}

/**
 * Checks a view against its raw turns, in order, and the compactions that apply; empty = the invariant holds. Turns that are
 * wholly hidden may be left out of `turns`: the check then does not see what the view shows of them. Takes turns × compactions
 * time.
 */
export function checkCoverage(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
  view: View,
  { turnCount = turns.length, dropped = new Set() }: CoverageOptions = {},
): readonly CoverageViolation[] {
  const pairs = pairCalls(turns, () => false);
  const ordered = sortNewestFirst(compactions);
  const events = uniteHalves(listEvents(turns, ordered, pairs));
  const unread = hidersOfUnread(turnCount, turns, ordered);
  const shown = view.turns.flatMap(({ origin, events: list }) => (origin.kind === "kept" ? list : []));
  const visible = shown.filter((event) => traitsOf(event).providerVisible);
  return [
    ...checkEvents(events, visible, dropped),
    ...checkOrder(events, visible),
    ...compactions.flatMap((compaction) => checkReplacement(compaction, { events, unread, turns, view })),
    ...checkIndex(view, { turnCount, ordered, turns }),
  ];
}

/** The provider-visible events in order, each with what the rules say about it. `compactions` = newest first. */
function listEvents(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
  pairs: CallPairs,
): readonly CheckedEvent[] {
  const others = new Map<Event, Event>([...pairs].flatMap(([a, b]) => [[a, b] as const, [b, a] as const]));
  const checked: CheckedEvent[] = [];
  for (const turn of turns) {
    const speakers: readonly CoveringCompaction[] = listCovering(turn, compactions);
    for (const [index, event] of turn.events.entries()) {
      if (!traitsOf(event).providerVisible) continue;
      const placed = { turn, index, event, other: others.get(event) };
      const call = event.type === "tool_call_response" ? pairs.get(event) : undefined;
      checked.push({
        ...placed,
        hider: findHider(placed, speakers),
        expectation: expectEvent(placed, speakers, call),
        parts: partsToStrip(placed, speakers),
      });
    }
  }
  return checked;
}

/** If one half of a call must not be in the view, neither must the other. */
function uniteHalves(events: readonly CheckedEvent[]): readonly CheckedEvent[] {
  const found = new Map(events.map((one) => [one.event, one]));
  return events.map((one) => {
    const other = one.other === undefined ? undefined : found.get(one.other);
    if (other === undefined || one.hider !== undefined) return one;
    // An imported session shows what its agent sent: the agent decided over both halves itself.
    if (other.hider?.source === "import") return one;
    const isGone = other.expectation === "gone" || one.expectation === "gone";
    return { ...one, hider: other.hider, expectation: isGone ? "gone" : one.expectation };
  });
}

/** The compactions that hide turns which were not read, by positions alone. `compactions` = newest first. */
function hidersOfUnread(
  turnCount: number,
  turns: readonly Turn[],
  compactions: readonly Compaction[],
): ReadonlySet<Compaction> {
  const hiders = new Set<Compaction>();
  if (turns.length === turnCount) return hiders;
  const read = new Set(turns.map(({ index }) => index));
  // Between two bounds every turn has the same hider: check one.
  const bounds = new Set(compactions.flatMap(({ from_turn: from, to_turn: to }) => [from, from + 1, to, to + 1]));
  let isChecked = false;
  for (let index = 0; index < turnCount; index += 1) {
    isChecked &&= !bounds.has(index);
    if (isChecked || read.has(index)) continue;
    const turn = { index, events: [] };
    const hider = findHider({ turn, index: 0, event: UNREAD }, listCovering(turn, compactions));
    if (hider !== undefined) hiders.add(hider);
    isChecked = true;
  }
  return hiders;
}

/** Represents any event of a turn that was not read. */
const UNREAD: Event = { type: "chat_request", id: "", timestamp: "", content: "" };

function checkEvents(
  events: readonly CheckedEvent[],
  visible: readonly Event[],
  dropped: ReadonlySet<string>,
): readonly CoverageViolation[] {
  const copies = new Map<string, Event[]>(events.map(({ event }) => [event.id, []]));
  const unknown: CoverageViolation[] = [];
  for (const event of visible) {
    const list = copies.get(event.id);
    if (list !== undefined) list.push(event);
    else unknown.push(violation("event_unknown", event.id, "is shown as kept but is not an event of the conversation"));
  }
  const broken = events.flatMap((one) => checkEvent(one, copies.get(one.event.id) ?? [], dropped.has(one.event.id)));
  return [...unknown, ...broken];
}

function checkEvent(
  { event, hider, expectation, parts }: CheckedEvent,
  copies: readonly Event[],
  mayBeMissing: boolean,
): readonly CoverageViolation[] {
  const { id } = event;
  const [copy] = copies;
  if (hider !== undefined || expectation === "gone") {
    const why = hider === undefined ? "a policy leaves it out" : `compaction ${hider.id} hides it`;
    return copy === undefined ? [] : [violation("event_not_hidden", id, `is shown, although ${why}`)];
  }
  if (copy === undefined) {
    return mayBeMissing ? [] : [violation("event_missing", id, "is not shown, although nothing hides it")];
  }
  if (copies.length > 1) return [violation("event_repeated", id, `is shown ${copies.length} times`)];
  if (looksAsExpected(event, copy, expectation, parts)) return [];
  return [violation("event_not_as_expected", id, `does not look as the winning compaction requires: ${expectation}`)];
}

function checkOrder(events: readonly CheckedEvent[], visible: readonly Event[]): readonly CoverageViolation[] {
  const places = new Map(events.map(({ event }, at) => [event.id, at]));
  const broken = visible.filter((event, at) => {
    const before = visible[at - 1];
    return before !== undefined && (places.get(before.id) ?? -1) > (places.get(event.id) ?? Number.POSITIVE_INFINITY);
  });
  return broken.map(({ id }) => violation("order_broken", id, "is shown after an event that follows it"));
}

interface Checked {
  readonly events: readonly CheckedEvent[];
  /** Compactions that hide turns which were not read. */
  readonly unread: ReadonlySet<Compaction>;
  readonly turns: readonly Turn[];
  readonly view: View;
}

/** A summary or replacement is in the view exactly once if it hides an event, or a turn that was not read, else not at all. */
function checkReplacement(
  compaction: Compaction,
  { events, unread, turns, view }: Checked,
): readonly CoverageViolation[] {
  const { id, summary, replacement } = compaction;
  const inserted = view.turns.filter(({ origin }) => replacesTurns(origin) && origin.compaction === id);
  if (inserted.length > 1) return [violation("replacement_repeated", id, `is in the view ${inserted.length} times`)];
  const hasText = replacement === undefined ? summary !== undefined : replacement.length > 0;
  const isWinner = hasText && (unread.has(compaction) || events.some(({ hider }) => hider === compaction));
  if (isWinner && inserted.length === 0)
    return [violation("replacement_missing", id, "hides events but is not in the view")];
  if (isWinner || inserted.length === 0 || (hasText && coversSilentTurn(compaction, turns))) return [];
  return [violation("replacement_unfounded", id, "is in the view but hides nothing")];
}

function replacesTurns(origin: Origin): origin is Exclude<Origin, { readonly kind: "kept" | "index" }> {
  return origin.kind === "summary" || origin.kind === "replacement";
}

/**
 * The newest index is in the view once, as a turn of its own or at the end of its summary, and no other index is. It is absent
 * where something newer hides its place, unless its summary is shown.
 */
function checkIndex(
  view: View,
  {
    turnCount,
    ordered,
    turns,
  }: { readonly turnCount: number; readonly ordered: readonly Compaction[]; readonly turns: readonly Turn[] },
): readonly CoverageViolation[] {
  const due = ordered.find(
    ({ index, from_turn: from, to_turn: to }) => index !== undefined && from <= to && to < turnCount,
  );
  const inSummaries = ordered.flatMap(({ id, summary, replacement, index }) => {
    if (summary === undefined || replacement !== undefined || index === undefined) return [];
    const own = view.turns.find(({ origin }) => origin.kind === "summary" && origin.compaction === id);
    const end = `${summary.summary}\n\n${index.text}`;
    return own?.events.some((event) => JSON.stringify(event).includes(JSON.stringify(end).slice(1, -1))) ? [id] : [];
  });
  const inserted = view.turns.flatMap(({ origin }) => (origin.kind === "index" ? [origin.compaction] : []));
  const found = [...inSummaries, ...inserted];
  const isGone = due === undefined || (inSummaries.length === 0 && isEndHidden(due, ordered, turns));
  if (found.length === (isGone ? 0 : 1) && (isGone || found[0] === due.id)) return [];
  return [violation("index_wrong", due?.id ?? found[0] ?? "", "is not the one index of the view, in one place")];
}

/** Turns that show a model nothing are hidden without being read, so a summary of one may be shown or not. */
function coversSilentTurn(compaction: Compaction, turns: readonly Turn[]): boolean {
  return turns.some(
    (turn) =>
      listCovering(turn, [compaction]).some(({ from, to }) => turn.events.some((_, at) => from <= at && at <= to)) &&
      !turn.events.some((event) => traitsOf(event).providerVisible),
  );
}

function violation(rule: CoverageRule, id: string, problem: string): CoverageViolation {
  return { rule, id, message: `${id} ${problem}` };
}

/** An event with its place: turn and position in the turn's events, 0-based. */
interface IndexedEvent {
  readonly turn: Turn;
  readonly index: number;
  readonly event: Event;
  /** The result that answers this call, or the call that this result answers. */
  readonly other?: Event | undefined;
}

/** A compaction that covers some of a turn's events, from one position to another, 0-based, inclusive. */
interface CoveringCompaction {
  readonly compaction: Compaction;
  readonly from: number;
  readonly to: number;
}

/** The compactions that cover some of a turn, newest first; those that keep an event by name are included. */
function listCovering(turn: Turn, newestFirst: readonly Compaction[]): readonly CoveringCompaction[] {
  const find = (id: string): number => turn.events.findIndex((event) => event.id === id);
  return newestFirst.flatMap((compaction) => {
    const { from_turn, to_turn, from_event, to_event } = compaction;
    if (turn.index < from_turn || turn.index > to_turn) return [];
    const from = turn.index === from_turn && from_event !== undefined ? find(from_event) : 0;
    const end = turn.index === to_turn && to_event !== undefined ? find(to_event) : -1;
    return from === -1 ? [] : [{ compaction, from, to: end === -1 ? Number.POSITIVE_INFINITY : end }];
  });
}

function sortNewestFirst(compactions: readonly Compaction[]): readonly Compaction[] {
  return [...compactions].sort((a, b) => compareCompactions(b, a));
}

/** The compactions that decide over an event, newest first: a keep ends what older ones say. */
function listDeciding({ index, event }: IndexedEvent, speakers: readonly CoveringCompaction[]): readonly Compaction[] {
  const voices = speakers.filter(({ from, to }) => from <= index && index <= to).map(({ compaction }) => compaction);
  return newerThanKeep(voices, event);
}

/** The compactions newer than the one that keeps an event by name; all when none does. */
function newerThanKeep(voices: readonly Compaction[], event: Event | undefined): readonly Compaction[] {
  const kept = voices.findIndex(({ keep }) => event !== undefined && keep?.includes(event.id));
  return kept === -1 ? voices : voices.slice(0, kept);
}

/** The compaction that hides an event, if any: not one that keeps the other half of the call, nor one older than that. */
function findHider(placed: IndexedEvent, speakers: readonly CoveringCompaction[]): Compaction | undefined {
  return newerThanKeep(listDeciding(placed, speakers), placed.other).find(isHiding);
}

/** Whether a newer compaction hides the place at which a range ends; a turn that was not read is hidden whole. */
function isEndHidden(
  { to_turn, to_event, ...rest }: Compaction,
  newestFirst: readonly Compaction[],
  turns: readonly Turn[],
): boolean {
  const turn = turns.find(({ index }) => index === to_turn) ?? { index: to_turn, events: [] };
  const end = turn.events.findIndex(({ id }) => id === to_event);
  const place = end === -1 ? turn.events.length - 1 : end;
  const newer = newestFirst.slice(
    0,
    newestFirst.findIndex(({ id }) => id === rest.id),
  );
  return listCovering(turn, newer.filter(isHiding)).some(
    ({ from, to }) => turn.events.length === 0 || (from <= place && place <= to),
  );
}

/** What mechanical policies do to an event that is not hidden. `call` = the call that a result answers. */
function expectEvent(
  placed: IndexedEvent,
  speakers: readonly CoveringCompaction[],
  call: ToolCallRequest | undefined,
): Expectation {
  const voices = listDeciding(placed, speakers);
  const mayLeaveOut = newerThanKeep(voices, placed.other);
  for (const compaction of voices) {
    const opinion = opinionOn(placed.event, compaction, call);
    if (opinion === "gone" && !mayLeaveOut.includes(compaction)) return "unchanged";
    if (opinion !== undefined) return opinion;
  }
  return "unchanged";
}

/** What a compaction says of an event as a whole: at most one content type is about it. */
function opinionOn(event: Event, compaction: Compaction, call: ToolCallRequest | undefined): Expectation | undefined {
  return WHOLE.find((covered) => covered.appliesTo(event))?.expects(compaction, event, call);
}

function partsToStrip(placed: IndexedEvent, speakers: readonly CoveringCompaction[]): readonly Covered[] {
  const parts = PARTS.filter((covered) => covered.appliesTo(placed.event));
  if (parts.length === 0) return [];
  const voices = listDeciding(placed, speakers);
  return parts.filter((covered) =>
    voices.some((voice) => covered.expects(voice, placed.event, undefined) === "stripped"),
  );
}

const COVERED = CONTENT_TYPES.flatMap(({ covered }) => covered ?? []);
const PARTS = COVERED.filter(({ setAside }) => setAside !== undefined);
const WHOLE = COVERED.filter(({ setAside }) => setAside === undefined);

/**
 * Whether `copy`, an event in the view, is what an expectation allows `event` to become; `parts` = the content types whose
 * parts of it are stripped when the event as a whole is not.
 */
export function looksAsExpected(
  event: Event,
  copy: Event,
  expectation: Expectation,
  parts: readonly Covered[] = [],
): boolean {
  if (expectation === "gone") return false;
  if (expectation === "stripped") return isStripped(event, copy);
  if (typeof expectation === "object") return isSame({ ...event, content: expectation.stub }, copy);
  if (!parts.every((covered) => covered.isStripped({ event, copy }))) return false;
  const rest = parts.reduce((pair, { setAside }) => setAside?.(pair) ?? pair, { event, copy });
  if (expectation === "unchanged") return isSame(rest.copy, rest.event);
  return isSame(withoutBulk(copy), withoutBulk(event)) && sizeOf(rest.copy) <= sizeOf(rest.event);
}

function isStripped(event: Event, copy: Event): boolean {
  const covered = WHOLE.find((one) => one.appliesTo(event));
  return isSame(withoutBulk(copy), withoutBulk(event)) && covered?.isStripped({ event, copy }) !== false;
}

/** The event without what shortening may change. */
function withoutBulk(event: Event): unknown {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return { ...event, content: null };
    case "tool_call_request":
      return { ...event, arguments: null };
    default:
      return event;
  }
}

function sizeOf(event: Event): number {
  return JSON.stringify(event).length;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
