// Models by name: their facts, their clients, and which one answered last. choose-model.ts chooses the one to ask.
import { createHash } from "node:crypto";
import type { Config } from "../../config/config.ts";
import { fieldsOf, type Turn } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import {
  currentModel,
  formatModelName,
  inferProvider,
  type ListedName,
  type ModelName,
  parseModelName,
  servesFullWindow,
} from "../../core/model/model-name.ts";
import { knownProvider, type ModelPrice } from "../../core/model/model-provider.ts";
import { contextWindow, decideWindow, type KnownWindow } from "../../core/model/token-meter.ts";
import type { ListedModel, LlmClient, LlmConnection } from "../../llm/client.ts";
import { createClient } from "../../llm/create-client.ts";
import type { CountedView } from "../conversation/counted-view.ts";
import { type Runtime, readCacheFile, writeCacheFile } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { addressOf, configuredProviders, connectionTo } from "./model-connection.ts";
import { listedFacts, publishedFacts } from "./published-facts.ts";

/** Facts of a model; null = unknown, never 0. */
interface ModelFacts {
  /** Tokens that can be sent: as the user set, else as published. `viewWindow` decides the window of a view. */
  readonly contextWindow: number | null;
  /** As the user set (`providers.NAME.context_tokens`); absent = not set. */
  readonly setWindow?: number;
  /** Longest answer, tokens. */
  readonly maxOutput: number | null;
  readonly price: ModelPrice | null;
}

/** A model that can be asked. */
export interface OpenedModel {
  /** `provider/model`, in full. */
  readonly name: string;
  readonly provider: string;
  /** The provider's own name. */
  readonly model: string;
  readonly client: LlmClient;
  readonly facts: ModelFacts;
  /** Nobody named it: it may answer, but nothing else (see choose-model.ts). */
  readonly isAssumed?: true;
}

/** The model as one whose provider may be sent what is summarised; nothing for an assumed one. */
export function asAnswering({ name, isAssumed }: Pick<OpenedModel, "name" | "isAssumed">): {
  readonly answering?: string;
} {
  return isAssumed === true ? {} : { answering: name };
}

/**
 * Opens a model. Asks its provider for a list of models if the window is unknown; sends nothing else. Throws `bad_model_name`,
 * `unknown_provider`, `no_key`, `bad_key`, `key_command_failed`, `no_address`, `bad_address`.
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
 * Returns the facts of a model without key and network: from its provider's cached list, the published prices, the family's window.
 * Throws `bad_model_name`, `unknown_provider`, `no_address`, `bad_address`.
 */
export async function modelFacts(workspace: Workspace, config: Config, name: string): Promise<ModelFacts> {
  return factsOf(workspace, config, parseModelName(name, configuredProviders(config)));
}

/**
 * Returns the facts of a model as an agent recorded it; `provider` = as recorded, absent = not recorded. If it cannot be asked
 * here, its published facts are found in spite of a route in its name. Uses no key and no network.
 */
export async function recordedFacts(
  workspace: Workspace,
  config: Config,
  { provider, model }: ListedName,
): Promise<Pick<ModelFacts, "contextWindow" | "setWindow" | "price">> {
  const name = recordedName(provider, model);
  const known = name === null ? null : await modelFacts(workspace, config, name).catch(nothingOf);
  if (known !== null && known.price !== null && known.contextWindow !== null) return known;
  const published = await listedFacts(workspace.runtime, { model, provider });
  return {
    setWindow: known?.setWindow,
    // Other hosts may have smaller windows than makers publish.
    contextWindow:
      known?.contextWindow ?? (servesFullWindow(provider) ? (published.contextWindow ?? contextWindow(model)) : null),
    price: known?.price ?? published.price,
  };
}

/** Null for the errors of a provider that the settings do not have, or without an address. */
function nothingOf(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}

async function factsOf(
  workspace: Workspace,
  config: Config,
  name: ModelName,
  list?: readonly ListedModel[],
): Promise<ModelFacts> {
  const setWindow = config.providers[name.provider]?.context_tokens;
  const models = list ?? (await cachedList(workspace, config, name.provider)) ?? [];
  const listed = models.find((model) => model.name === name.model);
  const own = currentModel(name.provider, name.model);
  const isKnown = own?.price !== undefined && own.contextWindow !== undefined;
  const published = isKnown ? null : await publishedFacts(workspace.runtime, name);
  return {
    contextWindow:
      setWindow ?? listed?.contextWindow ?? own?.contextWindow ?? published?.contextWindow ?? contextWindow(name.model),
    setWindow,
    maxOutput: listed?.maxOutput ?? own?.maxOutput ?? null,
    // Providers' lists have no prices for cached tokens or large requests.
    price: own?.price ?? published?.price ?? flatPrice(listed),
  };
}

function flatPrice(listed: ListedModel | undefined): ModelPrice | null {
  if (listed?.price === undefined) return null;
  const { input, output } = listed.price;
  return { input, output, cacheRead: input, cacheWrite: input };
}

/** The cached list of a provider's models; null = none. */
export function cachedList(
  { runtime }: Workspace,
  config: Config,
  provider: string,
): Promise<readonly ListedModel[] | null> {
  const { address } = addressOf(runtime.env, config, provider);
  return readModelList(runtime, { provider, address });
}

/** Names that agents use for providers of jpg. */
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
 * The model of the newest answer as `provider/model`, the provider inferred if not recorded; null when no answer names a model that
 * can be asked and that `counts` accepts. An unknown provider is kept: it may be the user's own.
 */
