// The timeline of a planned compaction: how each range of turns would be read afterwards, and which live summaries hide what is planned.
import { type Compaction, type ContentPolicies, compareCompactions, isHiding } from "../conversation/compaction.ts";
import type { ContentType } from "../conversation/contents/content-type.ts";
import { mainContentOf, mapPolicies } from "../conversation/contents/content-types.ts";
import { type CoveredRange, type Overlay, planRanges } from "../conversation/covered-range.ts";
import { type Event, type Turn, traitsOf, type View } from "../conversation/event.ts";
import { describePolicies } from "../conversation/policy.ts";
import { type EventRange, isInRange } from "../conversation/range-location.ts";
import { coversEvent, keepsEvent, localizeOverlays } from "../conversation/survey.ts";
import type { StepReport } from "./strategies/encode-decisions.ts";

/** Turns that are read the same way. Positions 0-based, inclusive; two neighbours share a turn that is cut between them. */
export interface PlanSegment {
  readonly from: number;
  readonly to: number;
  /** Position of its first event in the turn `from`, 0-based; absent = it begins with the turn. */
  readonly fromIndex?: number;
  readonly kind: "kept" | "compacted" | "summary";
  /** What is done there, in words; absent when kept. */
  readonly policies?: string;
  /** Id of the compaction in force; absent for kept ranges and for the planned one, unless several are planned. */
  readonly compaction?: string;
  /** Set on what the plan would do. */
  readonly planned?: true;
}

export interface TimelineFacts {
  readonly turnCount: number;
  /** Turns that were read; a cut turn that was not read counts as covered whole. */
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
}

/** Draws the timeline as if the drafts were applied, in order and without gaps. */
export function planTimeline(
  drafts: readonly Compaction[],
  { turnCount, turns, compactions }: TimelineFacts,
): readonly PlanSegment[] {
  const segments: PlanSegment[] = [];
  const planned = new Set(drafts);
  for (const range of planRanges(turnCount, [...compactions, ...drafts])) {
    const turn = range.isCut ? turns.get(range.from) : undefined;
    const parts = turn === undefined ? [{ overlay: decide(range.overlays), start: 0 }] : partsOf(range, turn);
    for (const { overlay, start } of parts) addSegment(segments, describe(overlay, planned), { ...range, start });
  }
  return segments;
}

/**
 * Lists the live summaries (or replacements, omissions) that together hide every event of a mechanical plan, oldest first; empty when some
 * event of it is shown.
 */
export function listHiding(range: EventRange, { turnCount, turns, compactions }: TimelineFacts): readonly string[] {
  const hiding = compactions.filter((compaction) => isHiding(compaction)).sort(compareCompactions);
  const found = new Set<string>();
  for (const covered of planRanges(turnCount, hiding)) {
    if (covered.to < range.from || covered.from > range.to) continue;
    if (covered.hiddenBy !== null) {
      found.add(covered.hiddenBy.compaction.id);
      continue;
    }
    const hiders = hidersOf(covered, range, turns);
    if (hiders === null) return [];
    for (const id of hiders) found.add(id);
  }
  return hiding.map(({ id }) => id).filter((id) => found.has(id));
}

/** Ids of the overlays that hide the visible events of a range's turns; null when one of these events is shown. */
function hidersOf(
  covered: CoveredRange,
  range: EventRange,
  turns: ReadonlyMap<number, Turn>,
): readonly string[] | null {
  const ids: string[] = [];
  for (let position = Math.max(covered.from, range.from); position <= Math.min(covered.to, range.to); position++) {
    const turn = turns.get(position);
    const locals = turn === undefined ? [] : localizeOverlays(covered, turn);
    for (const [index, event] of turn?.events.entries() ?? []) {
      if (!traitsOf(event).providerVisible || !isInRange(range, position, index)) continue;
      const winner = locals.find((local) => coversEvent(local, index));
      if (winner === undefined || keepsEvent(winner.overlay, event)) return null;
      ids.push(winner.overlay.compaction.id);
    }
  }
  return ids;
}

/** A run of a turn's events that are read alike: its overlay, null = none, and the position of its first event. */
interface TurnRun {
  readonly overlay: Overlay | null;
  readonly start: number;
}

/** The runs of one cut turn's events, in order and never empty; the first begins with the turn. */
function partsOf(range: CoveredRange, turn: Turn): readonly TurnRun[] {
  const locals = localizeOverlays(range, turn);
  const parts: TurnRun[] = [];
  for (const [index, event] of turn.events.entries()) {
    if (!traitsOf(event).providerVisible) continue;
    const overlay = decide(locals.filter((local) => coversEvent(local, index)).map((local) => local.overlay));
    const last = parts.at(-1);
    if (last === undefined) parts.push({ overlay, start: 0 });
    else if (last.overlay !== overlay) parts.push({ overlay, start: index });
  }
  return parts.length === 0 ? [{ overlay: decide(range.overlays), start: 0 }] : parts;
}

