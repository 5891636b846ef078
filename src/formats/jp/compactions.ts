// The compactions of a stream: its overlays, each made during the turn that contains it.
import type { Compaction, UniformToolCallPolicy } from "../../core/conversation/compaction.ts";
import { mapPolicies } from "../../core/conversation/contents/content-types.ts";
import { parseToolCallPolicy } from "../../core/conversation/contents/tool-calls.ts";
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import { deriveName, type SkippedLine } from "../imported-session.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../session-source.ts";
import type { StreamTurn } from "./events.ts";
import { formatStoredTime, isTalk, isUsableId, type Stream, type StreamEntry } from "./stream.ts";

/** Key in jpg's own entry: the overlays that jpg wrote, with their compactions. */
export const OVERLAYS_KEY = "overlays";

/** Metadata key: the event after which a compaction's overlay is placed on export. */
export const AFTER_KEY = "after";

interface ReadOverlays {
  readonly compactions: readonly Compaction[];
  /** The turn that contains each, by id. */
  readonly turns: ReadonlyMap<string, number>;
  /** Those that jpg wrote, by id. */
  readonly exported: ReadonlySet<string>;
  /** Overlays without effect, and why. */
  readonly ineffective: readonly SkippedLine[];
}

interface Reading {
  readonly origin: Stream["origin"];
  readonly turns: readonly StreamTurn[];
}

/** Reads the overlays, in the order of the stream. */
export function readOverlays(reading: Reading): ReadOverlays {
  const compactions: Compaction[] = [];
  const turns = new Map<string, number>();
  const exported = new Set<string>();
  const ineffective: SkippedLine[] = [];
  const written = writtenIds(reading.origin);
  const placed = reading.turns.flatMap(({ overlays }, atTurn) => overlays.map((one) => ({ ...one, atTurn })));
  for (const { entry, after, atTurn } of placed) {
    const overlay = readOverlay(entry, reading.turns.length);
    if (typeof overlay === "string") {
      ineffective.push({ line: entry.line, reason: overlay });
      continue;
    }
    const own = written.get(nameOfOverlay(overlay))?.shift();
    const isMoved = reading.origin !== null && own === undefined;
    const compaction = toCompaction(overlay, {
      id: own ?? entry.id,
      bounds: boundsOf(overlay, { isMoved, atTurn, ...reading }),
      after: isMoved ? undefined : after,
    });
    compactions.push(compaction);
    turns.set(compaction.id, atTurn);
    if (own !== undefined) exported.add(own);
  }
  return { compactions, turns, exported, ineffective };
}

/** Ids of compactions that jpg wrote as overlays, in order, by overlay name. */
function writtenIds(origin: Stream["origin"]): ReadonlyMap<string, string[]> {
  const listed = origin?.[OVERLAYS_KEY];
  const known = new Set<string>();
  const ids = new Map<string, string[]>();
  for (const pair of Array.isArray(listed) ? listed : []) {
    const [name, id] = Array.isArray(pair) ? pair : [];
    if (typeof name !== "string" || typeof id !== "string" || !isUsableId(id) || known.has(id)) continue;
    known.add(id);
    const same = ids.get(name);
    if (same === undefined) ids.set(name, [id]);
    else same.push(id);
  }
  return ids;
}

type Bounds = Pick<Compaction, "from_event" | "to_event">;

function toCompaction(
  { timestamp, from, to, summary, ...policies }: JpOverlay,
  { id, bounds, after }: { readonly id: string; readonly bounds: Bounds; readonly after: string | undefined },
): Compaction {
  return {
    type: "compaction",
    id,
    timestamp,
    from_turn: from,
    to_turn: to,
    ...bounds,
    summary: summary === undefined ? undefined : { summary, source: "imported" },
    ...policies,
    source: "import",
    metadata: after === undefined ? undefined : { [AFTER_KEY]: after },
  };
}

/**
 * jp's ranges are whole turns. A range up to the newest turn ends with that turn's last event, so that what is added later stays
 * visible. In a stream that jpg wrote, turns may have other positions than in the conversation: then bounds are events
 * (`isMoved`).
 */
function boundsOf(
  { from, to }: JpOverlay,
  { isMoved, atTurn, turns }: Reading & { readonly isMoved: boolean; readonly atTurn: number },
): Bounds {
  if (!isMoved) {
    const said = to < atTurn ? undefined : turns[to]?.entries.findLast(({ kind }) => isTalk(kind));
    return said === undefined ? {} : { to_event: said.id };
  }
  const sent = turns.slice(from, to + 1).flatMap(({ entries }) => entries.filter(isSent));
  const [first, last] = [sent[0], sent.at(-1)];
  return first === undefined || last === undefined ? {} : { from_event: first.id, to_event: last.id };
}

function isSent({ kind }: StreamEntry): boolean {
  return traitsOf({ type: kind } as Event).providerVisible;
}

// jp's overlays as compactions, and back. Both hide without deleting; jp only has whole turns, a summary, stripped reasoning, and
// calls that are stripped or omitted.

/** The policies, the same in both forms. */
export type OverlayPolicies = Pick<Compaction, "reasoning" | "tool_calls"> & { readonly summary?: string };

/** A compaction in jp's terms. */
export interface JpOverlay extends OverlayPolicies {
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** Turns, 0-based, inclusive. */
  readonly from: number;
  readonly to: number;
}

