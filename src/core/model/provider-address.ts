// Addresses of model APIs as people write them, brought into one form: http or https, no slash at the end, no query, no
// credentials. What cannot be an address is an error before anything is sent.
import { JpgError } from "../errors.ts";
import type { ModelProvider } from "./model-provider.ts";

/** Default port of Ollama where its variable names none and no scheme. */
const OLLAMA_PORT = 11434;
/** Host (a name, an IPv4 or an IPv6 address, the latter with or without brackets), port, path. */
const OLLAMA_PLACE = /^(\[[^\]]*\]|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*|[^:/]*)(?::(\d+))?(\/.*)?$/i;
/** What a server listens on that listens everywhere, and where it is reached. */
const EVERYWHERE: ReadonlyMap<string, string> = new Map([
  ["", "127.0.0.1"],
  ["0.0.0.0", "127.0.0.1"],
  ["::", "[::1]"],
  ["[::]", "[::1]"],
]);

/**
 * Resolves the address that a setting or an environment variable gives for a provider. One without a path is completed with
 * the provider's. Throws `bad_address` naming the setting; credentials in the address are refused and never shown.
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
 * Reads the value of OLLAMA_HOST: `host`, `host:port`, `:port`, `[::1]:port`, with or without a scheme, as Ollama does. A
 * server that listens everywhere (`0.0.0.0`) is reached on this machine. Gives an address for `resolveAddress`.
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
