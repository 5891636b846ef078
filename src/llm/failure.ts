// The words of provider errors: what a provider did, by code, and the setting or option that helps. Keys appear in none.
import { asSentence, JpgError } from "../core/errors.ts";
import type { LlmConnection } from "./llm-client.ts";
import type { ProviderCode } from "./refusal.ts";
import { toShownText, toShownUrl } from "./shown-text.ts";

/** Whom a request was for; `model` is null for requests without one. */
export interface FailureTarget {
  readonly connection: LlmConnection;
  readonly model: string | null;
}

/** A failed try. */
export interface Failure {
  readonly error: JpgError;
  /** The same request may go through later. */
  readonly isPassing: boolean;
  /** The wait that the provider asks for, milliseconds; null when it asks for none. */
  readonly askedMs: number | null;
}

/** What is told of a failure beside its code. */
interface FailureDetails {
  /** Replaces what the provider did. */
  readonly what?: string;
  /** Goes behind it. */
  readonly more?: string;
  readonly hints?: readonly string[];
  readonly isPassing?: boolean;
  readonly askedMs?: number | null;
  readonly status?: number | null;
}

/** The providers' own addresses. */
export const OWN_URLS: Readonly<Record<LlmConnection["api"], string>> = {
  anthropic: "https://api.anthropic.com",
  "openai-chat": "https://api.openai.com/v1",
  "openai-responses": "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com",
  gguf: "",
};

/** What a provider did, as the words after its name. */
const WHAT: Readonly<Record<ProviderCode, string>> = {
  wrong_key: "does not take the key",
  unknown_model: "does not have this model",
  context_overflow: "refused the conversation as too long for this model",
  rate_limited: "refused the request because of a limit",
  overloaded: "is overloaded",
  provider_timeout: "did not answer in time",
  provider_unreachable: "cannot be reached",
  stream_cut: "ended the answer too early",
  request_refused: "refused the request",
  provider_failed: "failed",
};

/** Creates a failure; its message names provider and model, its hints what to change. */
export function createFailure(target: FailureTarget, code: ProviderCode, details: FailureDetails = {}): Failure {
  const { provider, apiKey } = target.connection;
  const { what = WHAT[code], more = "", hints = hintsOf(target, code), isPassing = false } = details;
  const { askedMs = null, status = null } = details;
  const model = target.model === null ? "" : ` (model ${toShownText(target.model, apiKey)})`;
  const data = {
    provider,
    ...(target.model !== null && { model: target.model }),
    ...(status !== null && { status }),
    ...(askedMs !== null && { retry_after_ms: askedMs }),
  };
  const error = new JpgError("provider", code, asSentence(`${provider}${model} ${what}${more}`), { hints, data });
  return { error, isPassing, askedMs };
}

/** Says to look at the setting of the address. */
export function addressHint({ connection }: FailureTarget): string {
  return `Check ${connection.urlSetting}.`;
}

/** The address of a connection, fit to show. */
export function shownAddress({ api, apiKey, baseUrl }: LlmConnection): string {
  return toShownUrl(baseUrl ?? OWN_URLS[api], apiKey);
}

function hintsOf(target: FailureTarget, code: ProviderCode): readonly string[] {
  const { apiKey = "", keySetting } = target.connection;
  const other = "`--model PROVIDER/MODEL` asks another model.";
  switch (code) {
    case "wrong_key":
      return [apiKey === "" ? `Set ${keySetting}.` : `Check ${keySetting}.`];
    case "unknown_model":
      return [other, addressHint(target)];
    case "context_overflow":
      return ["`jpg compact` makes the conversation shorter.", other];
    case "rate_limited":
    case "overloaded":
      return ["Try again later.", other];
    case "provider_timeout":
    case "provider_failed":
      return ["Try again.", other];
    case "provider_unreachable":
      return [reachHint(target)];
    case "stream_cut":
      return ["Try again."];
    case "request_refused":
      return [other];
    default:
      return code satisfies never;
  }
}

function reachHint({ connection: { api, baseUrl, urlSetting } }: FailureTarget): string {
  const isHere = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/.test(baseUrl ?? OWN_URLS[api]);
  return isHere ? `Start the server, or change ${urlSetting}.` : `Check the network and ${urlSetting}.`;
}
