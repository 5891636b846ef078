// What differs between the models that Google's API serves, as a table, so that a new model is a row and no code. A name
// that is not understood counts as an older Gemini.

/** What some models want. */
export type GoogleFeature =
  /** The first call of each step carries a thought signature (G8). */
  | "signed_calls"
  /** Calls and results carry ids. */
  | "call_ids";

interface ModelRange {
  readonly feature: GoogleFeature;
  /** How the name's family begins, route left out. */
  readonly family: "gemini" | "claude" | "gpt-oss";
  /** First major version that has it. */
  readonly from: number;
}

/** Sources: ai.google.dev, thought signatures and function calling; pi `google-shared.ts` (ids for Claude and gpt-oss). */
const RANGES: readonly ModelRange[] = [
  { feature: "signed_calls", family: "gemini", from: 3 },
  { feature: "call_ids", family: "gemini", from: 3 },
  { feature: "call_ids", family: "claude", from: 0 },
  { feature: "call_ids", family: "gpt-oss", from: 0 },
];

/** `gemini-3-pro-preview`, `models/gemini-2.5-flash`, `publishers/google/models/gemini-3.1-pro`, `claude-opus-4-8@default`. */
const NAME = /(?:^|\/)(gemini|claude|gpt-oss)-(\d+)?/;

/** Tells whether a model has a feature; false without a model. */
export function hasGoogleFeature(model: string | undefined, feature: GoogleFeature): boolean {
  const [, family, major = "0"] = NAME.exec(model?.toLowerCase() ?? "") ?? [];
  return RANGES.some((range) => range.feature === feature && range.family === family && Number(major) >= range.from);
}
