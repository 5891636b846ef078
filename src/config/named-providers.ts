// The providers that settings name: those that have a table, and those of the models that are named. Only these may be sent
// a conversation's text; which layers may name one is layer-trust.ts's to say (decision 019).
import { JpgError } from "../core/errors.ts";
import { parseModelName } from "../core/model/model-name.ts";
import type { Config } from "./config.ts";

/** Lists the names of the providers that the settings name. */
export function namedProviders(config: Config): ReadonlySet<string> {
  const { model, compaction } = config.conversation;
  const summaries = Object.values(compaction.profiles).map(({ summary }) => summary?.model);
  const models = [model, compaction.model, ...summaries].flatMap((name) => {
    const provider = name === undefined ? null : namedProviderOf(name, config);
    return provider === null ? [] : [provider];
  });
  return new Set([...Object.keys(config.providers), ...models]);
}

/** The provider of a model by its name; null where it is none that can be told. */
export function namedProviderOf(model: string, { providers }: Pick<Config, "providers">): string | null {
  try {
    return parseModelName(model, Object.keys(providers)).provider;
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}