/** Reads an overlay of a stream with `turnCount` turns. A string says why it has no effect. */
function readOverlay({ raw, timestamp }: StreamEntry, turnCount: number): JpOverlay | string {
  const [from, to] = [Number(raw["from_turn"]), Number(raw["to_turn"])];
  if (from > to) return `a compaction of turns ${from}..${to}, which ends before it begins`;
  if (from >= turnCount) return `a compaction from turn ${from} on, of which there is none yet`;
  const policies = readPolicies(raw);
  if (Object.values(policies).every((policy) => policy === undefined))
    return "a compaction that says nothing that jpg knows";
  // A summary must not cover missing turns; jp also ends it with the last.
  return { timestamp, from, to: policies.summary === undefined ? to : Math.min(to, turnCount - 1), ...policies };
}

function readPolicies(raw: RawLine): OverlayPolicies {
  const { summary: policy, reasoning, tool_calls: calls } = raw;
  const summary = isRecord(policy) ? stringOf(policy, "summary") : undefined;
  const tools = calls === undefined || calls === null ? null : callPolicyOf(calls);
  return {
    summary,
    ...(reasoning === "strip" && { reasoning }),
    ...(tools !== null && { tool_calls: tools }),
  };
}

/** Content types that jp has too. */
const JP_CONTENTS: ReadonlySet<string> = new Set(["reasoning", "tool_calls"]);

/** Converts a compaction to jp's terms, its range taken as whole turns; null when jp cannot express it. */
export function toOverlay(compaction: Compaction): JpOverlay | null {
  const { timestamp, from_turn: from, to_turn: to, reasoning, tool_calls: calls, summary } = compaction;
  const { keep, replacement, turns, tool_overrides: hints, stubs } = compaction;
  if ([keep, replacement, turns, hints, stubs].some((other) => other !== undefined)) return null;
  if (mapPolicies(compaction, ({ content }) => content).some((content) => !JP_CONTENTS.has(content))) return null;
  if (calls !== undefined && calls.policy !== "strip" && calls.policy !== "omit") return null;
  if (summary !== undefined && (summary.inject ?? "pair") !== "pair") return null;
  return {
    timestamp,
    from,
    to,
    summary: summary?.summary,
    reasoning,
    tool_calls: calls,
  };
}

/** Formats an overlay as jp stores it. */
export function formatOverlay({ timestamp, from, to, summary, reasoning, tool_calls: calls }: JpOverlay): RawLine {
  return {
    type: "compaction",
    timestamp: formatStoredTime(timestamp),
    from_turn: from,
    to_turn: to,
    summary: summary === undefined ? undefined : { summary },
    reasoning,
    tool_calls: calls,
  };
}

/** Names an overlay by its content, to recognise it in a stream that jp saved. */
export function nameOfOverlay(overlay: JpOverlay): string {
  return deriveName(JSON.stringify(formatOverlay(overlay)));
}

// jp's settings as jpg's: default profile, profiles and tool hints. jp's other settings, and what spends or sends, are not imported
// as settings; they stay in the events.

/** Picks the settings that jpg has, nested as in jpg; null when there are none. */
export function settingsOfDelta(delta: RawLine): RawLine | null {
  const conversation = recordOf(delta, "conversation") ?? {};
  const compaction = compactionOf(recordOf(conversation, "compaction") ?? {});
  const tools = entriesOf(recordOf(conversation, "tools") ?? {}, hintsOf);
  const own = { ...(compaction !== null && { compaction }), ...(tools !== null && { tools }) };
  return Object.keys(own).length === 0 ? null : { conversation: own };
}

function compactionOf({ default_profile: profile, keep_last: kept, ...more }: RawLine): RawLine | null {
  const profiles = entriesOf(recordOf(more, "profiles") ?? {}, profileOf);
  return nullIfEmpty({
    ...(typeof profile === "string" && profile !== "" && { default_profile: profile }),
    ...(Number.isSafeInteger(kept) && Number(kept) >= 0 && { keep_last: kept }),
    ...(profiles !== null && { profiles }),
  });
}

function profileOf({ reasoning, tool_calls: calls, keep_last: kept }: RawLine): RawLine | null {
  const policy = calls === undefined ? null : callPolicyOf(calls);
  const last = Number.isSafeInteger(kept) && Number(kept) >= 0 ? { keep_last: kept } : {};
  return nullIfEmpty({
    ...last,
    ...(reasoning === "strip" && { reasoning }),
    ...(policy !== null && { tool_calls: policy }),
  });
}

/** Reads a policy of calls that jp has; null for others. */
function callPolicyOf(value: unknown): UniformToolCallPolicy | null {
  try {
    const policy = parseToolCallPolicy(value, "tool_calls");
    return policy.policy === "truncate" ? null : policy;
  } catch {
    return null; // of a later jp: jpg does not know it
  }
}

/** RFD D17 has `keep` and `strip`, RFD 036 for results also `remove`, and `dedup`. */
function hintsOf(tool: RawLine): RawLine | null {
  const { request, response, dedup } = recordOf(tool, "compaction") ?? {};
  const hints = nullIfEmpty({
    ...((request === "keep" || request === "strip") && { request }),
    ...((response === "keep" || response === "strip" || response === "remove") && { response }),
    ...(typeof dedup === "boolean" && { dedup }),
  });
  return hints === null ? null : { compaction: hints };
}

function entriesOf(table: RawLine, read: (value: RawLine) => RawLine | null): RawLine | null {
  const known = Object.entries(table).flatMap(([name, value]): [string, RawLine][] => {
    const own = isRecord(value) ? read(value) : null;
    return own === null ? [] : [[name, own]];
  });
  return nullIfEmpty(Object.fromEntries(known));
}

function nullIfEmpty(table: RawLine): RawLine | null {
  return Object.keys(table).length === 0 ? null : table;
}
