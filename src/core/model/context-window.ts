// How many tokens a model takes at once, by family, where nothing better is known. Facts of the providers' model pages of
// 2026; a model that is not listed is unknown, never guessed. Which window a view is held against is decided in
// src/app/models/view-window.ts.

/** Tokens of the window by the beginning of the model's name; the first that fits counts. */
const WINDOWS: readonly (readonly [prefix: RegExp, tokens: number])[] = [
  [/^claude-(?:instant|[123](?:[.-]|$)|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@|$))/, 200_000],
  [/^claude-/, 1_000_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_048_576],
];

/** The window taken where the model is unknown: that of most coding agents' models. Tokens. */
export const USUAL_WINDOW = 200_000;

/** Gives the context window of a model (`claude-opus-4-8`, or with its provider before a slash), tokens; null when it is not known. */
export function contextWindow(model: string): number | null {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return WINDOWS.find(([prefix]) => prefix.test(name))?.[1] ?? null;
}
