// Writes a view as a rollout that Codex resumes: it sends exactly these items, followed by its own context. Each turn is a task of
// its own, so that an import cuts the same turns.
import type { Event, View } from "../../core/conversation/event.ts";
import { toOpenAiResponsesThread } from "../../core/model/openai-responses-thread.ts";
import type { ProviderObject, ThreadItem } from "../../core/model/openai-thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { createOriginLine, lineName, lineUuid } from "../imported-session.ts";
import { isRecord, NO_DATE, stringOf } from "../session-source.ts";
import { LINE_MARK } from "./rollout.ts";
import { toOwnReasoning, toStoredItem } from "./turns.ts";

/** Version that this form was verified with. */
const VERIFIED_VERSION = "0.171.0";

/** Gives the text of the rollout. */
export function writeCodexSession(draft: SessionDraft): string {
  const { view, model, sessionId, origin, title } = draft;
  const thread = toOpenAiResponsesThread(view, {
    model,
    systemMessages: true,
    reasoningItem: toOwnReasoning,
    compactionsStay: true,
  });
  const rollout = createRollout(draft);
  rollout.add("session_meta", describeSession(draft), "");
  rollout.lines.push({ timestamp: rollout.time(), ...createOriginLine(origin, sessionId) });
  rollout.add("event_msg", { type: "thread_name_updated", thread_id: sessionId, thread_name: title });
  for (const item of thread.items) rollout.addItem(item);
  rollout.endTask();
  return rollout.lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** The time of the newest event of a view, RFC 3339. */
export function timeOfView({ turns }: View): string {
  return turns.findLast(({ events }) => events.length > 0)?.events.at(-1)?.timestamp ?? NO_DATE;
}

/** A turn's start has the time of its request, which is later than what introduces it. */
function startOfView({ turns }: View): string {
  const events = turns[0]?.events ?? [];
  return (events.find(({ type }) => type !== "turn_start") ?? events[0])?.timestamp ?? NO_DATE;
}

function describeSession({ view, sessionId, cwd, provider }: SessionDraft): Payload {
  return {
    id: sessionId,
    timestamp: startOfView(view),
    cwd,
    originator: "jpg",
    cli_version: VERIFIED_VERSION,
    source: "cli",
    model_provider: provider,
  };
}

type Payload = Readonly<Record<string, unknown>>;

interface Rollout {
  readonly lines: Payload[];
  /** Time of the newest line. */
  time(): string;
  /** Adds a line; its id derives from `source`, see `imported-session.ts`; absent = only for Codex's display. */
  add(type: string, payload: Payload, source?: string): void;
  addItem(item: ThreadItem): void;
  endTask(): void;
}

/** Collects lines. Stateful: a line belongs to the current task and time. */
function createRollout({ view, sessionId, sha1 }: SessionDraft): Rollout {
  const places = placeEvents(view);
  const counts = new Map<string, number>();
  const lines: Payload[] = [];
  let timestamp = startOfView(view);
  let last = "";
  const calls = new Map<unknown, string>();
  let task: { readonly turn: number; readonly id: string } | null = null;
  const nextId = (source: string): string => {
    const count = counts.get(source) ?? 0;
    counts.set(source, count + 1);
    last = source;
    return lineUuid(sessionId, lineName(source, count), sha1);
  };
  const add: Rollout["add"] = (type, payload, source) => {
    lines.push({ timestamp, type, payload, ...(source !== undefined && { [LINE_MARK]: nextId(source) }) });
  };
  const endTask = (): void => {
    if (task !== null) add("event_msg", { type: "task_complete", turn_id: task.id, last_agent_message: null });
    task = null;
  };
  const beginTask = (turn: number): void => {
    endTask();
    task = { turn, id: lineUuid(sessionId, `task ${turn}`, sha1) };
    add("event_msg", { type: "task_started", turn_id: task.id, model_context_window: null });
  };
  const callOf = (item: Payload): string | undefined => (isOutput(item) ? calls.get(item["call_id"]) : undefined);
  const addItem = ({ item, events: [id], compaction }: ThreadItem): void => {
    const source = id ?? compaction;
    const place = source === undefined ? undefined : places.get(source);
    if (place !== undefined) timestamp = place.event?.timestamp ?? place.timestamp;
    if (place !== undefined && place.turn !== task?.turn) beginTask(place.turn);
    // An output added by hardening goes with its call, whichever outputs precede it.
    add("response_item", toStoredItem(item, place?.event), source ?? callOf(item) ?? last);
    if (source !== undefined && !isOutput(item)) calls.set(item["call_id"], source);
    const shown = shownMessage(item, place?.event);
    if (shown !== null) add("event_msg", shown);
  };
  return { lines, time: () => timestamp, add, addItem, endTask };
}

function isOutput({ type }: Payload): boolean {
  return typeof type === "string" && type.endsWith("_output");
}

interface EventPlace {
  /** Position of its projected turn in the view, 0-based. */
  readonly turn: number;
  readonly timestamp: string;
  /** Absent for a compaction, which is not one event. */
  readonly event?: Event;
}

/** The place of each event, and of what each compaction put into the view, by id. */
function placeEvents({ turns }: View): ReadonlyMap<string, EventPlace> {
  const places = new Map<string, EventPlace>();
  for (const [turn, { origin, events }] of turns.entries()) {
    const timestamp = events[0]?.timestamp ?? NO_DATE;
    if (origin.kind !== "kept") places.set(origin.compaction, { turn, timestamp });
    for (const event of events) places.set(event.id, { turn, timestamp, event });
  }
  return places;
}

/** The message that displays an item; null if none does. `event` is the one that the item shows. */
function shownMessage(item: ProviderObject, event: Event | undefined): ProviderObject | null {
  if (item["type"] === "reasoning") return withText("agent_reasoning", "text", textOf(item["summary"]));
  if (item["type"] !== "message" || event?.metadata?.origin === "harness") return null;
  if (item["role"] === "assistant") return withText("agent_message", "message", textOf(item["content"]));
  return item["role"] === "user" ? withText("user_message", "message", textOf(item["content"])) : null;
}

function withText(type: string, key: string, text: string): ProviderObject | null {
  return text === "" ? null : { type, [key]: text };
}

function textOf(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts.flatMap((part) => (isRecord(part) ? (stringOf(part, "text") ?? []) : [])).join("\n");
}
