// The model that is asked where nobody named one and only one provider has a key (decision 030). Only for the answer of a query
// or a chat, never for a summary: the user may be asked first, and whoever cannot ask assumes nothing.
import { type Config, namedProviderOf, namedProviders } from "../../config/config.ts";
import { formatModelName, parseModelName, usualModel } from "../../core/model/model-name.ts";
import { MODEL_PROVIDERS } from "../../core/model/model-provider.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { configuredProviders, keySetting } from "./model-connection.ts";

/** A provider that has a key, and where it stands: a variable of the environment, or a setting. */
export interface KeyHolder {
  readonly provider: string;
  readonly setting: string;
}

/** Lists the providers that have a key, as errors list them. No key command is run. */
export function keyHolders({ runtime }: Workspace, config: Config): readonly KeyHolder[] {
  return MODEL_PROVIDERS.filter(({ needsKey }) => needsKey).flatMap(({ name: provider }) => {
    const setting = keySetting(runtime.env, config, provider);
    return setting === null ? [] : [{ provider, setting }];
  });
}

/** A model that nobody named. */
export interface AssumedModel extends KeyHolder {
  /** `provider/model`, in full. */
  readonly name: string;
  /** The conversation comes from elsewhere: the user is asked before it is sent. */
  readonly asks: boolean;
}

/**
 * Gives the model of the only provider with a key: the one that answered last (`last`), where it is of that provider, else the
 * provider's usual one. Null where the user named the provider of `last`, and where the keys and the settings speak of several
 * providers, or of none.
 */
export function assumeModel(
  workspace: Workspace,
  config: Config,
  { last, isNew }: { readonly last: string | null; readonly isNew: boolean },
): AssumedModel | null {
  const from = last === null ? null : namedProviderOf(last, config);
  if (from !== null && namedProviders(config).has(from)) return null;
  const [holder, ...others] = keyHolders(workspace, config);
  if (holder === undefined || others.length > 0) return null;
  const { provider } = holder;
  if (configuredProviders(config).some((name) => name !== provider)) return null;
  if (last !== null && from === provider)
    return { ...holder, name: formatModelName(parseModelName(last, configuredProviders(config))), asks: false };
  const model = usualModel(provider);
  return model === null ? null : { ...holder, name: formatModelName({ provider, model }), asks: !isNew };
}
