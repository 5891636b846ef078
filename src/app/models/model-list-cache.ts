// What providers told of their models, kept for a week in the user's cache folder. A list belongs to one address.
import { createHash } from "node:crypto";
import { fieldsOf } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import type { ListedModel, LlmConnection } from "../../llm/client.ts";
import { createClient } from "../../llm/create-client.ts";
import { readCacheFile, writeCacheFile } from "../workspace/cache-file.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** How long a list counts, milliseconds: 7 days. */
const TIME_KEPT = 7 * 24 * 60 * 60 * 1000;
/** How long it counts that a provider gave none, milliseconds: an hour. Asked before each answer, it would delay them all. */
const TIME_WITHOUT = 60 * 60 * 1000;
/** Time that a provider has for its list, milliseconds: somebody waits for an answer of the model. */
const LIST_TIME = 2_000;
const FORMAT = 1;

/** Whose list. */
export interface ListPlace {
  readonly provider: string;
  readonly address: string;
}

/** Reads the list of a provider; null when there is none that is young enough. */
export async function readModelList(runtime: Runtime, place: ListPlace): Promise<readonly ListedModel[] | null> {
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
