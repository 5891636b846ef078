// How to reach a provider: its API, address and key, from the settings that the user trusts, else from the environment variables of
// the provider's own library. Invariant: a key is sent only to the address of the same provider, and no untrusted layer names
// either (see config/layers.ts).
import type { Config, ProviderConfig } from "../../config/config.ts";
import { splitCommandWords } from "../../core/compact/shell-read.ts";
import { asSentence, JpgError } from "../../core/errors.ts";
import { knownProvider, type ModelProvider, ollamaAddress, resolveAddress } from "../../core/model/model-provider.ts";
import type { LlmConnection } from "../../llm/client.ts";
import { withoutRepository } from "../../store/environment.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { askProgram } from "./external-process.ts";

type Environment = Runtime["env"];

/** The names of the providers in the settings. */
export function configuredProviders(config: Config): readonly string[] {
  return Object.keys(config.providers);
}

/** Finds a provider by name, with changes from the settings. Throws `no_address` for one of the user's own without an address. */
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

/** The address of a provider, and the setting that it is from. */
interface ProviderAddress {
  readonly address: string;
  readonly setting: string;
}

/**
 * Returns the address of a provider: from the settings, else from the environment, else its own. Throws `bad_address`,
 * `no_address`.
 */
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

/** Whether a provider can be asked: it has a key or needs none. Runs no program. */
export function isReady(env: Environment, config: Config, name: string): boolean {
  const provider = findProvider(config, name);
  return !provider.needsKey || keySource(env, config, provider) !== null;
}

/** Returns the variable or setting with the key of a provider; null when it has none. Runs no program. */
export function keySetting(env: Environment, config: Config, name: string): string | null {
  return keySource(env, config, findProvider(config, name))?.setting ?? null;
}

/** Whether the settings have a key for a provider, or name a local server. Variables of the environment do not count. */
export function isConfigured(config: Config, { name, isLocal }: ModelProvider): boolean {
  if (config.providers[name] === undefined) return false;
  const { api_key, key_command } = settingsOf(config, name);
  return api_key !== undefined || key_command !== undefined || isLocal;
}

/**
 * Resolves how to reach a provider; runs its key command. `model` is named in errors. Throws `no_key`, `bad_key`,
 * `key_command_failed`, `bad_address`, `no_address`.
 */
export async function connectionTo(
  workspace: Workspace,
  config: Config,
  { provider: name, model }: { readonly provider: string; readonly model: string },
): Promise<LlmConnection> {
  const { env } = workspace.runtime;
  const provider = findProvider(config, name);
  const { address, setting: urlSetting } = addressOf(env, config, name);
  const source = keySource(env, config, provider);
  if (source === null && provider.needsKey) throw noKey(provider, model);
  const keySetting = source?.setting ?? provider.keyVariables[0] ?? settingName(name, "api_key");
  const connection = { provider: name, api: provider.api, baseUrl: address, keySetting, urlSetting };
  if (source === null) return connection;
  const key = source.key ?? (await runKeyCommand(workspace, source.command, { setting: source.setting }));
  return { ...connection, apiKey: checkKey(key, source.setting) };
}

/** A key itself, or a program that prints it. */
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

/** Refuses other characters: the HTTP client would, too, but with the whole header in its error. */
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

// Gets a provider's key from the program that the user named for it. Its output is never shown, logged or kept after this call of
// jpg.

/** Milliseconds for a key: a password store may have to be unlocked. */
const KEY_TIMEOUT_MS = 10_000;
/** Longest output, bytes. */
const MAX_KEY_BYTES = 64 * 1024;

/** Keys by command line, for each open store: a password store is asked once, even if there are several copies of the workspace. */
const known = new WeakMap<Workspace["store"], Map<string, Promise<string>>>();

/**
 * Runs a provider's key command, without a shell, and returns the first line that it prints. Errors name `setting`, never the
 * command. Throws `key_command_failed`.
 */
export async function runKeyCommand(
  workspace: Workspace,
  commandLine: string,
  { setting, timeoutMs = KEY_TIMEOUT_MS }: { readonly setting: string; readonly timeoutMs?: number },
): Promise<string> {
  const keys = known.get(workspace.store) ?? new Map<string, Promise<string>>();
  known.set(workspace.store, keys);
  const asked = keys.get(commandLine) ?? askForKey(workspace, commandLine, { setting, timeoutMs });
  keys.set(commandLine, asked);
  try {
    return await asked;
  } catch (error) {
    keys.delete(commandLine);
    throw error;
  }
}

async function askForKey(
  { location, runtime }: Workspace,
  commandLine: string,
  { setting, timeoutMs }: { readonly setting: string; readonly timeoutMs: number },
): Promise<string> {
  const command = splitCommandWords(commandLine) ?? [];
  if (command.length === 0) {
    throw failed(setting, "is not a command line: expected a program, with every quote closed");
  }
  const cwd = location.project?.root ?? location.root;
  const env = withoutRepository(runtime.env);
  const answer = await askProgram({ command, input: "", cwd, env, timeoutMs, maxBytes: MAX_KEY_BYTES });
  if ("problem" in answer) throw failed(setting, answer.problem);
  const key = (answer.output.split("\n")[0] ?? "").trim();
  if (key === "") throw failed(setting, "printed nothing: expected the key on its first line");
  return key;
}

function failed(setting: string, problem: string): JpgError {
  return new JpgError("provider", "key_command_failed", `The program of ${setting} ${asSentence(problem)}`, {
    hints: [`Run the program of ${setting} yourself, then correct the setting.`],
    data: { setting },
  });
}
