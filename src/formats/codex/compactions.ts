// Codex's own compactions as overlays. Each covers everything before it, and lists the items that are sent instead: what OpenAI made
// of the history is encrypted and goes back unchanged. Old ones hold only a summary: then the user's words stay, followed by the
// summary.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { deriveName, plainValues } from "../imported-session.ts";
import { addMilliseconds, isRecord, type ParsedLines, type RawLine, stringOf } from "../session-source.ts";
import { speakerOf } from "./context-text.ts";
import { isSentItem, toItemEvent } from "./events.ts";
import type { RolloutEntry } from "./rollout.ts";
import { payloadOf } from "./rollout-line.ts";
import { type RolloutTurn, readLineEvent } from "./turns.ts";

/** Reads the compactions of turns, oldest first, with rising timestamps. */
export function readCodexCompactions(lines: ParsedLines, turns: readonly RolloutTurn[]): readonly Compaction[] {
  const compactions: Compaction[] = [];
  let asked: (RolloutEntry | Event)[] = [];
  let end: LastEvent | undefined;
  for (const { index, entries } of turns) {
    for (const entry of entries) {
      if (entry.kind === "prompt") asked.push(entry);
      if (entry.kind !== "compacted") end = { turn: index, event: entry.id };
      if (entry.kind !== "compacted" || end === undefined) continue;
      const compaction = createCompaction(lines, entry, { asked, end, after: compactions.at(-1)?.timestamp });
      asked = (compaction.replacement ?? []).filter(isFromUser);
      compactions.push(compaction);
    }
  }
  return compactions;
}

/** The last event that a compaction covers. */
interface LastEvent {
  readonly turn: number;
  readonly event: string;
}

interface CompactionContext {
  /** The user's requests that are still sent. */
  readonly asked: readonly (RolloutEntry | Event)[];
  readonly end: LastEvent;
  /** Timestamp of the previous compaction. */
  readonly after: string | undefined;
}

function createCompaction(
  lines: ParsedLines,
  entry: RolloutEntry,
  { asked, end, after }: CompactionContext,
): Compaction {
  const line = lines.at(entry.line);
  const payload = line === null || typeof line === "string" ? {} : payloadOf(line);
  const isLater = after === undefined || compareTimestamps(entry.timestamp, after) > 0;
  return {
    type: "compaction",
    id: deriveName(`${entry.id}.compacted`),
    timestamp: isLater ? entry.timestamp : addMilliseconds(after, 1),
    from_turn: 0,
    to_turn: end.turn,
    to_event: end.event,
    replacement:
      replacementOf(payload, entry) ??
      summarised(
        payload,
        entry,
        asked.flatMap((one) => ("type" in one ? [one] : readLineEvent(lines, one))),
      ),
    source: "import",
    metadata: { ...plainValues(payload), line: entry.id },
  };
}

function replacementOf(payload: RawLine, entry: RolloutEntry): readonly Event[] | null {
  const items = payload["replacement_history"];
  if (!Array.isArray(items)) return null;
  return items
    .filter(isRecord)
    .filter(isSentItem)
    .map((item, at) => toItemEvent(item, { ...placeOf(entry, at), ...(isHarness(item) && { origin: "harness" }) }));
}

function isHarness(item: RawLine): boolean {
  return item["type"] === "message" && stringOf(item, "role") !== "assistant" && speakerOf(item) !== "user";
}

/** The user's words, then the summary as one more request. */
function summarised(payload: RawLine, entry: RolloutEntry, requests: readonly Event[]): readonly Event[] {
  const copies = requests.map((request, at): Event => ({ ...request, ...idsOf(entry, at) }));
  const summary = stringOf(payload, "message") ?? "";
  return [...copies, { type: "chat_request", ...idsOf(entry, requests.length), content: summary }];
}

function isFromUser(event: Event): boolean {
  return event.type === "chat_request" && event.role === undefined && event.metadata?.origin !== "harness";
}

function idsOf({ id, timestamp }: RolloutEntry, at: number): { readonly id: string; readonly timestamp: string } {
  return { id: `${id}.${at}`, timestamp };
}

function placeOf(entry: RolloutEntry, at: number) {
  const { provider, model } = entry;
  return { ...idsOf(entry, at), provider, model };
}
