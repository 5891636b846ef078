// Names of models as people write them: `provider/model`, a short name that means a current model, or a model's own name
// where its maker is plain from it. What is recorded and shown is always `provider/model` in full.
import { defined } from "../defined.ts";
import { userError } from "../errors.ts";
import { nearestName } from "../nearest-name.ts";
import { providerOfAlias, resolveAlias } from "./current-models.ts";
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
