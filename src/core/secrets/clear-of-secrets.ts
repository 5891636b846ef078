// What may stand in a name: a text without the words that jpg's own rules take for secrets.
import { findSecrets } from "./find-secrets.ts";
import { looksRandom } from "./likely-secret.ts";

/** Characters from which on the last word of a text that was cut may be the beginning of a token. */
const LEAST_CUT_TOKEN = 12;

/** Leaves secrets out of a text, and a last word that was cut ("…") where it looks like the beginning of one. */
export function clearOfSecrets(text: string): string {
  let left = text;
  for (const { start, end } of findSecrets(text).toReversed()) left = `${left.slice(0, start)} ${left.slice(end)}`;
  return left.replace(/\S+…$/, (word) => (isCutToken(word.slice(0, -1)) ? "" : word));
}

function isCutToken(word: string): boolean {
  return word.length >= LEAST_CUT_TOKEN && looksRandom(word);
}
