// One answer of a model as it streams: into the journal first, then before the user's eyes, at the end as events. Whatever
// ends it early, what came stays, marked as interrupted.

import type { ChatResponse, Event, EventMetadata, ToolCallRequest } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import type { AnswerPart, Stop, StreamPart } from "../../llm/client.ts";
import { interruptedAt, type TextKind } from "../journal/journal-lines.ts";
import type { TurnJournal } from "../journal/turn-journal.ts";
import type { LiveEvents } from "./live-event.ts";

/** A call that the model made. */
export interface AnsweredCall {
  readonly event: ToolCallRequest;
  /** Null when the model wrote no JSON object; the event's arguments are then the text that it wrote. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
}

export interface Answer {
  /** In the order in which they began; share one `message_id`. */
  readonly events: readonly Event[];
  readonly calls: readonly AnsweredCall[];
  /** Null when there was none: then `failure` says why. */
  readonly stop: Stop | null;
  /** What broke it off; null when it ended with a stop. */
  readonly failure: unknown;
}

/** What an answer is read with. */
export interface AnswerReading {
  readonly journal: TurnJournal;
  readonly live: LiveEvents;
  /** Who answers; goes to each event's metadata. */
  readonly provider: string;
  readonly model: string;
  /** Shown each piece of text once it is in the journal. */
  delta(kind: TextKind, text: string): void;
}

/** Reads a stream to its end. Throws nothing that the stream throws, only what the journal or `delta` does. */
export async function readAnswer(stream: AsyncIterable<StreamPart>, reading: AnswerReading): Promise<Answer> {
  const writer = createAnswerWriter(reading);
  const parts = stream[Symbol.asyncIterator]();
  let stop: Stop | null = null;
  let failure: unknown = null;
  try {
    for (;;) {
      const next = await parts.next().catch((error: unknown) => {
        failure = error ?? new Error("the stream failed");
        return { done: true, value: undefined } as const;
      });
      if (next.done === true) break;
      if (next.value.type === "stop") stop = next.value.stop;
      else if (next.value.type === "delta") writer.delta(next.value.kind, next.value.text);
      else writer.part(next.value.part);
    }
  } finally {
    // The journal failed: the provider need not go on.
    if (stop === null && failure === null) await parts.return?.().catch(() => undefined);
  }
  if (stop === null && failure === null) failure = streamWithoutStop(reading);
  return { ...writer.end(stop), stop, failure };
}

interface AnswerWriter {
  delta(kind: TextKind, text: string): void;
  part(part: AnswerPart): void;
  end(stop: Stop | null): Pick<Answer, "events" | "calls">;
}

function createAnswerWriter({ journal, live, provider, model, delta: show }: AnswerReading): AnswerWriter {
  const base: EventMetadata = { provider, model, message_id: live.newId() };
  const events = new Map<string, Event>();
  const calls: AnsweredCall[] = [];
  const streaming = new Map<TextKind, { readonly event: ChatResponse; text: string }>();
  const keep = (event: Event): void => {
    journal.event(event);
    events.set(event.id, event);
  };
  const delta = (kind: TextKind, text: string): void => {
    if (text === "") return;
    let open = streaming.get(kind);
    if (open === undefined) {
      open = { event: live.response(kind, base), text: "" };
      streaming.set(kind, open);
      journal.open(open.event);
      events.set(open.event.id, open.event);
    }
    journal.delta(open.event.id, text);
    open.text += text;
    show(kind, text);
  };
  const closeText = (part: Extract<AnswerPart, { readonly kind: TextKind }>): void => {
    const open = streaming.get(part.kind);
    streaming.delete(part.kind);
    const event = open?.event ?? live.response(part.kind, base);
    // What was shown was said, whatever the whole part holds.
    const text = part.text === "" ? (open?.text ?? "") : part.text;
    if (text === "" && part.metadata === undefined) return;
    keep({ ...event, [part.kind]: text, metadata: { ...base, ...part.metadata } });
    if (open === undefined && text !== "") show(part.kind, text);
  };
  const call = (part: Extract<AnswerPart, { readonly kind: "tool_call" }>): void => {
    const { callId, name, text, metadata } = part;
    const event = live.call({ call_id: callId, name, arguments: part.arguments ?? text }, { ...base, ...metadata });
    keep(event);
    calls.push({ event, arguments: part.arguments });
  };
  const closeInterrupted = (): void => {
    for (const { event, text } of streaming.values()) keep(interruptedAt(event, text));
    streaming.clear();
  };
  return {
    delta,
    part: (part) => (part.kind === "tool_call" ? call(part) : closeText(part)),
    end: (stop) => {
      closeInterrupted();
      const list = [...events.values()];
      const last = list.at(-1);
      const facts = stop === null ? {} : stopMetadata(stop);
      if (last === undefined || Object.keys(facts).length === 0) return { events: list, calls };
      const marked = { ...last, metadata: { ...last.metadata, ...facts } };
      keep(marked);
      return { events: [...list.slice(0, -1), marked], calls };
    },
  };
}

/** What the end of an answer adds to its last event: usage, the provider's id, and why it is no whole answer. */
function stopMetadata({ reason, providerReason, usage, id }: Stop): EventMetadata {
  const isWhole = reason === "complete" || reason === "tool_calls";
  return {
    ...(id === null ? {} : { response_id: id }),
    ...(usage === null || usage === undefined ? {} : { usage }),
    ...(isWhole ? {} : { stop: reason }),
    ...(isWhole || providerReason === null ? {} : { stop_reason: providerReason }),
  };
}

function streamWithoutStop({ provider, model }: AnswerReading): JpgError {
  return new JpgError("provider", "stream_cut", `The answer of ${provider}/${model} ended without saying why.`, {
    hints: ["Ask again; `jpg query -v` says more."],
  });
}
