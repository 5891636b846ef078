// Which results are written, and under which ids calls and results are: jp pairs them by ids alone, and names a tool in a stub by
// the id of its call. So an id stands for one call, but for those that jp gave itself.
import type { Event, ToolCallRequest } from "../../core/conversation/event.ts";
import { pairCalls } from "../../core/conversation/tool-pairing.ts";
import { unusedId } from "../../core/model/thread.ts";
import type { StreamDraft } from "./draft-turns.ts";
import { isOwnId } from "./entry-id.ts";

/** What is written of calls. */
export interface WrittenCalls {
  /** Ids of calls and of their results; a result without one answers nothing and is left out. */
  readonly ids: ReadonlyMap<Event, string>;
  /** Calls that get a result, since nobody answered them: those of other agents, as a provider wants. jp's stay as jp left them. */
  readonly unanswered: ReadonlySet<Event>;
}

/** Longest id of a call that any API takes, characters. */
const LONGEST_ID = 512;

/** Plans the calls of a draft. */
export function planWrittenCalls({ turns, isMixed }: StreamDraft): WrittenCalls {
  const events = turns.map((named, index) => ({ index, events: named.map(({ event }) => event) }));
  const pairs = pairCalls(events, () => isMixed);
  const answered = new Set<Event>(pairs.values());
  const ids = new Map<Event, string>();
  const unanswered = new Set<Event>();
  const used = new Set<string>();
  for (const event of events.flatMap((turn) => turn.events)) {
    if (event.type !== "tool_call_request") continue;
    const isOwn = isJps(event);
    const id = isOwn ? event.call_id : unusedId(event.call_id || "call", LONGEST_ID, (known) => used.has(known));
    used.add(id);
    ids.set(event, id);
    if (!isOwn && !answered.has(event)) unanswered.add(event);
  }
  for (const [result, call] of pairs) ids.set(result, ids.get(call) ?? call.call_id);
  return { ids, unanswered };
}

function isJps({ id, timestamp }: ToolCallRequest): boolean {
  return isOwnId(id, { kind: "tool_call_request", timestamp });
}
