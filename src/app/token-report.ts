// Tokens as the reports give them: raw and of the view, with who counted them. One place, so that every command says the
// same of the same conversation.
import { createTokenMeter, type TokenMeter, type TokenSource } from "../core/tokens/token-meter.ts";
import type { LoadedWhole } from "./load-view.ts";

/** Tokens of a conversation, system prompt and tools included where they are known. */
export interface TokenReport {
  readonly tokens: { readonly raw: number; readonly view: number };
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
}

/** Creates the meter of a branch that was loaded whole. */
export function meterOf({ turns, live }: LoadedWhole): TokenMeter {
  return createTokenMeter(turns.values(), live.applied);
}

/** Counts a branch that was loaded whole. */
export function reportTokens({ view, live }: LoadedWhole, meter: TokenMeter): TokenReport {
  const raw = meter.countHistory();
  const shown = meter.countView(view, live.applied);
  return { tokens: { raw: raw.tokens, view: shown.tokens }, tokens_source: worstSource([raw.source, shown.source]) };
}

/** What may be said of several counts at once: `recorded` only when all are. */
export function worstSource(sources: readonly TokenSource[]): TokenSource {
  return sources.every((source) => source === "recorded") ? "recorded" : "estimate";
}
