// What is summarised and how its summary is judged, as the steps of writing one hand it to each other.

import type { SummaryFacts } from "../../core/compact/summary-answer.ts";
import { type SummaryTemplate, type TaskOptions, withoutSections } from "../../core/compact/summary-prompt.ts";
import type { PlacedEvent } from "../../core/compact/transcript.ts";
import type { ProjectedTurn } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import type { Summarizer } from "./ask-summary.ts";
import type { RequestFrame } from "./request-frame.ts";

/** The conversation's own thread, behind which a summary may be asked for. */
export interface SuffixThread {
  readonly beginning: readonly ProjectedTurn[];
  readonly frame: RequestFrame;
  /** Tokens of all of it, estimated. */
  readonly tokens: number;
}

/** What is summarised, and how it is judged. */
export interface SummarySource {
  /** Raw events, in order. */
  readonly events: readonly PlacedEvent[];
  readonly task: TaskOptions;
  /** Context window of the model, tokens. */
  readonly windowTokens: number;
  readonly countText: (text: string) => number;
  /** Most tokens of the summary; absent = not looked at. */
  readonly mostTokens?: number;
  /** Whether the events must bear out what it says. */
  readonly isStrict: boolean;
  readonly suffix: SuffixThread | null;
}

/** What an answer over events is judged by. */
export function factsFor(
  summarizer: Pick<Summarizer, "templates">,
  source: Pick<SummarySource, "countText" | "mostTokens" | "isStrict" | "task">,
  events: readonly PlacedEvent[],
): SummaryFacts {
  const { countText, mostTokens, isStrict } = source;
  return {
    template: judgedTemplate(summarizer, source),
    countText,
    ...defined({ mostTokens }),
    ...(isStrict ? { raw: events.map(({ event }) => event) } : {}),
  };
}

/** The sections that an answer must have: none where somebody's own instructions were followed. */
export function judgedTemplate(
  { templates }: Pick<Summarizer, "templates">,
  { task }: Pick<SummarySource, "task">,
): SummaryTemplate {
  return task.instructions === undefined ? templates.summary : withoutSections(templates.summary);
}
