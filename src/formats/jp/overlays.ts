// jp's overlays as compactions, and back. Both hide without deleting; jp's knows whole turns, a summary, stripped reasoning, and
// calls that are stripped or omitted, and nothing else.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";
import { callPolicyOf } from "./settings.ts";
import { formatStoredTime } from "./stored-time.ts";
import type { StreamEntry } from "./stream.ts";

/** What a compaction does: the same in both forms. */
export type OverlayPolicies = Pick<Compaction, "reasoning" | "tool_calls"> & { readonly summary?: string };

/** A compaction as jp can say it. */
export interface JpOverlay extends OverlayPolicies {
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** Turns, 0-based, inclusive. */
  readonly from: number;
  readonly to: number;
}

/** Reads an overlay of a stream with so many turns. A text is the reason why it changes nothing. */
export function readOverlay({ raw, timestamp }: StreamEntry, turnCount: number): JpOverlay | string {
  const [from, to] = [Number(raw["from_turn"]), Number(raw["to_turn"])];
  if (from > to) return `a compaction of turns ${from}..${to}, which ends before it begins`;
  if (from >= turnCount) return `a compaction from turn ${from} on, of which there is none yet`;
  const policies = readPolicies(raw);
  if (Object.keys(policies).length === 0) return "a compaction that says nothing that jpg knows";
  // What stands for turns must stand for those that are there; jp, too, ends it with the last.
  return { timestamp, from, to: policies.summary === undefined ? to : Math.min(to, turnCount - 1), ...policies };
}

function readPolicies(raw: RawLine): OverlayPolicies {
  const { summary: policy, reasoning, tool_calls: calls } = raw;
  const summary = isRecord(policy) ? stringOf(policy, "summary") : undefined;
  const tools = calls === undefined || calls === null ? null : callPolicyOf(calls);
  return {
    ...defined({ summary }),
    ...(reasoning === "strip" && { reasoning }),
    ...(tools !== null && { tool_calls: tools }),
  };
}

/** Gives a compaction as jp can say it, its range taken as whole turns; null when jp cannot. */
export function toOverlay(compaction: Compaction): JpOverlay | null {
  const { timestamp, from_turn: from, to_turn: to, reasoning, tool_calls: calls, summary } = compaction;
  const { keep, replacement, turns, tool_overrides: hints, stubs, attachments, tools } = compaction;
  const others = [keep, replacement, turns, hints, stubs, attachments, tools];
  if (others.some((other) => other !== undefined)) return null;
  if (calls !== undefined && calls.policy !== "strip" && calls.policy !== "omit") return null;
  if (summary !== undefined && (summary.inject ?? "pair") !== "pair") return null;
  return {
    timestamp,
    from,
    to,
    ...(summary !== undefined && { summary: summary.summary }),
    ...defined({ reasoning, tool_calls: calls }),
  };
}

/** Writes an overlay as jp stores it. */
export function formatOverlay({ timestamp, from, to, summary, reasoning, tool_calls: calls }: JpOverlay): RawLine {
  return {
    type: "compaction",
    timestamp: formatStoredTime(timestamp),
    from_turn: from,
    to_turn: to,
    ...(summary !== undefined && { summary: { summary } }),
    ...defined({ reasoning, tool_calls: calls }),
  };
}

/** Names an overlay by all that it says: by this it is known again in a stream that jp saved. */
export function nameOfOverlay(overlay: JpOverlay): string {
  return deriveName(JSON.stringify(formatOverlay(overlay)));
}
