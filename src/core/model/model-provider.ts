// The providers of models that jpg knows by name: which API each speaks, where, and which environment variables its own
// library reads. A key and an address stand side by side here so that a key never goes to another provider's address.

/** The APIs that are spoken; several providers speak one. `gguf` is none: the model is a file and runs in this process. */
export type ProviderApi = (typeof PROVIDER_APIS)[number] | "gguf";

/** The words for the APIs, as settings have them. */
export const PROVIDER_APIS = ["anthropic", "openai-responses", "openai-chat", "google"] as const;

/** A provider of models. */
export interface ModelProvider {
  /** As in `provider/model`. */
  readonly name: string;
  readonly api: ProviderApi;
  /** Without a slash at its end. */
  readonly address: string;
  /** What an address without a path is completed with; "" = nothing. */
  readonly path: string;
  /** Environment variables that may hold the key; the first that is set counts. Empty = only settings can give one. */
  readonly keyVariables: readonly string[];
  /** Environment variable that may hold the address; null when there is none. */
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
    // Groq's own library is given the address without this path.
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
  { ...LOCAL, name: "gguf", api: "gguf", path: "", address: "", addressVariable: null },
];

/** Finds a provider that jpg knows by name; undefined when it is none of them. */
export function knownProvider(name: string): ModelProvider | undefined {
  return MODEL_PROVIDERS.find((provider) => provider.name === name);
}
