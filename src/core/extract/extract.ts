// The extract: what stands for turns where no model writes a summary. Taken from the events by fixed rules, in the sections of a
// summary, with every passage as it was said. Invariant: every request and every changed file is in it, whatever the budget; the
// same events always give the same text.
import { textsOf } from "../loss/event-texts.ts";
import type { PlacedEvent } from "../summary/placed-event.ts";
import { proseChars } from "../tokens/text-tokens.ts";
import { estimateEvents } from "../tokens/token-estimate.ts";
import { CHARS_PER_TOKEN, extractBudget } from "./budget.ts";
import { gather } from "./gather.ts";
import { writeSections } from "./sections.ts";

/** A summary made without a model. */
export interface ExtractedSummary {
  readonly summary: string;
  /** Files that were changed, then files that were only read, as written. */
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
}

export interface ExtractOptions {
  /** Tokens aimed at, estimated; requests and changed files are in it all the same. Absent = by the size of the events. */
  readonly budgetTokens?: number;
}

/** Most files that were only read given beside the text. */
const MOST_READ = 200;

/** Extracts a summary from raw events, in order. Linear in their texts. */
export function extractSummary(events: readonly PlacedEvent[], options: ExtractOptions = {}): ExtractedSummary {
  const found = gather(events);
  const budget = options.budgetTokens ?? extractBudget(estimateEvents(events.map(({ event }) => event)));
  const sections = writeSections(found, budget * charsPerToken(events));
  const texts = sections.map(([name, lines]) => `## ${name}\n${lines.length === 0 ? "none" : lines.join("\n")}`);
  return {
    summary: [labelOf(events), ...texts].join("\n\n"),
    files: [...found.modified, ...found.notModified, ...found.read.slice(0, MOST_READ)],
    open_tasks: found.openTasks,
  };
}

/** Characters that a token of what was said holds: fewer in most scripts than in English. */
function charsPerToken(events: readonly PlacedEvent[]): number {
  let [chars, asProse] = [0, 0];
  const said = events.filter(({ event: { type } }) => type === "chat_request" || type === "chat_response");
  for (const text of said.flatMap(({ event }) => textsOf(event))) {
    chars += text.length;
    asProse += proseChars(text);
  }
  return asProse === 0 ? CHARS_PER_TOKEN : (CHARS_PER_TOKEN * chars) / asProse;
}

/** Turns are named `t12`: the extract's own numbers must not pass for facts of the conversation. */
function labelOf(events: readonly PlacedEvent[]): string {
  const [first, last] = [events[0]?.turn ?? 0, events.at(-1)?.turn ?? 0];
  const turns = first === last ? `turn t${first}` : `turns t${first} to t${last}`;
  return `[Extract of ${turns}: passages and facts taken from the conversation by fixed rules, not a summary written by a model. … marks what was cut.]`;
}
