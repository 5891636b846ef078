// Names of models as people write them: `provider/model`, a short name that means a current model, or a model's own name
// where its maker is plain from it. What is recorded and shown is always `provider/model` in full.
import { defined } from "../defined.ts";
import { userError } from "../errors.ts";
import { nearestName } from "../nearest-name.ts";
import { providerOfAlias, resolveAlias } from "./current-models.ts";
import { modelFamily, withoutRoute } from "./model-family.ts";
import { knownProvider, MODEL_PROVIDERS } from "./model-provider.ts";

/** A model and who is asked for it. */
export interface ModelName {
  readonly provider: string;
  /** The provider's own name; may hold slashes. */
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
 * Parses a name. `configured` are the providers of the settings beside those known by name. A name without a provider is
 * understood where its maker is plain. Throws `bad_model_name` and `unknown_provider` with the nearest one.
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

/** Formats a name as `provider/model`. */
export function formatModelName({ provider, model }: ModelName): string {
  return `${provider}/${model}`;
}

/** Tells the maker of a model from its bare name, e.g. `claude-opus-4-8` → anthropic; null when it is not plain. */
export function inferProvider(model: string): string | null {
  const name = model.toLowerCase();
  return providerOfAlias(name) ?? MAKERS.find(([beginning]) => beginning.test(name))?.[1] ?? null;
}

/** A name under which a list of prices may have a model; absent provider = the list's own guess. */
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
/** Whether a provider serves other makers' models with the windows that these publish, or is not known at all. */
export function servesWhole(provider: string | undefined): boolean {
  return provider === undefined || Object.hasOwn(LIST_NAMES, provider);
}

/** A model of Amazon Bedrock, with its region or without: `us.anthropic.claude-opus-4-8-v1:0`. */
const BEDROCK =
  /(?:^|[/:])((?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.[^/]+)$/;
/** Servers of one's own ask for no money. */
const LOCAL_ROUTE = /^(?:ollama(?:_chat)?|lm[-_]?studio|llama[._-]?cpp|local|vllm|hosted_vllm)\//;
/** Names of routers that say how a model is asked, not which. */
const ASKED_OTHERWISE = /:(?:thinking|beta|online|nitro|floor|exacto|extended)$/;

/**
 * Lists the names under which price lists may have a model that an agent recorded, the likeliest first: as it is called, at
 * Bedrock, at its maker, at whoever stands before a slash, at OpenRouter.
 */
export function listedNames({ provider = "", model }: ListedName): readonly ListedName[] {
  const name = model.toLowerCase().replace(ASKED_OTHERWISE, "");
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
        ...(nearest === undefined ? [] : [`Did you mean ${nearest}?`]),
        "A server of your own needs providers.NAME.base_url in your settings; its models are then NAME/model.",
      ],
      data: { provider, ...defined({ nearest }) },
    },
  );
}