export function conversationModel(
  turns: Iterable<Turn>,
  counts: (name: string) => boolean = () => true,
): string | null {
  let newest: string | null = null;
  for (const { events } of turns) {
    for (const { type, metadata } of events) {
      if (type !== "chat_response" && type !== "tool_call_request") continue;
      const name = typeof metadata?.model === "string" ? recordedName(metadata.provider, metadata.model) : null;
      if (name !== null && counts(name)) newest = name;
    }
  }
  return newest;
}

/** The model of an answer as `provider/model`; null when it cannot be asked. */
function recordedName(recorded: unknown, model: string): string | null {
  if (model === "" || /[\s<>]/.test(model)) return null; // `<synthetic>`: what agents write themselves
  const provider = typeof recorded === "string" && recorded !== "" ? (OTHER_NAMES[recorded] ?? recorded) : null;
  if (provider === null) {
    const inferred = inferProvider(model);
    return inferred === null ? null : formatModelName({ provider: inferred, model });
  }
  return formatModelName({ provider: knownProvider(provider.toLowerCase())?.name ?? provider, model });
}

// Caches providers' lists of models for a week in the user's cache folder, by address.

/** Milliseconds that a list is kept: 7 days. */
const LIST_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** Milliseconds until a provider without a list is asked again: an hour. Asking before each answer would delay them all. */
const NO_LIST_KEPT_MS = 60 * 60 * 1000;
/** Milliseconds for a provider's list: somebody waits for an answer of the model. */
const LIST_TIMEOUT_MS = 2_000;
const FORMAT = 1;

interface ListPlace {
  readonly provider: string;
  readonly address: string;
}

/** Reads the cached list of a provider; null when there is none that is new enough. */
async function readModelList(runtime: Runtime, place: ListPlace): Promise<readonly ListedModel[] | null> {
  const { format, fetched_at, models } = await readCacheFile(runtime, fileOf(place));
  if (format !== FORMAT || typeof fetched_at !== "string" || !Array.isArray(models)) return null;
  const age = runtime.now().getTime() - Date.parse(fetched_at);
  return age >= 0 && age < (models.length === 0 ? NO_LIST_KEPT_MS : LIST_KEPT_MS) ? models.flatMap(parseModel) : null;
}

/**
 * Asks a provider for its list and caches it; null when it has none, cannot be reached in time or refuses. Reports no error: the
 * request for an answer that follows will.
 */
export async function refreshModelList(
  runtime: Runtime,
  connection: LlmConnection,
): Promise<readonly ListedModel[] | null> {
  const models = await askForList(connection);
  if (models === "unreachable") return null;
  const place = { provider: connection.provider, address: connection.baseUrl ?? "" };
  const fetched_at = runtime.now().toISOString();
  await writeCacheFile(runtime, fileOf(place), { format: FORMAT, fetched_at, models: models ?? [] });
  return models;
}

async function askForList(connection: LlmConnection): Promise<readonly ListedModel[] | "unreachable" | null> {
  const client = await createClient({ ...connection, attempts: 1 });
  try {
    return (await client.listModels?.(AbortSignal.timeout(LIST_TIMEOUT_MS))) ?? null;
  } catch (error) {
    // The server may be started later and have a list then.
    return error instanceof JpgError && error.code === "provider_unreachable" ? "unreachable" : null;
  }
}

/** The name contains a digest of the address: two servers may have one provider's name. */
function fileOf({ provider, address }: ListPlace): string {
  const digest = createHash("sha256").update(address).digest("hex").slice(0, 12);
  return `models/${encodeURIComponent(provider)}-${digest}.json`;
}

function parseModel(value: unknown): readonly ListedModel[] {
  const { name, contextWindow, maxOutput, price, retires } = fieldsOf(value);
  if (typeof name !== "string") return [];
  const { input, output } = fieldsOf(price);
  return [
    {
      name,
      ...(isCount(contextWindow) && { contextWindow }),
      ...(isCount(maxOutput) && { maxOutput }),
      ...(isPrice(input) && isPrice(output) && { price: { input, output } }),
      ...(typeof retires === "string" && { retires }),
    },
  ];
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

function isPrice(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** A model and its window. */
interface ViewWindow {
  /** `provider/model`. */
  readonly model: string;
  /** Tokens that can be sent; null = unknown. */
  readonly tokens: number | null;
}

/** The model to ask next, with its facts. */
export interface NextModel {
  /** `provider/model`. */
  readonly name: string;
  readonly facts: Pick<ModelFacts, "contextWindow" | "setWindow">;
}

type Measured = Pick<CountedView, "turns" | "meter">;

/** Finds the window of the model to ask next, else of the one that answered last; null where none did. */
export async function viewWindow(
  workspace: Workspace,
  config: Config,
  { turns, meter, next }: Measured & { readonly next: NextModel | null },
): Promise<ViewWindow | null> {
  const model = next?.name ?? conversationModel(turns.values());
  if (model === null) return null;
  const facts = next?.facts ?? (await recordedFacts(workspace, config, splitName(model)));
  return { model, tokens: decideWindow(knownWindow(facts), meter.windowOf(model)) };
}

/** Splits `provider/model`. */
export function splitName(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

function knownWindow({ contextWindow, setWindow }: NextModel["facts"]): KnownWindow {
  return { published: contextWindow, set: setWindow };
}
