// How a provider is reached: its API, address and key, from the settings that the user trusts, else from the environment
// variables of the provider's own library. Invariant: a key goes only to the address that stands for the same provider, and
// no layer without trust names either (see config/layer-trust.ts).
import type { Config, ProviderConfig } from "../../config/config.ts";
import { JpgError } from "../../core/errors.ts";
import { knownProvider, type ModelProvider, ollamaAddress, resolveAddress } from "../../core/model/model-provider.ts";
import type { LlmConnection } from "../../llm/client.ts";
import type { Runtime } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { ggufConnection } from "./gguf-connection.ts";
import { runKeyCommand } from "./key-command.ts";

type Environment = Runtime["env"];

/** The names of the providers that the settings speak of. */
export function configuredProviders(config: Config): readonly string[] {
  return Object.keys(config.providers);
}

/** Finds a provider by name, as the settings change it. Throws `no_address` for one of the user's own without an address. */
export function findProvider(config: Config, name: string): ModelProvider {
  const { api, base_url } = settingsOf(config, name);
  const known = knownProvider(name);
  if (known !== undefined) return api === undefined ? known : { ...known, api };
  if (base_url === undefined) {
    const setting = settingName(name, "base_url");
    throw new JpgError("config", "no_address", `The provider ${name} cannot be reached: expected ${setting}.`, {
      hints: [`Set ${setting} to the address of its API, for example: "http://127.0.0.1:8000/v1"`],
      data: { setting },
    });
  }
  return {
    name,
    api: api ?? "openai-chat",
    address: base_url,
    path: "",
    keyVariables: [],
    addressVariable: null,
    needsKey: false,
    isLocal: false,
  };
}

/** Where a provider is reached, and the setting that says so. */
export interface ProviderAddress {
  readonly address: string;
  readonly setting: string;
}

/** Gives the address of a provider: the settings' word, else the environment's, else its own. Throws `bad_address`, `no_address`. */
export function addressOf(env: Environment, config: Config, name: string): ProviderAddress {
  const provider = findProvider(config, name);
  const setting = settingName(name, "base_url");
  const { base_url } = settingsOf(config, name);
  if (base_url !== undefined) return { address: resolveAddress(provider, base_url, setting), setting };
  const { addressVariable: variable } = provider;
  const value = variable === null ? undefined : variableValue(env, variable);
  if (variable === null || value === undefined) return { address: provider.address, setting: variable ?? setting };
  const written = name === "ollama" ? ollamaAddress(value) : value;
  return { address: resolveAddress(provider, written, variable), setting: variable };
}

/** Whether a provider can be asked: it has a key or needs none, and its files a folder. No program is run. */
export function isReady(env: Environment, config: Config, name: string): boolean {
  const provider = findProvider(config, name);
  if (provider.api === "gguf") return settingsOf(config, name).folder !== undefined;
  return !provider.needsKey || keySource(env, config, provider) !== null;
}

/** Gives where the key of a provider stands, a variable or a setting; null when it has none. No program is run. */
export function keySetting(env: Environment, config: Config, name: string): string | null {
  return keySource(env, config, findProvider(config, name))?.setting ?? null;
}

/** Whether the settings give a key for a provider, or name a local server. Variables of the environment name none. */
export function isConfigured(config: Config, { name, api, isLocal }: ModelProvider): boolean {
  if (config.providers[name] === undefined) return false;
  const { api_key, key_command } = settingsOf(config, name);
  // Files are not listed: none of them is the one that was meant.
  return api_key !== undefined || key_command !== undefined || (isLocal && api !== "gguf");
}

/**
 * Resolves how a provider is reached; its key command is run. `model` is named in errors. Throws `no_key`, `bad_key`,
 * `key_command_failed`, `bad_address`, `no_address`; for a file `no_folder`, `bad_folder`, `bad_model_name`.
 */
export async function connectionTo(
  workspace: Workspace,
  config: Config,
  { provider: name, model }: { readonly provider: string; readonly model: string },
): Promise<LlmConnection> {
  const { env } = workspace.runtime;
  const provider = findProvider(config, name);
  if (provider.api === "gguf") return ggufConnection(workspace.runtime, config, { provider: name, model });
  const { address, setting: urlSetting } = addressOf(env, config, name);
  const source = keySource(env, config, provider);
  if (source === null && provider.needsKey) throw noKey(provider, model);
  const keySetting = source?.setting ?? provider.keyVariables[0] ?? settingName(name, "api_key");
  const connection = { provider: name, api: provider.api, baseUrl: address, keySetting, urlSetting };
  if (source === null) return connection;
  const key = source.key ?? (await runKeyCommand(workspace, source.command, { setting: source.setting }));
  return { ...connection, apiKey: checkKey(key, source.setting) };
}

/** Where a key comes from: one that stands there, or a program that prints it. */
type KeySource =
  | { readonly setting: string; readonly key: string }
  | { readonly setting: string; readonly key?: undefined; readonly command: string };

function keySource(env: Environment, config: Config, { name, keyVariables }: ModelProvider): KeySource | null {
  const { api_key, key_command } = settingsOf(config, name);
  if (api_key !== undefined) return { setting: settingName(name, "api_key"), key: api_key.trim() };
  if (key_command !== undefined) return { setting: settingName(name, "key_command"), command: key_command };
  for (const variable of keyVariables) {
    const key = variableValue(env, variable);
    if (key !== undefined) return { setting: variable, key };
  }
  return null;
}

/** Other characters would be refused by the HTTP client, which shows the whole header in its error. */
function checkKey(key: string, setting: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new JpgError(
    "provider",
    "bad_key",
    `The key in ${setting} cannot be used: expected printable ASCII without blanks.`,
    {
      hints: [`Correct ${setting}.`],
      data: { setting },
    },
  );
}

function noKey({ name, keyVariables }: ModelProvider, model: string): JpgError {
  const [variable] = keyVariables;
  const settings = [...keyVariables, settingName(name, "key_command"), settingName(name, "api_key")];
  return new JpgError(
    "provider",
    "no_key",
    `${name}/${model} cannot be asked: no key for ${name}: expected one of ${settings.join(", ")}.`,
    {
      hints: [
        ...(variable === undefined ? [] : [`Set it: export ${variable}=…`]),
        `Or set providers.${name}.key_command in your settings (\`jpg config --show-origin\` names the file).`,
        "Or name another model with --model.",
      ],
      data: { provider: name, model, settings },
    },
  );
}

function settingsOf({ providers }: Config, name: string): ProviderConfig {
  return providers[name] ?? {};
}

function settingName(provider: string, key: keyof ProviderConfig): string {
  return `providers.${provider}.${key}`;
}

/** An environment variable's value; undefined when it is unset or blank. */
function variableValue(env: Environment, variable: string): string | undefined {
  const value = env[variable]?.trim();
  return value === "" ? undefined : value;
}
