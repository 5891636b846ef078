// Tokens of a plain text, estimated on the safe side: for deciding whether a request fits a model's window, where too low a
// number costs a failed call and too high a one only an earlier cut.

/** Characters of ASCII text that a token holds, at the least: code, logs and JSON (prose holds 4). */
const ASCII_CHARS = 2.7;

/** Estimates the tokens of a text, not below what a model's tokenizer gives, rounded up: one for each character of other scripts. */
export function estimateTextTokens(text: string): number {
  let other = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) other += 1;
  return Math.ceil((text.length - other) / ASCII_CHARS + other);
}
