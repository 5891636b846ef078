// Why an answer ended: a provider's word for it, as one of ours.
import type { StopReason } from "./llm-client.ts";

/** The reason that a provider's word stands for; `unknown` for words that are not in its table, and for none. */
export function stopReason(words: Readonly<Record<string, StopReason>>, word: string | null): StopReason {
  return word !== null && Object.hasOwn(words, word) ? (words[word] ?? "unknown") : "unknown";
}
