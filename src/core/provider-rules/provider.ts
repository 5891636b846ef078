// The providers whose rules jpg knows, by the shape of what they are sent.

/** Names as the user types them. */
export const PROVIDER_NAMES = ["anthropic", "openai-chat", "openai-responses", "google"] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** How names of a provider's models begin, route left out. */
const MODELS: readonly (readonly [RegExp, ProviderName])[] = [
  [/claude/, "anthropic"],
  [/gemini/, "google"],
  [/(?:^|[/.])(?:gpt-[4-9]|gpt-\d{2}|o\d|codex)/, "openai-responses"],
];

/** The provider that a model's name or a maker's name speaks of; absent when neither is known. */
export function providerOf(model: string | undefined, maker?: string): ProviderName | undefined {
  const named = MODELS.find(([pattern]) => pattern.test(model?.toLowerCase() ?? ""))?.[1];
  if (named !== undefined) return named;
  if (maker === "openai") return "openai-responses";
  return PROVIDER_NAMES.find((name) => name === maker);
}

/** Whether a word names a provider. */
export function isProviderName(word: string): word is ProviderName {
  return (PROVIDER_NAMES as readonly string[]).includes(word);
}
