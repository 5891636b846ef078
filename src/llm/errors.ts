// Errors of providers: what a provider did, by code, and the setting or option that helps. They never contain a key.
import { fieldsOf } from "../core/conversation/event.ts";
import { asSentence, JpgError } from "../core/errors.ts";
import type { LlmConnection } from "./client.ts";
import { MAX_RETRY_AFTER_MS, readRetryAfter, type WireFault } from "./exchange.ts";

/** The receiver of a request; `model` is null for requests without one. */
export interface FailureTarget {
  readonly connection: LlmConnection;
  readonly model: string | null;
}

/** A failed try. */
interface Failure {
  readonly error: JpgError;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;
  /** The wait that the provider asks for, milliseconds; null when it asks for none. */
  readonly retryAfterMs: number | null;
}

interface FailureDetails {
  /** Replaces the default text of the code. */
  readonly what?: string;
  /** Appended to it. */
  readonly more?: string;
  readonly hints?: readonly string[];
  readonly isTransient?: boolean;
  readonly retryAfterMs?: number | null;
  readonly status?: number | null;
}

/** The providers' own addresses. */
export const DEFAULT_URLS: Readonly<Record<LlmConnection["api"], string>> = {
  anthropic: "https://api.anthropic.com",
  "openai-chat": "https://api.openai.com/v1",
  "openai-responses": "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com",
};

/** What a provider did: the words after its name. */
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

/** Creates a failure: the message names provider and model, the hints what to change. */
export function createFailure(target: FailureTarget, code: ProviderCode, details: FailureDetails = {}): Failure {
  const { provider, apiKey } = target.connection;
  const { what = WHAT[code], more = "", hints = hintsOf(target, code), isTransient = false } = details;
  const { retryAfterMs = null, status = null } = details;
  const model = target.model === null ? "" : ` (model ${toDisplayText(target.model, apiKey)})`;
  const data = {
    provider,
    ...(target.model !== null && { model: target.model }),
    ...(status !== null && { status }),
    ...(retryAfterMs !== null && { retry_after_ms: retryAfterMs }),
  };
  const error = new JpgError("provider", code, asSentence(`${provider}${model} ${what}${more}`), { hints, data });
  return { error, isTransient, retryAfterMs };
}

function addressHint({ connection }: FailureTarget): string {
  return `Check ${connection.urlSetting}.`;
}

/** The address of a connection, safe to show. */
function shownAddress({ api, apiKey, baseUrl }: LlmConnection): string {
  return toDisplayUrl(baseUrl ?? DEFAULT_URLS[api], apiKey);
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
  const isHere = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/.test(baseUrl ?? DEFAULT_URLS[api]);
  return isHere ? `Start the server, or change ${urlSetting}.` : `Check the network and ${urlSetting}.`;
}

// Maps the providers' statuses, error types and sentences to jpg's codes. Wordings are from the providers' documentation and from
// public reports; an unknown one falls back to its status.

/** The codes of provider errors. */
type ProviderCode =
  | "wrong_key"
  | "unknown_model"
  | "context_overflow"
  | "rate_limited"
  | "overloaded"
  | "provider_timeout"
  | "provider_unreachable"
  | "stream_cut"
  | "request_refused"
  | "provider_failed";

interface Refusal {
  /** HTTP status; null for an error inside a stream without one. */
  readonly status: number | null;
  /** The error's names for programs (`type`, `code`, `status`), in lower case, joined by blanks. */
  readonly names: string;
  /** The sentence for people. */
  readonly sentence: string;
}

interface Verdict {
  readonly code: ProviderCode;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;
}

interface Row extends Verdict {
  /** One match is enough. */
  readonly names?: RegExp;
  readonly sentence?: RegExp;
  readonly statuses?: readonly number[];
}

