// Models by name: which one is asked, what is known of it, and its client. A name that a person gave is never replaced by
// another; what jpg chooses itself is a model of the provider that the conversation already knows, or one that the settings
// name, and without either the summary is an extract that no model writes.
import type { Config } from "../config/config.ts";
import { EXTRACTIVE } from "../core/compaction.ts";
import { contextWindow } from "../core/context-window.ts";
import { cheapModel, currentModel } from "../core/current-models.ts";
import { JpgError } from "../core/errors.ts";
import { formatModelName, inferProvider, type ModelName, parseModelName } from "../core/model-name.ts";
import { knownProvider, MODEL_PROVIDERS, type ModelProvider } from "../core/model-provider.ts";
import type { Turn } from "../core/turn.ts";
import type { ModelPrice } from "../core/usage-price.ts";
import { createClient } from "../llm/create-client.ts";
import type { ListedModel, LlmClient } from "../llm/llm-client.ts";
import { ggufWindow } from "./gguf-connection.ts";
import {
  addressOf,
  configuredProviders,
  connectionTo,
  findProvider,
  isConfigured,
  isReady,
} from "./model-connection.ts";
import { readModelList, refreshModelList } from "./model-list-cache.ts";
import { publishedFacts } from "./published-facts.ts";
import type { Workspace } from "./workspace.ts";

/** What is known of a model; null = unknown, never 0. */
export interface ModelFacts {
  /** Tokens that can be sent. */
  readonly contextWindow: number | null;
  /** Longest answer, tokens. */
  readonly maxOutput: number | null;
  readonly price: ModelPrice | null;
}

/** A model that is ready to be asked. */
export interface OpenedModel {
  /** `provider/model`, in full. */
  readonly name: string;
  readonly provider: string;
  /** The provider's own name. */
  readonly model: string;
  readonly client: LlmClient;
  readonly facts: ModelFacts;
}

/**
 * Opens a model. Its provider is asked for its list of models when nothing is known of the window; nothing else is sent.
 * Throws `bad_model_name`, `unknown_provider`, `no_key`, `bad_key`, `key_command_failed`, `no_address`, `bad_address`, and for a
 * file `no_folder`, `bad_folder`, `library_missing`.
 */
export async function openModel(workspace: Workspace, config: Config, name: string): Promise<OpenedModel> {
  const found = parseModelName(name, configuredProviders(config));
  const connection = await connectionTo(workspace, config, found);
  const [client, known] = await Promise.all([createClient(connection), factsOf(workspace, config, found)]);
  let facts = known;
  if (facts.contextWindow === null && (await cachedList(workspace, config, found.provider)) === null) {
    const listed = await refreshModelList(workspace.runtime, connection);
    if (listed !== null) facts = await factsOf(workspace, config, found, listed);
  }
  return { name: formatModelName(found), ...found, client, facts };
}

/**
 * Tells what is known of a model, without key and network: what its provider listed lately, the published prices, the
 * family's window. Throws `bad_model_name`, `unknown_provider`, `no_address`, `bad_address`.
 */
export async function modelFacts(workspace: Workspace, config: Config, name: string): Promise<ModelFacts> {
  return factsOf(workspace, config, parseModelName(name, configuredProviders(config)));
}

async function factsOf(
  workspace: Workspace,
  config: Config,
  name: ModelName,
  list?: readonly ListedModel[],
): Promise<ModelFacts> {
  if (findProvider(config, name.provider).api === "gguf") {
    return { contextWindow: await ggufWindow(workspace.runtime, config, name), maxOutput: null, price: null };
  }
  const models = list ?? (await cachedList(workspace, config, name.provider)) ?? [];
  const listed = models.find((model) => model.name === name.model);
  const own = currentModel(name.provider, name.model);
  const isKnown = own?.price !== undefined && own.contextWindow !== undefined;
  const published = isKnown ? null : await publishedFacts(workspace.runtime, name);
  return {
    contextWindow: listed?.contextWindow ?? own?.contextWindow ?? published?.contextWindow ?? contextWindow(name.model),
    maxOutput: listed?.maxOutput ?? own?.maxOutput ?? null,
    // Lists have neither the prices of cached tokens nor those of large requests.
    price: own?.price ?? published?.price ?? flatPrice(listed),
  };
}

function flatPrice(listed: ListedModel | undefined): ModelPrice | null {
  if (listed?.price === undefined) return null;
  const { input, output } = listed.price;
  return { input, output, cacheRead: input, cacheWrite: input };
}

function cachedList({ runtime }: Workspace, config: Config, provider: string): Promise<readonly ListedModel[] | null> {
  const { address } = addressOf(runtime.env, config, provider);
  return readModelList(runtime, { provider, address });
}

/** From what the model of a conversation is chosen. */
export interface ModelChoice {
  readonly config: Config;
  /** `--model`. */
  readonly flag?: string;
  /** As `conversationModel` gives it. */
  readonly conversationModel?: string | null;
}

/**
 * Chooses the model that answers: the flag's, else the settings', else the one that answered last. Whether it can be asked
 * is `openModel`'s to say. Gives the name in full. Throws `no_model`, `bad_model_name`, `unknown_provider`.
 */