/** The overlay that counts for an event, of those that cover it, newest first: one that hides it, else the newest. */
function decide(overlays: readonly Overlay[]): Overlay | null {
  return overlays.find(({ hides }) => hides) ?? overlays[0] ?? null;
}

function describe(overlay: Overlay | null, drafts: ReadonlySet<Compaction>): Omit<PlanSegment, "from" | "to"> {
  if (overlay === null) return { kind: "kept" };
  const { compaction, hides } = overlay;
  const isSummary = hides && compaction.turns === undefined;
  return {
    kind: isSummary ? "summary" : "compacted",
    policies: describePolicies(compaction),
    ...(drafts.has(compaction) ? { planned: true } : {}),
    ...(drafts.has(compaction) && drafts.size === 1 ? {} : { compaction: compaction.id }),
  };
}

function addSegment(
  segments: PlanSegment[],
  next: Omit<PlanSegment, "from" | "to">,
  { from, to, start }: CoveredRange & Pick<TurnRun, "start">,
): void {
  const last = segments.at(-1);
  const continues =
    last !== undefined &&
    last.kind === next.kind &&
    last.policies === next.policies &&
    last.compaction === next.compaction &&
    last.planned === next.planned;
  if (continues) segments[segments.length - 1] = { ...last, to };
  else segments.push({ from, to, ...(start === 0 ? {} : { fromIndex: start }), ...next });
}

// What each policy of a profile takes out of the view. Each event's loss is counted under one policy: that of its stripped parts, such as
// images, if it has any, unless only a stub of the event is left. A summary or an omission leaves nothing to other policies.

/** The views without and with a compaction, and a counter of tokens, not rounded. */
interface StepFacts {
  readonly before: View;
  readonly after: View;
  readonly countEvent: (event: Event) => number;
}

/** Reports what each policy of a profile's compaction takes out, by policy key; the steps add up to the compaction's total. */
export function policySteps(
  compaction: Pick<Compaction, "summary" | "turns" | keyof ContentPolicies>,
  { before, after, countEvent }: StepFacts,
): readonly StepReport[] {
  const whole = compaction.summary !== undefined ? "summary" : compaction.turns === undefined ? null : "turns";
  const { summary: _, turns: __, tools: ___, ...policies } = compaction;
  const keys = whole === null ? mapPolicies(policies, ({ content }): string => content) : [whole];
  const taken = new Map<string, { events: number; tokens: number }>();
  const [was, is] = [eventsOf(before), eventsOf(after)];
  const keyOf = createKeys(policies, [was, is]);
  const take = ({ event, isSent }: ShownEvent, sign: 1 | -1): void => {
    const key = whole ?? keyOf(event) ?? keys.at(-1) ?? "";
    const { events, tokens } = taken.get(key) ?? { events: 0, tokens: 0 };
    taken.set(key, { events: events + (isSent ? sign : 0), tokens: tokens + sign * countEvent(event) });
  };
  // Events that a projection does not change stay the same objects.
  for (const [event, shown] of was) if (!is.has(event)) take(shown, 1);
  for (const [event, shown] of is) if (!was.has(event)) take(shown, -1);
  return keys.map((strategy) => {
    const { events, tokens } = taken.get(strategy) ?? { events: 0, tokens: 0 };
    return { strategy, events_removed: events, estimated_tokens_saved: Math.round(tokens) };
  });
}

interface ShownEvent {
  readonly event: Event;
  /** Whether it is one of the conversation's own events, not injected, and sent to a model. */
  readonly isSent: boolean;
}

function eventsOf({ turns }: View): ReadonlyMap<Event, ShownEvent> {
  const events = new Map<Event, ShownEvent>();
  for (const { origin, events: shown } of turns)
    for (const event of shown)
      events.set(event, { event, isSent: origin.kind === "kept" && traitsOf(event).providerVisible });
  return events;
}

/** Returns a function that names the policy under which an event's loss is counted; the same for the event before and after. */
function createKeys(
  policies: ContentPolicies,
  [was, is]: readonly [ReadonlyMap<Event, ShownEvent>, ReadonlyMap<Event, ShownEvent>],
): (event: Event) => string | undefined {
  const parts = mapPolicies(policies, (type) => type).filter(({ isPart }) => isPart === true);
  const byId = (events: ReadonlyMap<Event, ShownEvent>): ReadonlyMap<string, Event> =>
    parts.length === 0 ? new Map() : new Map([...events.keys()].map((event) => [event.id, event]));
  const [raw, shown] = [byId(was), byId(is)];
  const hasPart = (event: Event | undefined, { projected }: ContentType): boolean =>
    event !== undefined && projected !== undefined && projected.contentOf(event) !== null;
  return (event) => {
    const now = shown.get(event.id);
    const isList = now !== undefined && "content" in now && Array.isArray(now.content);
    const part = parts.find((type) => isList && hasPart(raw.get(event.id), type) && !hasPart(now, type));
    return part?.content ?? mainContentOf(event)?.content;
  };
}
