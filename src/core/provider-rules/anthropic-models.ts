// What differs between generations of Claude models, as a table of version ranges, so that a new model is a row and no
// code. A name that is not understood counts as older than every row.

/** What newer models do differently. */
export type ModelFeature =
  /** Messages of role `system` may stand inside the list. */
  | "system_messages"
  /** The last message may not be the assistant's (no prefill). */
  | "no_prefill";

interface ModelRange {
  readonly feature: ModelFeature;
  /** Family in the model's name; `*` = any. */
  readonly family: string;
  /** First version that has it: major, minor. */
  readonly from: readonly [number, number];
}

/** Sources: requests of Claude Code 2.1.330 (system messages); error text "does not support assistant message prefill". */
const RANGES: readonly ModelRange[] = [
  { feature: "system_messages", family: "opus", from: [4, 8] },
  { feature: "system_messages", family: "*", from: [5, 0] },
  { feature: "no_prefill", family: "opus", from: [4, 6] },
  { feature: "no_prefill", family: "sonnet", from: [4, 6] },
  { feature: "no_prefill", family: "*", from: [5, 0] },
];

/** `claude-opus-4-8`, `claude-sonnet-4-5-20250929`, `us.anthropic.claude-opus-4-6-v1:0`; a date is no minor version. */
const NAME = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** Tells whether a model has a feature; false without a model. */
export function hasModelFeature(model: string | undefined, feature: ModelFeature): boolean {
  const found = NAME.exec(model ?? "");
  if (found === null) return false;
  const [, family, major, minor = "0"] = found;
  return RANGES.some(
    (range) =>
      range.feature === feature &&
      (range.family === "*" || range.family === family) &&
      (Number(major) > range.from[0] || (Number(major) === range.from[0] && Number(minor) >= range.from[1])),
  );
}
