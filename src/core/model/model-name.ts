// Names of models as people write them: `provider/model`, a short name for a current model, or a model's own name if its maker is obvious
// from it. What is recorded and shown is always the full `provider/model`.
import { nearestName, userError } from "../errors.ts";
import { knownProvider, MODEL_PROVIDERS, type ModelPrice, SERVE_A_FILE } from "./model-provider.ts";

/** A model and the provider that is asked for it. */
export interface ModelName {
  readonly provider: string;
  /** The provider's own name; may contain slashes. */
  readonly model: string;
}

/** Makers by the beginning of their models' names. Open models (`gpt-oss`) are served by others. */
const MAKERS: readonly (readonly [name: RegExp, provider: string])[] = [
  [/^claude-/, "anthropic"],
  [/^(?:gpt-(?!oss)|chatgpt-|o\d(?:$|-)|codex-)/, "openai"],
  [/^gemini-/, "google"],
];

const HINT = "Type provider/model, such as anthropic/claude-haiku, openai/gpt-mini or ollama/qwen3.";

/**
 * Parses a name. `configured` = providers of the settings, in addition to those known by name. A name without a provider is accepted if its
 * maker is obvious. Throws `bad_model_name` and `unknown_provider` with the nearest one.
 */
export function parseModelName(text: string, configured: Iterable<string> = []): ModelName {
  const name = text.trim();
  if (name === "" || /[\s\u0000-\u001f\u007f]/.test(name)) throw badName(text, "a name without blanks");
  const slash = name.indexOf("/");
  if (slash === -1) return parseBareName(name);
  const provider = name.slice(0, slash);
  const model = name.slice(slash + 1);
  const own = [...configured];
  const found = own.includes(provider) ? provider : knownProvider(provider.toLowerCase())?.name;
  if (found === undefined) throw unknownProvider(provider, own);
  if (model === "") throw badName(text, "a model after the slash");
  return { provider: found, model: resolveAlias(found, model) };
}

export function formatModelName({ provider, model }: ModelName): string {
  return `${provider}/${model}`;
}

/** Infers the maker of a model from its bare name, e.g. `claude-opus-4-8` → anthropic; null when it is not obvious. */
export function inferProvider(model: string): string | null {
  const name = model.toLowerCase();
  return providerOfAlias(name) ?? MAKERS.find(([beginning]) => beginning.test(name))?.[1] ?? null;
}

/** A name under which a price list may have a model; absent provider = the list's own guess. */
export interface ListedName {
  readonly provider?: string;
  readonly model: string;
}

/** What agents and routers call the providers of price lists. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  "amazon-bedrock": "aws",
  bedrock: "aws",
  bedrock_converse: "aws",
  "google-vertex": "google",
  vertex_ai: "google",
  gemini: "google",
  azure_ai: "azure",
  xai: "x-ai",
  moonshot: "moonshotai",
  fireworks_ai: "fireworks",
  together_ai: "together",
};
/** Whether a provider serves other makers' models with their published windows, or is not known at all. */
export function servesFullWindow(provider: string | undefined): boolean {
  return provider === undefined || Object.hasOwn(LIST_NAMES, provider);
}

