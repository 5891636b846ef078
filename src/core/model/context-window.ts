// How many tokens a model takes at once, by family, where nothing better is known. Facts of the providers' model pages of
// 2026; a model that is not listed is unknown, never guessed. Which window a view is held against is decided in
// src/app/models/view-window.ts.
import { modelFamily } from "./model-family.ts";

/** Tokens of the window by the beginning of the model's family; the first that fits counts. */
const WINDOWS: readonly (readonly [prefix: RegExp, tokens: number])[] = [
  [/^claude-(?:instant|[123](?:-|$)|(?:opus|sonnet|haiku)-4(?:-[0-5])?$)/, 200_000],
  [/^claude-/, 1_000_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_048_576],
];

/** The window taken where the model is unknown: that of most coding agents' models. Tokens. */
export const USUAL_WINDOW = 200_000;

/** A session that asked for the larger window, as Claude Code writes it. */
const MILLION_NAME = /\[1m\]$/i;

/** Gives the context window of a model, whatever route or date stands in its name (`us.anthropic.claude-opus-4-8-v1:0`), tokens; null when it is not known. */
export function contextWindow(model: string): number | null {
  if (MILLION_NAME.test(model)) return 1_000_000;
  const family = modelFamily(model);
  return WINDOWS.find(([beginning]) => beginning.test(family))?.[1] ?? null;
}
