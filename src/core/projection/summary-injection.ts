// What stands in the view for the turns that a summary or replacement hides. Ids derive from the compaction's id and
// times from the place of injection, so that the same conversation always gives the same view.
import type { Compaction, Injection, Summary } from "../compaction/compaction.ts";
import type { ChatRequest, Event, TurnStart } from "../event/event.ts";
import type { ProjectedTurn } from "./view.ts";

/** The request of an injected pair (RFD 064). */
const SUMMARY_REQUEST = "[Summary of previous conversation]";

/** `metadata.origin` of requests that a summary put into the view: nobody typed them. */
const SUMMARY_ORIGIN = "summary";

/** Where an injected turn stands. */
export interface InjectionSite {
  /** Time of the first event of the turn at which it is injected. */
  readonly timestamp: string;
  /** Clamped range of the compaction: turn positions, 0-based, inclusive. */
  readonly from: number;
  readonly to: number;
  /** Whether events of the range's last turn follow: then a pair would put two assistant messages in a row. */
  readonly endsInsideTurn: boolean;
  /** The view's index, where the summary tells it. */
  readonly index?: string;
}

/** The index that a compaction's summary tells when it is the view's; undefined where it has no summary that stands. */
export function toldIndex({ summary, replacement, index }: Compaction): string | undefined {
  return summary === undefined || replacement !== undefined ? undefined : index?.text;
}

/** Whether a hiding compaction puts something in the place of what it hides; an omission and an empty list do not. */
export function isInjected(compaction: Compaction): boolean {
  if (compaction.replacement !== undefined) return compaction.replacement.length > 0;
  return compaction.summary !== undefined;
}

/** Creates the projected turn of a summary or replacement. */
export function createInjectedTurn(compaction: Compaction, site: InjectionSite): ProjectedTurn {
  const { id, summary, replacement, source } = compaction;
  const start: TurnStart = { type: "turn_start", id: `${id}.turn`, timestamp: site.timestamp };
  const kind = replacement === undefined ? "summary" : "replacement";
  const imported = source === "import" ? ({ imported: true } as const) : {};
  const origin = { kind, from: site.from, to: site.to, compaction: id, ...imported } as const;
  if (replacement !== undefined) return { origin, events: [start, ...listReplacement(id, replacement, site)] };
  if (summary === undefined) return { origin, events: [start] };
  return { origin, events: [start, ...listSummary(compaction, summary, site)] };
}

function listSummary(compaction: Compaction, summary: Summary, site: InjectionSite): readonly Event[] {
  const inject: Injection = site.endsInsideTurn ? "request" : (summary.inject ?? "pair");
  const count = compaction.stats?.original_message_count;
  const text = site.index === undefined ? summary.summary : `${summary.summary}\n\n${site.index}`;
  const request = (content: string): ChatRequest => ({
    type: "chat_request",
    id: `${compaction.id}.request`,
    timestamp: site.timestamp,
    ...(inject === "system" ? { role: "system" } : {}),
    content,
    metadata: { origin: SUMMARY_ORIGIN },
  });
  switch (inject) {
    case "pair": {
      const { timestamp } = site;
      return [
        request(SUMMARY_REQUEST),
        { type: "chat_response", id: `${compaction.id}.response`, timestamp, message: text },
      ];
    }
    case "request":
      return [request(summary.source === "imported" ? text : delimitSummary(text, count))];
    case "system":
      return [request(delimitSummary(text, count))];
  }
}

/** Puts a summary between the delimiters of the chat path; `messageCount` = messages it stands for, when known. */
function delimitSummary(text: string, messageCount?: number): string {
  const count = messageCount === undefined ? "" : ` - ${messageCount} messages`;
  return `[CONVERSATION HISTORY SUMMARY${count}]\n\n${text}\n\n[END SUMMARY - Recent conversation continues below]`;
}

function listReplacement(id: string, events: readonly Event[], { timestamp }: InjectionSite): readonly Event[] {
  return events
    .map((event, at) => (event.id && event.timestamp ? event : identifyEvent(event, { id: `${id}.${at}`, timestamp })))
    .filter((event) => event.type !== "turn_start");
}

/** Keeps the key order of an event: type, id, timestamp, then the rest. */
function identifyEvent(event: Event, missing: { readonly id: string; readonly timestamp: string }): Event {
  const { type, id, timestamp, ...rest } = event;
  return { type, id: id || missing.id, timestamp: timestamp || missing.timestamp, ...rest } as Event;
}