/** A model of Amazon Bedrock, with its region or without: `us.anthropic.claude-opus-4-8-v1:0`. */
const BEDROCK =
  /(?:^|[/:])((?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.[^/]+)$/;
/** Servers of one's own cost nothing. */
const LOCAL_ROUTE = /^(?:ollama(?:_chat)?|lm[-_]?studio|llama[._-]?cpp|local|vllm|hosted_vllm)\//;
/** Suffixes of routers that say how a model is asked, not which. */
const ROUTER_SUFFIX = /:(?:thinking|beta|online|nitro|floor|exacto|extended)$/;

/**
 * Lists the names under which price lists may have a model that an agent recorded, the likeliest first: as it is called, at Bedrock, at its
 * maker, at the provider before a slash, at OpenRouter.
 */
export function listedNames({ provider = "", model }: ListedName): readonly ListedName[] {
  const name = model.toLowerCase().replace(ROUTER_SUFFIX, "");
  if (LOCAL_ROUTE.test(name) || knownProvider(provider)?.isLocal === true) return [];
  const bedrock = BEDROCK.exec(name)?.[1];
  const maker = inferProvider(modelFamily(name));
  const [vendor, own] = name.includes("/") ? name.split("/").slice(-2) : [];
  return [
    ...(provider === "" ? [] : [{ provider: LIST_NAMES[provider] ?? provider, model: name }]),
    ...(bedrock === undefined ? [] : [{ provider: "aws", model: bedrock }]),
    ...(maker === null ? [] : [withoutRoute(name), modelFamily(name)].map((one) => ({ provider: maker, model: one }))),
    ...(vendor === undefined || own === undefined
      ? []
      : [
          { provider: LIST_NAMES[vendor] ?? vendor, model: own },
          { provider: "openrouter", model: `${vendor}/${own}` },
        ]),
    { model: own ?? name },
  ];
}

function parseBareName(name: string): ModelName {
  const provider = inferProvider(name);
  if (provider === null) throw badName(name, "a provider before the model");
  return { provider, model: resolveAlias(provider, name) };
}

function badName(text: string, expected: string): Error {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  return userError("bad_model_name", `${shown} is not the name of a model: expected ${expected}.`, { hints: [HINT] });
}

function unknownProvider(provider: string, configured: readonly string[]): Error {
  const names = [...new Set([...MODEL_PROVIDERS.map(({ name }) => name), ...configured])];
  const nearest = nearestName(provider, names);
  return userError(
    "unknown_provider",
    `There is no provider ${JSON.stringify(provider)}: expected one of ${names.join(", ")}.`,
    {
      hints: [
        ...(provider === "gguf" ? [SERVE_A_FILE] : []),
        ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
        "A server of your own needs providers.NAME.base_url in your settings; its models are then NAME/model.",
      ],
      data: { provider, nearest },
    },
  );
}

// The models behind short names, and each provider's default model for answers and for summaries. Checked against the providers' model
// pages in November 2026; a retired model is removed, never kept as a default.

/** A model of the table. What the price lists know of it is not repeated here. */
interface CurrentModel {
  readonly provider: string;
  /** Its short name. */
  readonly alias: string;
  /** The provider's own name. */
  readonly model: string;
  /** Default for summaries. */
  readonly isCheap?: true;
  /** Default for answers. */
  readonly isUsual?: true;
  /** Tokens that can be sent. */
  readonly contextWindow?: number;
  /** Longest answer, tokens. */
  readonly maxOutput?: number;
  readonly price?: ModelPrice;
}

const MODELS: readonly CurrentModel[] = [
  {
    provider: "anthropic",
    alias: "claude-haiku",
    model: "claude-haiku-5-5",
    isCheap: true,
    contextWindow: 1_000_000,
    maxOutput: 128_000,
    price: {
      input: 0.1,
      output: 0.5,
      cacheRead: 0.01,
      cacheWrite: 0.125,
      larger: [{ above: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 }],
    },
  },
  {
    provider: "anthropic",
    alias: "claude-sonnet",
    model: "claude-sonnet-5-5",
    isUsual: true,
    contextWindow: 1_000_000,
    maxOutput: 128_000,
    price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
  },
  { provider: "anthropic", alias: "claude-opus", model: "claude-opus-5-5", maxOutput: 128_000 },
  { provider: "openai", alias: "gpt-mini", model: "gpt-5.4-mini", isCheap: true, maxOutput: 128_000 },
  { provider: "openai", alias: "gpt-luna", model: "gpt-6-luna", isUsual: true, maxOutput: 128_000 },
  { provider: "openai", alias: "gpt-sol", model: "gpt-6-sol", maxOutput: 128_000 },
  {
    provider: "google",
    alias: "gemini-flash",
    model: "gemini-3.8-flash",
    isCheap: true,
    isUsual: true,
    contextWindow: 1_048_576,
    maxOutput: 65_536,
  },
  { provider: "google", alias: "gemini-flash-lite", model: "gemini-3.5-flash-lite" },
  {
    provider: "groq",
    alias: "llama-3.3-70b",
    model: "llama-3.3-70b-versatile",
    isCheap: true,
    isUsual: true,
    contextWindow: 131_072,
    maxOutput: 32_768,
  },
  { provider: "openrouter", alias: "cheap", model: "openai/gpt-6-luna", isCheap: true, isUsual: true },
];

/** Models on OpenRouter that write usable summaries: its cheapest ones are toys, or free in exchange for reading along. */
const OPENROUTER_SUMMARIES: readonly string[] = [
  "openai/gpt-6-luna",
  "openai/gpt-oss-120b",
  "google/gemini-3.5-flash-lite",
  "anthropic/claude-haiku-5.5",
  "meta-llama/llama-3.3-70b-instruct",
];

/** Lists the short names with their providers, e.g. `anthropic/claude-haiku`. */
export function listModelNames(): readonly string[] {
  return MODELS.map(({ provider, alias }) => `${provider}/${alias}`);
}

/** Returns the model of a provider's short name; any other name unchanged. */
export function resolveAlias(provider: string, model: string): string {
  return MODELS.find((row) => row.provider === provider && row.alias === model)?.model ?? model;
}

/** Returns the provider of a short name without one, e.g. `claude-haiku`; undefined when it is none. */
function providerOfAlias(alias: string): string | undefined {
  return MODELS.find((row) => row.alias === alias && row.provider !== "openrouter")?.provider;
}

/** Finds a model in the table by the provider's own name; undefined when it is not in it. */
export function currentModel(provider: string, model: string): CurrentModel | undefined {
  return MODELS.find((row) => row.provider === provider && row.model === model);
}

/** Returns a provider's default model for answers, the provider's own name; null if it has none. */
export function usualModel(provider: string): string | null {
  return MODELS.find((row) => row.provider === provider && row.isUsual)?.model ?? null;
}

/** A model of a list, with its price when the list has one. */
interface PricedModel {
  readonly name: string;
  readonly price?: { readonly input: number; readonly output: number };
  /** Set if the provider takes it out of service. */
  readonly retires?: string;
}

/**
 * Returns the cheap model of a provider for summaries, the provider's own name; null for a provider without one. `listed` = OpenRouter's
 * own list if loaded: then the cheapest usable model in it with a price.
 */
export function cheapModel(provider: string, listed: readonly PricedModel[] = []): string | null {
  const fixed = MODELS.find((row) => row.provider === provider && row.isCheap)?.model ?? null;
  if (provider !== "openrouter") return fixed;
  const offered = listed.filter(
    ({ name, price, retires }) => price !== undefined && retires === undefined && OPENROUTER_SUMMARIES.includes(name),
  );
  const costOf = ({ price }: PricedModel): number => (price?.input ?? 0) + (price?.output ?? 0);
  return offered.sort((a, b) => costOf(a) - costOf(b))[0]?.name ?? fixed;
}

/** Parts of a name that do not tell models apart: the route before the name (`us.anthropic.`, `openrouter/google/`, an ARN). */
const ROUTE =
  /^(?:.*[./:~]|databricks-)(?=(?:claude|chatgpt|gpt|gemini|codex)-|o\d)|^(?:[a-z]{2,8}|us-gov)\.(?=[a-z\d-]+\.[a-z])/;
/** The same after it: context size, way of asking, version of the host, date. */
const SUFFIXES =
  /(?:\[[^\]]*\]|:\d+|:(?:thinking|beta|free|online|nitro|floor|exacto|extended)|-v\d+|[@-]\d{8}|@(?:default|latest)|-latest|-\d{4}-\d\d-\d\d)$/;
/** Versions of Claude in spellings that Anthropic does not use. */
const DOTTED_CLAUDE = /^(claude-.*\d)\.(?=\d)/;
const CLAUDE_VERSION_FIRST = /^claude-([4-9](?:-\d)?)-(opus|sonnet|haiku)(?=-|$)/;

/** Returns the name without route, context size, version and date, in lower case: `claude-sonnet-4-5-20250929` → `claude-sonnet-4-5`. */
export function modelFamily(model: string): string {
  let family = withoutRoute(model);
  for (let shorter = family.replace(SUFFIXES, ""); shorter !== family; shorter = family.replace(SUFFIXES, "")) {
    family = shorter;
  }
  return family.replace(DOTTED_CLAUDE, "$1-").replace(CLAUDE_VERSION_FIRST, "claude-$2-$1");
}

/** The name in lower case without the route before it: `openrouter/openai/GPT-5` → `gpt-5`. */
function withoutRoute(model: string): string {
  return model.toLowerCase().replace(ROUTE, "");
}

/** Whether two names mean the same model, so that reasoning of one may be sent to the other. */
export function isSameModelFamily(a: string, b: string): boolean {
  return modelFamily(a) === modelFamily(b);
}
