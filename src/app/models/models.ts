// Models by name: what is known of one, its client, and which one answered last. choose-model.ts says which is asked.
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
  servesWhole,
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

/** What is known of a model; null = unknown, never 0. */
interface ModelFacts {
  /** Tokens that can be sent: what the user set, else what is published. A view's window is decided by `viewWindow`. */
  readonly contextWindow: number | null;
  /** What the user set (`providers.NAME.context_tokens`); absent = nothing. */
  readonly setWindow?: number;
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
  /** Nobody named it: it answers, and nothing more (see choose-model.ts). */
  readonly isAssumed?: true;
}

/** Names a model as the one whose provider may be sent what a summary is made of; nothing for one that was assumed. */
export function asAnswering({ name, isAssumed }: Pick<OpenedModel, "name" | "isAssumed">): {
  readonly answering?: string;
} {
  return isAssumed === true ? {} : { answering: name };
}

/**
 * Opens a model. Its provider is asked for its list of models when nothing is known of the window; nothing else is sent.
 * Throws `bad_model_name`, `unknown_provider`, `no_key`, `bad_key`, `key_command_failed`, `no_address`, `bad_address`.
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

/**
 * Tells what is known of a model as an agent recorded it: `provider` = as recorded, absent = not. It need not be one that can be
 * asked here: of such a one the published facts are looked up, whatever route stands in its name. Without key and network.
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
    // Other hosts may cut the windows that makers publish.
    contextWindow:
      known?.contextWindow ?? (servesWhole(provider) ? (published.contextWindow ?? contextWindow(model)) : null),
    price: known?.price ?? published.price,
  };
}

/** Its provider is none of the settings', or none that has an address here. */
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
    // Lists have neither the prices of cached tokens nor those of large requests.
    price: own?.price ?? published?.price ?? flatPrice(listed),
  };
}

function flatPrice(listed: ListedModel | undefined): ModelPrice | null {
  if (listed?.price === undefined) return null;
  const { input, output } = listed.price;
  return { input, output, cacheRead: input, cacheWrite: input };
}

/** The models that a provider listed lately; null = nothing is known. */
export function cachedList(
  { runtime }: Workspace,
  config: Config,
  provider: string,
): Promise<readonly ListedModel[] | null> {
  const { address } = addressOf(runtime.env, config, provider);
  return readModelList(runtime, { provider, address });
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
 * answer names a model that can be asked for and that `counts`. A provider that jpg does not know stays as it is: it may be one of the user's.
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

/** Names the model of an answer as `provider/model`; null when it is none that can be asked for. */
function recordedName(recorded: unknown, model: string): string | null {
  if (model === "" || /[\s<>]/.test(model)) return null; // `<synthetic>`: what agents write themselves
  const provider = typeof recorded === "string" && recorded !== "" ? (OTHER_NAMES[recorded] ?? recorded) : null;
  if (provider === null) {
    const inferred = inferProvider(model);
    return inferred === null ? null : formatModelName({ provider: inferred, model });
  }
  return formatModelName({ provider: knownProvider(provider.toLowerCase())?.name ?? provider, model });
}

// What providers told of their models, kept for a week in the user's cache folder. A list belongs to one address.

/** How long a list counts, milliseconds: 7 days. */
const TIME_KEPT = 7 * 24 * 60 * 60 * 1000;
/** How long it counts that a provider gave none, milliseconds: an hour. Asked before each answer, it would delay them all. */
const TIME_WITHOUT = 60 * 60 * 1000;
/** Time that a provider has for its list, milliseconds: somebody waits for an answer of the model. */
const LIST_TIME = 2_000;
const FORMAT = 1;

/** Whose list. */
interface ListPlace {
  readonly provider: string;
  readonly address: string;
}

/** Reads the list of a provider; null when there is none that is young enough. */
async function readModelList(runtime: Runtime, place: ListPlace): Promise<readonly ListedModel[] | null> {
  const { format, fetched_at, models } = await readCacheFile(runtime, fileOf(place));
  if (format !== FORMAT || typeof fetched_at !== "string" || !Array.isArray(models)) return null;
  const age = runtime.now().getTime() - Date.parse(fetched_at);
  return age >= 0 && age < (models.length === 0 ? TIME_WITHOUT : TIME_KEPT) ? models.flatMap(parseModel) : null;
}

/**
 * Asks a provider for its list and keeps it; null when it has none, cannot be reached in time or refuses. The request for
 * an answer that follows says what is wrong, so nothing is said here.
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
    return (await client.listModels?.(AbortSignal.timeout(LIST_TIME))) ?? null;
  } catch (error) {
    // A server that is started later has a list then.
    return error instanceof JpgError && error.code === "provider_unreachable" ? "unreachable" : null;
  }
}

/** The address is part of the name as a digest: two servers may stand behind one provider's name. */
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

/** A model that is asked next, with what is known of it. */
export interface NextModel {
  /** `provider/model`. */
  readonly name: string;
  readonly facts: Pick<ModelFacts, "contextWindow" | "setWindow">;
}

type Measured = Pick<CountedView, "turns" | "meter">;

/** Finds the window of the model that is asked next, else of the one that answered last; null where none did. */
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

function splitName(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

function knownWindow({ contextWindow, setWindow }: NextModel["facts"]): KnownWindow {
  return { published: contextWindow, set: setWindow };
}