/** "Too long" in the words of Anthropic, OpenAI (two APIs), Groq, Google, OpenRouter, llama.cpp, LM Studio, Ollama, vLLM. */
const TOO_LONG = new RegExp(
  [
    "prompt is too long",
    "exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:maximum )?context",
    "exceed(?:s|ed)? the (?:available|maximum) (?:context|number of (?:input )?tokens|allowed)",
    "maximum (?:context|prompt) length",
    "context[ _](?:length|window|size) (?:is )?exceed",
    "reduce the length of the (?:messages|input|prompt)",
    "input is too long",
    "input token count .*exceeds",
    "(?:greater|longer|larger) than the (?:model'?s )?context",
    "context the overflows",
    "request_?(?: entity)? ?too large",
    "request exceeds the maximum size",
    "too many (?:input )?tokens in",
  ].join("|"),
  "i",
);
const NO_MODEL = new RegExp(
  [
    "model\\b.{0,80}\\b(?:not found|does not exist|decommissioned|no longer (?:supported|available))",
    "(?:unknown|invalid|no such|unsupported|not a valid) model",
    "no endpoints found",
  ].join("|"),
  "i",
);
const BAD_KEY =
  /api[ _-]?key (?:not valid|is invalid|not found|expired)|(?:invalid|incorrect|missing|no) (?:x-)?api[ _-]?key|no auth credentials/i;

/** The first matching row counts. */
const ROWS: readonly Row[] = [
  {
    code: "context_overflow",
    isTransient: false,
    names: /context_length_exceeded|exceed_context_size|request_too_large/,
    sentence: TOO_LONG,
    statuses: [413],
  },
  { code: "rate_limited", isTransient: false, names: /insufficient_quota/ },
  { code: "rate_limited", isTransient: true, names: /rate_limit|resource_exhausted/, statuses: [429] },
  { code: "overloaded", isTransient: true, names: /overloaded|unavailable|server_is_overloaded/, statuses: [503, 529] },
  {
    code: "wrong_key",
    isTransient: false,
    names: /authentication_error|invalid_api_key|api_key_invalid|unauthenticated/,
    sentence: BAD_KEY,
    statuses: [401],
  },
  {
    code: "unknown_model",
    isTransient: false,
    names: /model_not_found|model_decommissioned|model_terms/,
    sentence: NO_MODEL,
    statuses: [404],
  },
  { code: "wrong_key", isTransient: false, names: /permission_(?:error|denied)/, statuses: [403] },
  { code: "provider_timeout", isTransient: true, names: /timeout_error|deadline_exceeded/, statuses: [408, 504] },
  { code: "provider_failed", isTransient: true, names: /api_error|internal|server_error/ },
];

export function classifyRefusal(refusal: Refusal): Verdict {
  const { status } = refusal;
  const row = ROWS.find((candidate) => fits(candidate, refusal));
  if (row !== undefined) return row;
  if (status !== null && status >= 400 && status < 500) return { code: "request_refused", isTransient: status === 409 };
  return { code: "provider_failed", isTransient: status === null || status >= 500 };
}

function fits({ names, sentence, statuses = [] }: Row, refusal: Refusal): boolean {
  if (refusal.status !== null && statuses.includes(refusal.status)) return true;
  return names?.test(refusal.names) === true || sentence?.test(refusal.sentence) === true;
}

/** Reads the body of a refusal in any provider's form; a body that is no JSON is the sentence itself. */
export function readRefusal(status: number | null, body: unknown): Refusal {
  const value = typeof body === "string" ? parse(body) : body;
  const first = fieldsOf(Array.isArray(value) ? value[0] : value);
  const inner = typeof first["error"] === "object" && first["error"] !== null ? fieldsOf(first["error"]) : first;
  const sentence = [inner["message"], first["error"], first["message"], first["detail"]].find(isNonEmpty) ?? "";
  const details = Array.isArray(inner["details"]) ? inner["details"] : [];
  const reasons = details.map((detail) => fieldsOf(detail)["reason"]);
  const upstream = fieldsOf(inner["metadata"])["raw"];
  const names = [inner["type"], inner["code"], inner["status"], ...reasons].filter(isNonEmpty);
  return {
    status: status ?? statusOf(inner),
    names: names.join(" ").toLowerCase(),
    sentence:
      value === null && typeof body === "string"
        ? withoutTags(body)
        : [sentence, upstream].filter(isNonEmpty).join(" "),
  };
}

