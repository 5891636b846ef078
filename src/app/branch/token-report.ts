// Tokens as the reports give them: raw and of the view, with who counted them. One place, so that every command says the
// same of the same conversation.
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import type { CountedView } from "./counted-view.ts";

/** Tokens of a conversation, system prompt and tools included where they are known. */
export interface TokenReport {
  readonly tokens: { readonly raw: number; readonly view: number };
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
  /** Where the size of system prompt and tools is from; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
}

/** Counts a branch, all of it and its view. */
export function reportTokens({ view, live, meter }: Pick<CountedView, "view" | "live" | "meter">): TokenReport {
  const raw = meter.countHistory();
  const shown = meter.countView(view, live.applied);
  const { overheadSource } = meter;
  return {
    tokens: { raw: raw.tokens, view: shown.tokens },
    tokens_source: worstSource([raw.source, shown.source]),
    ...(overheadSource === "recorded" ? {} : { overhead_source: overheadSource }),
  };
}

/** What may be said of several counts at once: `recorded` only when all are. */
export function worstSource(sources: readonly TokenSource[]): TokenSource {
  return sources.every((source) => source === "recorded") ? "recorded" : "estimate";
}
