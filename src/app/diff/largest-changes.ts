// The changes of a view that weigh most, for who has to approve them without reading the whole diff. One pass over both views;
// only events that are not the same object before and after are looked at.

import { commandsRun, filesNamed } from "../../core/compact/hidden-content.ts";
import { type Event, type Origin, type ToolCallRequest, traitsOf, type View } from "../../core/conversation/event.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import type { LargestChanges, ViewChange } from "../../store/compaction-body.ts";
import { eventText, eventTitle, originLabel } from "./view-text.ts";

/** How many are given. */
const MOST = 10;
const NONE: ReadonlySet<string> = new Set();

/** An event of both views, or of one. */
interface Pair {
  readonly origin: Origin;
  readonly before: Event | null;
  readonly after: Event | null;
  readonly tokens: { readonly before: number; readonly after: number };
}

/** Both views, and what counts their events. */
export interface CountedChange {
  readonly before: View;
  readonly after: View;
  readonly meter: Pick<TokenMeter, "countEvent">;
}

/** Finds the largest changes between two views; `except` = the compactions whose own texts are shown elsewhere. */
export function largestChanges(change: CountedChange, except: ReadonlySet<string> = NONE): LargestChanges {
  const { before, after } = change;
  const pairs = changedPairs(change, except);
  const weight = ({ tokens }: Pair): number => Math.abs(tokens.before - tokens.after);
  const largest = [...pairs].sort((a, b) => weight(b) - weight(a)).slice(0, MOST);
  const calls = callsOf(before, after);
  return { count: pairs.length, largest: largest.map((pair) => describe(pair, calls)) };
}

function changedPairs({ before, after, meter }: CountedChange, except: ReadonlySet<string>): readonly Pair[] {
  const countEvent = (event: Event | null): number => (event === null ? 0 : Math.round(meter.countEvent(event)));
  const now = new Map([...visibleEvents(after)].map(([event]) => [event.id, event]));
  const seen = new Set<string>();
  const pairs: Pair[] = [];
  for (const [event, origin] of visibleEvents(before)) {
    seen.add(event.id);
    const changed = now.get(event.id) ?? null;
    if (changed === event) continue;
    const tokens = { before: countEvent(event), after: countEvent(changed) };
    // Two stubs of one event are not the same object.
    if (tokens.before === tokens.after && changed !== null && eventText(event) === eventText(changed)) continue;
    pairs.push({ origin, before: event, after: changed, tokens });
  }
  for (const [event, origin] of visibleEvents(after)) {
    if (seen.has(event.id) || (origin.kind !== "kept" && except.has(origin.compaction))) continue;
    pairs.push({ origin, before: null, after: event, tokens: { before: 0, after: countEvent(event) } });
  }
  return pairs;
}

function* visibleEvents({ turns }: View): Generator<readonly [Event, Origin]> {
  for (const { origin, events } of turns)
    for (const event of events) if (traitsOf(event).providerVisible) yield [event, origin];
}

/** The calls by their call id; of several with one id, the newest. */
function callsOf(...views: readonly View[]): ReadonlyMap<string, ToolCallRequest> {
  const calls = new Map<string, ToolCallRequest>();
  for (const view of views.toReversed())
    for (const [event] of visibleEvents(view)) if (event.type === "tool_call_request") calls.set(event.call_id, event);
  return calls;
}

function describe({ origin, before, after, tokens }: Pair, calls: ReadonlyMap<string, ToolCallRequest>): ViewChange {
  const event = before ?? after;
  return {
    turn: originLabel(origin),
    title: event === null ? "" : titleOf(event, calls),
    tokens,
    before: before === null ? null : (eventText(before) ?? ""),
    after: after === null ? null : (eventText(after) ?? ""),
  };
}

/** A call or a result is named with the file or the command that it is about. */
function titleOf(event: Event, calls: ReadonlyMap<string, ToolCallRequest>): string {
  const isCall = event.type === "tool_call_request" || event.type === "tool_call_response";
  const call = isCall ? calls.get(event.call_id) : undefined;
  const names = new Map(call === undefined ? [] : [[call.call_id, call.name]]);
  const [subject] = call === undefined ? [] : [...commandsRun(call.arguments), ...filesNamed(call.arguments)];
  return [eventTitle(event, names), ...(subject === undefined ? [] : [subject])].join(" ");
}