/** Errors inside a stream may name a status in their body. */
function statusOf(fields: Readonly<Record<string, unknown>>): number | null {
  const status = [fields["status"], fields["code"]].find((value) => typeof value === "number");
  return typeof status === "number" && status >= 400 && status < 600 ? status : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Proxies answer with HTML pages. */
function withoutTags(text: string): string {
  return text.replace(/<(style|script|title)\b[\s\S]*?<\/\1>|<[^>]*>/gi, " ");
}

function isNonEmpty(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

// Provider texts, made safe to show: one short line without control characters and without anything like a key. A server may send
// back the key that it refuses: it must not appear.

/** Longest sentence that is shown, in characters. */
const MAX_SENTENCE = 300;
/** Length read, characters: a server may answer with a whole page. */
const MAX_READ = 4_000;
/** Shortest piece of a key that is redacted, characters: servers quote parts of keys. */
const KEY_PIECE = 8;
/** A shorter key is a mere word, as some local servers take. */
const SHORTEST_KEY = 4;
const REDACTED = "[key]";

/** Words that look like a provider's key, whole or with asterisks. */
const KEY_LIKE: readonly RegExp[] = [
  /\bBearer\s+[\w.~+/=*-]+/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|api|key)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w*-]{6,}/g,
  /[\w.-]*\*{3,}[\w.*-]*/g,
];

/** Makes a provider's text one safe line; `key` is the key in use. */
export function toDisplayText(text: string, key: string | undefined): string {
  // Keys first, so that cutting cannot leave half of one.
  const read = withoutKey(text.slice(0, MAX_READ), key);
  const line = KEY_LIKE.reduce((rest, pattern) => rest.replace(pattern, REDACTED), read)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= MAX_SENTENCE ? line : `${line.slice(0, MAX_SENTENCE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Strips user, password, query and fragment, which may hold keys. */
export function toDisplayUrl(address: string, key: string | undefined): string {
  if (!URL.canParse(address)) return toDisplayText(address, key);
  const { protocol, host, pathname } = new URL(address);
  return toDisplayText(`${protocol}//${host}${pathname.replace(/\/+$/, "")}`, key);
}

/** Removes the key, and every piece of it that is long enough to be recognised. */
function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < SHORTEST_KEY) return text;
  const size = Math.min(key.length, KEY_PIECE);
  const pieces = new Set(Array.from({ length: key.length - size + 1 }, (_, from) => key.slice(from, from + size)));
  let rest = "";
  let hiddenTo = 0;
  for (let at = 0; at < text.length; at++) {
    if (pieces.has(text.slice(at, at + size))) {
      if (hiddenTo <= at) rest += REDACTED;
      hiddenTo = at + size;
    } else if (hiddenTo <= at) rest += text[at];
  }
  return rest;
}

/** An error instead of an answer: `value` in the provider's form, null when nothing came at all. */
export class StreamedError extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super("an error instead of an answer");
    this.value = value;
  }
}

/** Throws `provider_unreachable` when a connection's address is not a usable URL. */
export function checkAddress(connection: LlmConnection): void {
  const { baseUrl, apiKey } = connection;
  if (baseUrl === undefined || isAddress(baseUrl)) return;
  const what = `has no address to send to: expected http:// or https:// without user and password, received ${toDisplayUrl(baseUrl, apiKey)}`;
  const target = { connection, model: null };
  throw createFailure(target, "provider_unreachable", { what, hints: [addressHint(target)] }).error;
}

