// What the events of a view are to whoever looks at a full window: the parts that its anatomy is told in. Finer than the kinds of
// an estimate: attachments apart from the texts that they came with, and summaries and indexes apart from what was said.
import { isText } from "../event/content.ts";
import { type ChatRequest, type Event, type ToolCallResponse, traitsOf } from "../event/event.ts";
import type { ProjectedTurn } from "../projection/view.ts";

/** A part of a window, by what it holds. */
export type ViewPart =
  | "system"
  | "user"
  | "assistant"
  | "reasoning"
  | "calls"
  | "results"
  | "attachments"
  | "harness"
  | "summaries"
  | "index";

/** Tokens by part, not rounded; parts that hold nothing are absent. */
export type PartTokens = ReadonlyMap<ViewPart, number>;

interface PartMeasure {
  /** The leading prompts of the view. */
  readonly prompts: ReadonlySet<Event>;
  countEvent(event: Event): number;
}

/** Measures a projected turn; the parts add up to what `countEvent` gives for its events. */
export function measureParts({ origin, events }: ProjectedTurn, { prompts, countEvent }: PartMeasure): PartTokens {
  const parts = new Map<ViewPart, number>();
  const add = (part: ViewPart, tokens: number): void => {
    if (tokens !== 0) parts.set(part, (parts.get(part) ?? 0) + tokens);
  };
  for (const event of events) {
    if (!traitsOf(event).providerVisible) continue;
    const own = countEvent(event);
    const attached = origin.kind === "kept" ? attachmentsOf(event) : null;
    const beside = attached === null ? 0 : Math.min(own, countEvent(attached));
    add("attachments", beside);
    add(prompts.has(event) ? "system" : partOf(event, origin), own - beside);
  }
  return parts;
}

function partOf(event: Event, { kind }: ProjectedTurn["origin"]): ViewPart {
  if (kind === "summary") return "summaries";
  if (kind === "index") return "index";
  switch (event.type) {
    case "chat_request":
      return event.metadata?.origin === "harness" ? "harness" : "user";
    case "tool_call_request":
      return "calls";
    case "tool_call_response":
      return "results";
    default:
      return "reasoning" in event ? "reasoning" : "assistant";
  }
}

/** The event with its images, documents and attached files alone; null where it has none. */
function attachmentsOf(event: Event): ChatRequest | ToolCallResponse | null {
  if (event.type !== "chat_request" && event.type !== "tool_call_response") return null;
  const { content } = event;
  if (isText(content)) return null;
  const attached = content.filter(({ type }) => type === "image" || type === "document" || type === "attachment");
  return attached.length === 0 ? null : { ...event, content: attached };
}
