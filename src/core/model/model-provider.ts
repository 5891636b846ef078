// The model providers that jpg knows by name: which API each speaks, where, and which environment variables its own library reads. Key and
// address are listed together so that a key never goes to another provider's address.
import { JpgError } from "../errors.ts";

/** The APIs that are spoken; several providers speak one. */
export type ProviderApi = (typeof PROVIDER_APIS)[number];

/** The names of the APIs in settings. */
export const PROVIDER_APIS = ["anthropic", "openai-responses", "openai-chat", "google"] as const;

export interface ModelProvider {
  /** As in `provider/model`. */
  readonly name: string;
  readonly api: ProviderApi;
  /** Without a trailing slash. */
  readonly address: string;
  /** Appended to an address without a path; "" = nothing. */
  readonly path: string;
  /** Environment variables that may contain the key; the first that is set counts. Empty = only settings can give one. */
  readonly keyVariables: readonly string[];
  /** Environment variable that may contain the address; null when there is none. */
  readonly addressVariable: string | null;
  /** Cannot be asked without a key. */
  readonly needsKey: boolean;
  /** A server on the user's own machine. */
  readonly isLocal: boolean;
}

const HOSTED = { path: "", needsKey: true, isLocal: false } as const;
const LOCAL = { api: "openai-chat", path: "/v1", keyVariables: [], needsKey: false, isLocal: true } as const;

/** Ordered as errors list them. Sources: the variables that each provider's own library reads; the servers' default ports. */
export const MODEL_PROVIDERS: readonly ModelProvider[] = [
  {
    ...HOSTED,
    name: "anthropic",
    api: "anthropic",
    address: "https://api.anthropic.com",
    keyVariables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    addressVariable: "ANTHROPIC_BASE_URL",
  },
  {
    ...HOSTED,
    name: "openai",
    api: "openai-responses",
    address: "https://api.openai.com/v1",
    keyVariables: ["OPENAI_API_KEY"],
    addressVariable: "OPENAI_BASE_URL",
  },
  {
    ...HOSTED,
    name: "google",
    api: "google",
    address: "https://generativelanguage.googleapis.com",
    // In the order of Google's own library, which prefers the first when both are set.
    keyVariables: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
    addressVariable: "GOOGLE_GEMINI_BASE_URL",
  },
  {
    ...HOSTED,
    name: "groq",
    api: "openai-chat",
    address: "https://api.groq.com/openai/v1",
    // Groq's own library takes the address without this path.
    path: "/openai/v1",
    keyVariables: ["GROQ_API_KEY"],
    addressVariable: "GROQ_BASE_URL",
  },
  {
    ...HOSTED,
    name: "openrouter",
    api: "openai-chat",
    address: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    addressVariable: "OPENROUTER_BASE_URL",
  },
  { ...LOCAL, name: "ollama", address: "http://127.0.0.1:11434/v1", addressVariable: "OLLAMA_HOST" },
  { ...LOCAL, name: "llamacpp", address: "http://127.0.0.1:8080/v1", addressVariable: null },
  { ...LOCAL, name: "lmstudio", address: "http://127.0.0.1:1234/v1", addressVariable: null },
];

/** How to serve a model from a file: jpg once ran such models itself, as `gguf/FILE`. */
export const SERVE_A_FILE: string =
  "Serve the file with a local server that speaks OpenAI's API, such as `llama-server -m FILE.gguf`, and name the model llamacpp/NAME; docs/config.md says how, for Ollama and LM Studio, too.";

/** Returns a provider that jpg knows by name; undefined for any other. */
export function knownProvider(name: string): ModelProvider | undefined {
  return MODEL_PROVIDERS.find((provider) => provider.name === name);
}

/** US dollars for a million tokens, by kind. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Written to a cache that is kept for an hour; absent = twice the input: Anthropic's price, the only provider with one. */
  readonly cacheWrite1h?: number;
}

export interface ModelPrice extends TokenPrices {
  /** Of requests of more than `above` tokens (sent, including cached ones), for the whole request; ascending. */
  readonly larger?: readonly (TokenPrices & { readonly above: number })[];
  /** US dollars for a thousand web searches that the provider ran; absent = 10, the price of Anthropic and OpenAI. */
  readonly webSearches?: number;
}

// Addresses of model APIs as people write them, brought into one form: http or https, no trailing slash, no query, no credentials. What
// cannot be an address is an error before anything is sent.

/** Default port of Ollama if its variable names neither port nor scheme. */
const OLLAMA_PORT = 11434;
/** Host (a name, an IPv4 or an IPv6 address, the latter with or without brackets), port, path. */
const OLLAMA_PLACE = /^(\[[^\]]*\]|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*|[^:/]*)(?::(\d+))?(\/.*)?$/i;
/** Addresses of a server that listens everywhere, and where it is reached. */
const EVERYWHERE: ReadonlyMap<string, string> = new Map([
  ["", "127.0.0.1"],
  ["0.0.0.0", "127.0.0.1"],
  ["::", "[::1]"],
  ["[::]", "[::1]"],
]);

/**
 * Resolves the address that a setting or an environment variable gives for a provider. One without a path is completed with the provider's.
 * Throws `bad_address` naming the setting; credentials in the address are refused and never shown.
 */
export function resolveAddress(provider: ModelProvider, text: string, setting: string): string {
  const url = parseUrl(text.trim());
  if (url === null) {
    throw badAddress(setting, "expected an address that begins with http:// or https://, received something else");
  }
  if (url.username !== "" || url.password !== "") {
    throw badAddress(
      setting,
      "expected an address without a user name or password: a key goes into a setting of its own",
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? provider.path : path}`;
}

/**
 * Parses the value of OLLAMA_HOST as Ollama does: `host`, `host:port`, `:port`, `[::1]:port`, with or without a scheme. A server that
 * listens everywhere (`0.0.0.0`) is reached on this machine. Returns an address for `resolveAddress`.
 */
export function ollamaAddress(text: string): string {
  const [, scheme, rest = ""] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(text.trim()) ?? [];
  const parts = OLLAMA_PLACE.exec(rest);
  if (parts === null) return text;
  const [, host = "", port, path = ""] = parts;
  const reachable = EVERYWHERE.get(host) ?? host;
  const bracketed = reachable.includes(":") && !reachable.startsWith("[") ? `[${reachable}]` : reachable;
  const place = port ?? (scheme === undefined ? String(OLLAMA_PORT) : undefined);
  return `${scheme ?? "http"}://${bracketed}${place === undefined ? "" : `:${place}`}${path}`;
}

function parseUrl(text: string): URL | null {
  if (!/^https?:\/\/[^\s/]/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text);
}

function badAddress(setting: string, reason: string): JpgError {
  return new JpgError("config", "bad_address", `${setting} is no address: ${reason}.`, {
    hints: [`Correct ${setting}, or remove it to use the provider's own address.`],
    data: { setting },
  });
}
