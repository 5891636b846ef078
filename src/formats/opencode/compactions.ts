// OpenCode's compactions as overlays: a summary hides everything before it except the tail that the agent keeps; cleared tool
// results are stripped. Reverting one shows what it hid.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import { deriveName } from "../imported-session.ts";
import { addMilliseconds, NO_DATE, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { eventsOfMessage } from "./events.ts";
import type { Message, MessageTurn } from "./messages.ts";
import { timeOf } from "./store.ts";

/** A compaction and the turn during or after which it was made. */
interface PlacedCompaction {
  readonly compaction: Compaction;
  readonly turn: number;
}

/** A compaction before its timestamp is made to rise. */
type Draft = Omit<Compaction, "type" | "source">;

interface PlacedDraft {
  readonly turn: number;
  readonly draft: Draft;
}

/** A message and its turn. */
interface Place {
  readonly turn: number;
  readonly message: Message;
}

/** A result that the agent cleared. */
interface ClearedResult {
  readonly turn: number;
  /** Id of the call's event. */
  readonly event: string;
  /** Time of clearing, milliseconds since 1970. */
  readonly time: number;
}

/** What OpenCode sends in place of a result that it cleared (1.18). */
export const CLEARED = "[Old tool result content cleared]";

/** Longest time between results that were cleared together, milliseconds. */
const MAX_GAP_MS = 5000;

/** Reads the compactions of turns, oldest first, with rising timestamps. */
export function listOpenCodeCompactions(turns: readonly MessageTurn[]): readonly PlacedCompaction[] {
  const places = turns.flatMap(({ messages }, turn) => messages.map((message) => ({ turn, message })));
  const summaries = places.flatMap((place, at) => (place.message.kind === "summary" ? summaryAt(places, at) : []));
  const cleared = places.flatMap(clearedIn).sort((a, b) => a.time - b.time);
  const drafts = [...summaries, ...clearingCompactions(cleared, turns)].sort((a, b) =>
    compareTimestamps(a.draft.timestamp, b.draft.timestamp),
  );
  let last = "";
  return drafts
    .flatMap((placed) => [placed, ...reclearKept(placed, cleared)])
    .map(({ turn, draft }) => {
      const isLater = last === "" || compareTimestamps(draft.timestamp, last) > 0;
      const timestamp = isLater ? draft.timestamp : addMilliseconds(last, 1);
      last = timestamp;
      const { id, timestamp: _, metadata, ...rest } = draft;
      const made = { type: "compaction" as const, id, timestamp, ...rest, source: "import" as const };
      return { turn, compaction: { ...made, metadata } };
    });
}

/** The agent sends the question and the summary first, then the kept messages, then what came after. */
function summaryAt(places: readonly Place[], at: number): readonly PlacedDraft[] {
  const answer = places[at];
  const asked = places.findIndex(({ message }) => message.sourceId === parentOf(answer?.message));
  const question = places[asked];
  if (answer === undefined || question === undefined || asked > at) return [];
  const hides = places.slice(0, asked).some(({ message }) => visibleEvents(message).length > 0);
  if (!hides) return [];
  const [part = {}] = question.message.parts.filter(({ type }) => type === "compaction");
  const tail = stringOf(part, "tail_start_id");
  const from = tail === undefined ? asked : places.findIndex(({ message }) => message.sourceId === tail);
  if (from < 0 || from > asked) return []; // the agent does not find the kept tail, and sends everything
  const kept = places.slice(from, asked).flatMap(({ message }) => visibleEvents(message));
  const id = deriveName(`${answer.message.id}.compaction`);
  const pair = places.slice(asked, at + 1).flatMap(({ message }) => visibleEvents(message));
  const end = eventsOfMessage(answer.message).at(-1);
  const draft: Draft = {
    id,
    timestamp: answer.message.timestamp,
    from_turn: 0,
    to_turn: answer.turn,
    to_event: end?.id,
    ...(kept.length > 0 && { keep: kept.map((event) => event.id) }),
    replacement: pair.map((event, n) => copyEvent(event, `${id}.${n}`, id)),
    metadata: { auto: part["auto"] === true, line: answer.message.id },
  };
  return [{ turn: answer.turn, draft }];
}

function parentOf(message: Message | undefined): string | undefined {
  return message === undefined ? undefined : stringOf(message.info, "parentID");
}

function visibleEvents(message: Message): readonly Event[] {
  return eventsOfMessage(message).filter((event) => traitsOf(event).providerVisible);
}

/** The summary is an answer of its own where it replaces others. */
function copyEvent(event: Event, id: string, message_id: string): Event {
  const { usage: _, ...metadata } = event.metadata ?? {};
  const isAnswer = metadata.message_id !== undefined;
  return { ...event, id, metadata: { ...metadata, ...(isAnswer && { message_id }) } };
}

function clearedIn({ turn, message }: Place): readonly ClearedResult[] {
  if (message.kind !== "answer" && message.kind !== "summary") return [];
  const calls = eventsOfMessage(message).filter(({ type }) => type === "tool_call_request");
  const tools = message.parts.filter(({ type }) => type === "tool");
  return tools.flatMap((part, at) => {
    const time = timeOf(clearedAt(part));
    const call = calls[at];
    return time === undefined || time === 0 || call === undefined ? [] : [{ turn, event: call.id, time }];
  });
}

export function clearedAt(part: RawLine): unknown {
  const state = recordOf(part, "state") ?? {};
  return state["status"] === "completed" ? recordOf(state, "time")?.["compacted"] : undefined;
}

/** Makes one compaction of what was cleared together, in the turn that was the newest then. */
function clearingCompactions(cleared: readonly ClearedResult[], turns: readonly MessageTurn[]): readonly PlacedDraft[] {
  const goes: ClearedResult[][] = [];
  for (const result of cleared) {
    const go = goes.at(-1);
    if (go !== undefined && result.time - (go.at(-1)?.time ?? 0) <= MAX_GAP_MS) go.push(result);
    else goes.push([result]);
  }
  return goes.flatMap((go) => {
    const time = new Date(go[0]?.time ?? 0).toISOString();
    const newest = Math.max(...go.map(({ turn }) => turn));
    const then = turns.findLastIndex(({ opener }) => compareTimestamps(opener.timestamp, time) <= 0);
    const draft = stripResults(go, deriveName(`${go.map(({ event }) => event).sort()[0]}.${time}`), time);
    return [{ turn: Math.max(newest, then), draft }];
  });
}

/** A kept message is unaffected by the summary, so what was cleared in it before is cleared again after it. */
function reclearKept({ turn, draft }: PlacedDraft, cleared: readonly ClearedResult[]): readonly PlacedDraft[] {
  const kept = new Set(draft.keep ?? []);
  const before = cleared.filter(({ event, time }) => kept.has(event) && time <= Date.parse(draft.timestamp));
  if (before.length === 0) return [];
  return [{ turn, draft: stripResults(before, deriveName(`${draft.id}.cleared`), draft.timestamp) }];
}

function stripResults(results: readonly ClearedResult[], id: string, timestamp: string = NO_DATE): Draft {
  const inOrder = [...results].sort((a, b) => a.turn - b.turn);
  const turns = inOrder.map(({ turn }) => turn);
  const calls = inOrder.map(({ event }) => ({ event, request: "keep" as const, response: "strip" as const }));
  return {
    id,
    timestamp,
    from_turn: Math.min(...turns),
    to_turn: Math.max(...turns),
    tool_calls: { policy: "selective", calls },
    stubs: { text: CLEARED },
    needs: ["stub_text"],
    reason: "tool-output-cleared",
  };
}
