// How many tokens a model's tokenizer makes of what the plain estimate counts as one, where no usage was recorded to tell.
// Measured on sessions with usage: docs/decisions/029-one-meter.md says how. A model that is not listed counts as estimated.
import { modelFamily } from "./model-family.ts";

/** Claude's tokenizer up to 4.6, and the one since. */
const CLAUDE = 1.05;
const CLAUDE_SINCE_4_7 = 1.5;

const OLDER_CLAUDE = /^claude-(?:instant|[123](?:[.-]|$)|(?:opus|sonnet|haiku)-(?:3|4)(?:-[0-6])?$)/;

/** Gives the tokens of a model per estimated token; 1 where nothing is known. */
export function tokenizerFactor(model: string | null): number {
  const family = modelFamily(model ?? "");
  if (!/^claude-(?:instant|opus|sonnet|haiku|fable|\d)/.test(family)) return 1;
  return OLDER_CLAUDE.test(family) ? CLAUDE : CLAUDE_SINCE_4_7;
}