export async function chooseModel(workspace: Workspace, choice: ModelChoice): Promise<string> {
  const { config, flag, conversationModel: last } = choice;
  const name = [flag, config.conversation.model, last].find((candidate) => candidate != null && candidate !== "");
  if (name != null) return formatModelName(parseModelName(name, configuredProviders(config)));
  const { env } = workspace.runtime;
  const ready = MODEL_PROVIDERS.filter(({ name: provider, needsKey }) => needsKey && isReady(env, config, provider));
  throw new JpgError(
    "config",
    "no_model",
    "no model to ask: expected --model, conversation.model in the settings, or a conversation that a model answered in",
    {
      hints: [
        "type for example: --model anthropic/claude-sonnet",
        ready.length === 0
          ? "no provider has a key yet; ANTHROPIC_API_KEY, OPENAI_API_KEY and the like are read"
          : `a key is there for ${ready.map(({ name: provider }) => provider).join(", ")}`,
      ],
    },
  );
}

/** From what the model of a summary is chosen. */
export interface SummaryModelChoice extends ModelChoice {
  /** `summary.model` of the profile. */
  readonly profileModel?: string;
}

/**
 * Chooses the model that writes a summary: the one that the flag, the profile or `compaction.model` names, whether it can be
 * asked or not; else the first that can be: the cheap model of the conversation's provider, the conversation's model, the
 * same of `conversation.model`, the cheap model of a provider whose key stands in the settings, the first model of a local
 * server that the user set up. Without any: `extractive`. Gives the name in full. Throws `bad_model_name`, `unknown_provider`
 * for a named one.
 */
export async function chooseSummaryModel(workspace: Workspace, choice: SummaryModelChoice): Promise<string> {
  const { config, flag, profileModel, conversationModel: last } = choice;
  const named = [flag, profileModel, config.conversation.compaction.model].find(
    (name) => name !== undefined && name !== "",
  );
  if (named === EXTRACTIVE) return EXTRACTIVE;
  if (named !== undefined) return formatModelName(parseModelName(named, configuredProviders(config)));
  for (const name of [last, config.conversation.model]) {
    const found = name == null || name === "" ? null : readyName(workspace, config, name);
    if (found !== null) return formatModelName(await cheapOf(workspace, config, found));
  }
  const { env } = workspace.runtime;
  for (const provider of MODEL_PROVIDERS.filter((candidate) => isConfigured(env, config, candidate))) {
    const model = await modelOfSettings(workspace, config, provider).catch(unlessRefused);
    if (model !== null) return formatModelName({ provider: provider.name, model });
  }
  return EXTRACTIVE;
}

/** A name whose provider can be asked; null for any other, also one that a newer jpg or another program wrote. */
function readyName({ runtime }: Workspace, config: Config, name: string): ModelName | null {
  try {
    const found = parseModelName(name, configuredProviders(config));
    return isReady(runtime.env, config, found.provider) ? found : null;
  } catch (error) {
    return unlessRefused(error);
  }
}

/** The cheap model of the same provider; a server of the user's own has only what it runs. */
async function cheapOf(workspace: Workspace, config: Config, name: ModelName): Promise<ModelName> {
  const listed = (await cachedList(workspace, config, name.provider)) ?? [];
  return { provider: name.provider, model: cheapModel(name.provider, listed) ?? name.model };
}

/** The cheap model of a provider that the settings give a key for; of a local server the first that it lists. */
async function modelOfSettings(
  workspace: Workspace,
  config: Config,
  { name: provider, isLocal }: ModelProvider,
): Promise<string | null> {
  if (!isLocal) return cheapModel(provider, (await cachedList(workspace, config, provider)) ?? []);
  const connection = await connectionTo(workspace, config, { provider, model: "" });
  const listed = await refreshModelList(workspace.runtime, connection);
  return listed?.[0]?.name ?? null;
}

/** A provider that nobody named and that cannot be asked is passed over; naming it tells why. */
function unlessRefused(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}

/** What agents call providers that jpg knows by another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "openai-codex": "openai",
  "openai-responses": "openai",
  gemini: "google",
  "google-gemini-cli": "google",
  "google-antigravity": "google",
  "lm-studio": "lmstudio",
  "llama.cpp": "llamacpp",
};

/**
 * Gives the model of the newest answer as `provider/model`, the provider inferred where none is recorded; null when no
 * answer names a model that can be asked for. A provider that jpg does not know stays as it is: it may be one of the user's.
 */
export function conversationModel(turns: Iterable<Turn>): string | null {
  let newest: string | null = null;
  for (const { events } of turns) {
    for (const { type, metadata } of events) {
      if (type !== "chat_response" && type !== "tool_call_request") continue;
      if (typeof metadata?.model === "string") newest = recordedName(metadata.provider, metadata.model) ?? newest;
    }
  }
  return newest;
}

function recordedName(recorded: unknown, model: string): string | null {
  if (model === "" || /[\s<>]/.test(model)) return null; // `<synthetic>`: what agents write themselves
  const provider = typeof recorded === "string" && recorded !== "" ? (OTHER_NAMES[recorded] ?? recorded) : null;
  if (provider === null) {
    const inferred = inferProvider(model);
    return inferred === null ? null : formatModelName({ provider: inferred, model });
  }
  return formatModelName({ provider: knownProvider(provider.toLowerCase())?.name ?? provider, model });
}