function isAddress(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { protocol, username, password } = new URL(baseUrl);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

/** Translates the failure of a try; `error` is what the provider's library threw. */
export function toFailure(target: FailureTarget, fault: WireFault | null, error: unknown): Failure {
  if (error instanceof JpgError) return { error, isTransient: false, retryAfterMs: null };
  const { apiKey } = target.connection;
  switch (fault?.kind) {
    case undefined:
      return streamFailure(target, error);
    case "unsent": {
      const reason = error instanceof Error ? toDisplayText(error.message, apiKey) : "";
      return createFailure(target, "request_refused", { what: `cannot be sent this request: ${reason}` });
    }
    case "status":
      return refusalFailure(target, readRefusal(fault.status, fault.body), readRetryAfter(fault.headers, fault.body));
    case "silent":
      return createFailure(target, "provider_timeout", { what: `sent nothing for ${duration(fault.afterMs)}` });
    case "redirect": {
      const what = `sends on to another address, ${toDisplayUrl(fault.to, apiKey)}`;
      return createFailure(target, "provider_failed", { what, hints: [addressHint(target)] });
    }
    case "no_api": {
      const what = `answered with a web page at ${shownAddress(target.connection)}`;
      return createFailure(target, "provider_failed", { what, hints: [addressHint(target)] });
    }
    case "network":
      return networkFailure(target, fault);
    default:
      return fault satisfies never;
  }
}

function refusalFailure(target: FailureTarget, refusal: Refusal, retryAfterMs: number | null): Failure {
  const { status } = refusal;
  const verdict = classifyRefusal(refusal);
  // A request without a model cannot lack one: the address is wrong.
  const isLost = verdict.code === "unknown_model" && target.model === null;
  const sentence = toDisplayText(refusal.sentence, target.connection.apiKey);
  const wait =
    retryAfterMs !== null && retryAfterMs > MAX_RETRY_AFTER_MS ? `; it asks to wait ${duration(retryAfterMs)}` : "";
  const more = `${status === null ? "" : ` (HTTP ${status})`}${sentence === "" ? "" : `: ${sentence}`}${wait}`;
  return createFailure(target, isLost ? "provider_failed" : verdict.code, {
    more,
    status,
    retryAfterMs,
    isTransient: verdict.isTransient,
    ...(isLost && { hints: [addressHint(target)] }),
  });
}

function networkFailure(
  target: FailureTarget,
  { hasAnswered, cause }: Extract<WireFault, { readonly kind: "network" }>,
): Failure {
  if (hasAnswered) return createFailure(target, "stream_cut", { isTransient: true });
  const reason = networkReason(cause);
  const more = ` at ${shownAddress(target.connection)} (${toDisplayText(reason, target.connection.apiKey)})`;
  const isPermanent = /CERT|VERIFY|INVALID|PROTOCOL/.test(reason);
  return createFailure(target, "provider_unreachable", { more, isTransient: !isPermanent });
}

/** The innermost code of a network error, such as `ECONNREFUSED`. */
function networkReason(cause: unknown): string {
  let reason = "no connection";
  let inner: unknown = cause;
  for (let depth = 0; depth < 5 && inner instanceof Error; depth++) {
    const [first] = inner instanceof AggregateError ? (inner.errors as readonly unknown[]) : [];
    const { code } = inner as { readonly code?: unknown };
    reason = typeof code === "string" ? code : inner.message || reason;
    inner = inner.cause ?? first;
  }
  return reason;
}

/** An error inside a stream: each library wraps what the provider sent in its own way. */
function streamFailure(target: FailureTarget, error: unknown): Failure {
  const { status, error: sent, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const value = error instanceof StreamedError ? error.value : (sent ?? textBetweenBraces(message));
  if (value === null || (value === undefined && isHalfJson(error))) {
    return createFailure(target, "stream_cut", { isTransient: true });
  }
  if (value === undefined) {
    return createFailure(target, "provider_failed", {
      what: "sent something that is not an answer",
      isTransient: true,
    });
  }
  return refusalFailure(target, readRefusal(typeof status === "number" ? status : null, value), null);
}

/** Recognises truncated JSON, for which Google's library throws a plain error. */
function isHalfJson(error: unknown): boolean {
  return error instanceof SyntaxError || (error instanceof Error && /\bJSON\b/.test(error.message));
}

/** Google's library puts the error, as JSON, into its message. */
function textBetweenBraces(message: unknown): unknown {
  return typeof message === "string" ? /\{.*\}/s.exec(message)?.[0] : undefined;
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 1000)} s`;
}
