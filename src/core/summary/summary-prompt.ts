// What a summary model is asked: the task in words, and the view that carries it. In the transcript form the raw events stand in
// one message as text; in the suffix form the conversation's own thread comes first, word for word, so that what its provider has
// cached is read again, and one message after it asks for the summary.
import { type Event, traitsOf } from "../event/event.ts";
import type { ProjectedTurn, View } from "../projection/view.ts";
import { fillTemplate } from "./fill-template.ts";
import type { SummaryTemplate } from "./summary-template.ts";
import type { Transcript } from "./transcript.ts";

/** The template files that a task is put together from, by what they are for. */
export interface PromptTemplates {
  readonly summary: SummaryTemplate;
  readonly answer: string;
  /** What is asked where somebody's own instructions say what to write. */
  readonly own: string;
  /** What is added where the last turn is cut. */
  readonly cut: string;
  readonly record: string;
  readonly retry: string;
}

/** What the task depends on. */
export interface TaskOptions {
  /** What is summarised, in words: `turns 0 to 12`, `the conversation above`. */
  readonly subject: string;
  /** In place of the template's own text and sections; taken as they are. */
  readonly instructions?: string;
  /** In place of the template's own text; the sections stay. */
  readonly text?: string;
  /** Whether the last turn goes on behind what is summarised. */
  readonly isCut?: boolean;
  /** Sentences about what to dwell on; may be empty. */
  readonly focus: string;
  /** Longest summary, words; > 0. */
  readonly words: number;
  /** More to give back in the block beside `files` and `open_tasks`. */
  readonly block?: Readonly<Record<string, unknown>>;
}

/** Words for each token of prose, and the bounds between which a summary may be long. */
const WORDS_PER_TOKEN = 0.7;
const LEAST_WORDS = 150;
const MOST_WORDS = 2500;
/** What is left of what is summarised: 70 % compression. */
const KEPT_SHARE = 0.3;

/** Gives the longest summary to ask for, words, where so many tokens are replaced. */
export function wordLimit(tokens: number): number {
  return Math.min(MOST_WORDS, Math.max(LEAST_WORDS, Math.round((tokens * KEPT_SHARE * WORDS_PER_TOKEN) / 50) * 50));
}

/** Words the task of writing a summary. */
export function writeTask(templates: TaskTemplates, options: TaskOptions): string {
  const { summary, answer, own, cut } = templates;
  const { subject, instructions, text, focus, words, block, isCut = false } = options;
  const common = { focus, words: String(words), cut: isCut ? cut.trim() : "" };
  if (instructions !== undefined)
    return fillTemplate("summary-own", own, { ...common, text: text ?? instructions, turns: subject });
  return fillTemplate("summary-answer", answer, {
    ...common,
    text: text ?? fillTemplate("summary text", summary.text, { turns: subject }),
    sections: summary.sections,
    block: JSON.stringify({ ...block, files: ["…"], open_tasks: ["…"] }),
  });
}

type TaskTemplates = Pick<PromptTemplates, "summary" | "answer" | "own" | "cut">;

/** Words the task once more, after an answer that could not be used. */
export function writeRetry({ retry }: Pick<PromptTemplates, "retry">, task: string, reason: string): string {
  return fillTemplate("summary-retry", retry, { task, reason });
}

/** Puts a task behind a transcript; `part` = which part it is of several, else empty. */
export function writeRecord(
  { record }: Pick<PromptTemplates, "record">,
  { transcript, subject, task, part }: { transcript: Transcript; subject: string; task: string; part: string },
): string {
  return fillTemplate("summary-record", record, {
    turns: subject,
    part,
    mark: transcript.mark,
    shortened: tellShortened(transcript),
    record: transcript.text,
    task,
  });
}

/** What is said of texts that did not fit whole; "" where all did. */
function tellShortened({ cut }: Transcript): string {
  if (cut.texts === 0) return "";
  const texts = cut.texts === 1 ? "One text was" : `${cut.texts} texts were`;
  return `${texts} shortened in the middle, by ${cut.chars} characters in all, because the record would not fit otherwise; where it was done, it says so.`;
}

/** Names turns in a prompt. */
export function nameTurns(from: number, to: number): string {
  return from === to ? `turn ${from}` : `turns ${from} to ${to}`;
}

/** Makes the view of one message. */
export function messageView(text: string): View {
  return { turns: [messageTurn(text, 0)] };
}

/** Puts a message behind the beginning of a view. */
export function suffixView(beginning: readonly ProjectedTurn[], text: string): View {
  return { turns: [...beginning, messageTurn(text, beginning.length)] };
}

/**
 * Gives the beginning of a view that shows the covered raw events, those very ones and nothing else, so that a summary may be
 * asked for behind it; null when the view shows them in any other way. No compacted content ever reaches a summariser so.
 */
export function rawBeginning(view: View, covered: readonly Event[]): readonly ProjectedTurn[] | null {
  const wanted = covered.filter((event) => traitsOf(event).providerVisible);
  const beginning: ProjectedTurn[] = [];
  let left = wanted.length;
  for (const turn of view.turns) {
    if (left === 0) break;
    if (turn.origin.kind !== "kept") return null;
    const events = takeVisible(turn.events, left);
    beginning.push({ ...turn, events });
    left -= events.filter((event) => traitsOf(event).providerVisible).length;
  }
  const shown = beginning.flatMap(({ events }) => events).filter((event) => traitsOf(event).providerVisible);
  return wanted.length > 0 && left === 0 && shown.every((event, at) => event === wanted[at]) ? beginning : null;
}

/** The events up to the given number of those that a model is sent. */
function takeVisible(events: readonly Event[], count: number): readonly Event[] {
  let left = count;
  const end = events.findIndex((event) => traitsOf(event).providerVisible && left-- === 1);
  return end < 0 ? events : events.slice(0, end + 1);
}

const NO_TIME = "1970-01-01T00:00:00Z";

function messageTurn(text: string, turn: number): ProjectedTurn {
  return {
    origin: { kind: "kept", turn },
    events: [
      { type: "turn_start", id: "summary.turn", timestamp: NO_TIME },
      { type: "chat_request", id: "summary.request", timestamp: NO_TIME, content: text },
    ],
  };
}
