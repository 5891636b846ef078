// Experiment: the stub of a call keeps its head, the first line of what it asked and of what it was answered.
import type { Event } from "../../src/core/event/event.ts";
import { textsOf } from "../../src/core/loss/event-texts.ts";

/** Longest head, characters. */
const HEAD_CHARS = 120;

/** Gives every stub of a view the first line of its original. */
export function withHeads(view: readonly Event[], past: readonly Event[]): readonly Event[] {
  const originals = new Map(past.map((event) => [event.id, event]));
  return view.map((event) => {
    const original = originals.get(event.id);
    if (original === undefined || original === event) return event;
    if (event.type === "tool_call_request" && isEmpty(event.arguments)) return headOfCall(event, original);
    if (event.type !== "tool_call_response" || typeof event.content !== "string") return event;
    const head = headOf(original);
    return head === "" || !event.content.startsWith("[compacted]")
      ? event
      : { ...event, content: `${event.content}\n${head}` };
  });
}

function headOfCall(stub: Event & { type: "tool_call_request" }, original: Event): Event {
  const head = headOf(original);
  return head === "" ? stub : { ...stub, arguments: { head } };
}

function headOf(event: Event): string {
  const line = textsOf(event).join("\n").trimStart().split("\n", 1)[0] ?? "";
  return line.slice(0, HEAD_CHARS);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
