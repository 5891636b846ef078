// One try of one request: the fetch for a provider's library. It sends only jpg's own headers, so that nothing from the environment
// and no telemetry is sent. It ends a request that is silent for too long or that the caller aborts, and records what went wrong,
// because each library words that differently. It follows no redirect, which would also get the key.
import type { LlmConnection } from "./client.ts";
import { type HttpAnswer, sendHttp } from "./http-request.ts";

/** What went wrong on the wire. */
export type WireFault =
  /** The library refused to send it. */
  | { readonly kind: "unsent" }
  | { readonly kind: "status"; readonly status: number; readonly headers: Headers; readonly body: string }
  /** No byte for this long, milliseconds. */
  | { readonly kind: "silent"; readonly afterMs: number }
  | { readonly kind: "redirect"; readonly to: string }
  /** It answered with something that is no API answer. */
  | { readonly kind: "no_api"; readonly mediaType: string }
  | { readonly kind: "network"; readonly hasAnswered: boolean; readonly cause: unknown };

/** What is known of an unfinished answer; adapters fill it, so that an aborted answer has its model and usage. */
export interface KnownAnswer {
  id: string | null;
  /** The requested model until the provider names it; "" for requests without one. */
  model: string;
  usage: unknown;
}

/** One try; must be closed. */
export interface Exchange {
  readonly fetch: typeof globalThis.fetch;
  readonly known: KnownAnswer;
  /** The first fault, if any. */
  fault(): WireFault | null;
  /** Ends the request if it still runs. */
  close(): void;
}

/** Time without a byte before a request fails, milliseconds: models think for minutes. */
const DEFAULT_TIMEOUT = 290_000;
/** Longest delay of a timer, milliseconds. */
export const LONGEST_TIMER = 2_147_483_647;
/** Longest error text that is read, characters. */
const MAX_ERROR = 100_000;

/** How an API's requests are authenticated; without a key the header is omitted. */
interface HeaderRules {
  readonly key: (apiKey: string) => Readonly<Record<string, string>>;
  readonly fixed?: Readonly<Record<string, string>>;
}

const BEARER: HeaderRules = { key: (apiKey) => ({ authorization: `Bearer ${apiKey}` }) };
const HEADERS: Readonly<Record<LlmConnection["api"], HeaderRules>> = {
  // The version whose answers jpg reads.
  anthropic: { ...BEARER, fixed: { "anthropic-version": "2026-10-21" } },
  "openai-chat": BEARER,
  "openai-responses": BEARER,
  google: { key: (apiKey) => ({ "x-goog-api-key": apiKey }) },
};

/** Opens a try; `signal` ends it. */
export function openExchange(connection: LlmConnection, model: string | null, signal?: AbortSignal): Exchange {
  const state: ExchangeState = {
    timeoutMs: Math.min(connection.timeoutMs ?? DEFAULT_TIMEOUT, LONGEST_TIMER),
    controller: new AbortController(),
    headers: headersOf(connection),
    sent: false,
    hasAnswered: false,
    fault: null,
    timer: undefined,
  };
  const abort = (): void => state.controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  return {
    fetch: (input, init) => send(state, input, init ?? {}),
    known: { id: null, model: model ?? "", usage: null },
    fault: () => state.fault ?? (state.sent ? null : { kind: "unsent" }),
    close: () => {
      signal?.removeEventListener("abort", abort);
      stopWatch(state);
      state.controller.abort();
    },
  };
}

interface ExchangeState {
  readonly timeoutMs: number;
  readonly controller: AbortController;
  readonly headers: Readonly<Record<string, string>>;
  sent: boolean;
  /** Whether any byte of an answer came. */
  hasAnswered: boolean;
  fault: WireFault | null;
  timer: NodeJS.Timeout | undefined;
}

function headersOf({ api, apiKey }: LlmConnection): Readonly<Record<string, string>> {
  const { key, fixed } = HEADERS[api];
  const signed = apiKey === undefined || apiKey === "" ? {} : key(apiKey);
  return { accept: "application/json", "user-agent": "jpg", ...fixed, ...signed };
}

async function send(state: ExchangeState, input: string | URL | Request, init: RequestInit): Promise<Response> {
  const { signal, body = null, method = "GET" } = init;
  state.sent = true;
  const end = (): void => state.controller.abort(signal?.reason);
  if (signal?.aborted === true) end();
  signal?.addEventListener("abort", end, { once: true });
  const headers = { ...state.headers, ...(body !== null && { "content-type": "application/json" }) };
  try {
    const request = { method, headers, body: body === null ? null : String(body), signal: state.controller.signal };
    const answer = await watched(state, () => sendHttp(addressOf(input), request));
    state.hasAnswered = true;
    const { status } = answer;
    if (status < 200 || status > 299) return await refused(state, answer);
    const mediaType = answer.headers.get("content-type") ?? "";
    if (/^text\/html\b/i.test(mediaType)) return await fail(state, { kind: "no_api", mediaType });
    return new Response(watchedBody(state, answer), { headers: answer.headers });
  } catch (cause) {
    recordFault(state, { kind: "network", hasAnswered: state.hasAnswered, cause });
    throw cause;
  }
}

function addressOf(input: string | URL | Request): URL {
  return new URL(typeof input === "object" && "url" in input ? input.url : input);
}

/** Records a refusal; the library sees it too, and throws its own error. */
async function refused(state: ExchangeState, answer: HttpAnswer): Promise<Response> {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return fail(state, { kind: "redirect", to: headers.get("location") ?? "" });
  const body = await watched(state, () => readStart(answer));
  recordFault(state, { kind: "status", status, headers, body });
  return new Response(body, { status, headers: { "content-type": headers.get("content-type") ?? "text/plain" } });
}

/** Reads what is shown of an error; a server may send without end. */
async function readStart({ body }: HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_ERROR) break;
  }
  return text.slice(0, MAX_ERROR);
}

function fail(state: ExchangeState, fault: WireFault): Promise<never> {
  recordFault(state, fault);
  state.controller.abort();
  return Promise.reject(new Error(fault.kind));
}

/** Only the first fault: it causes the later ones. */
function recordFault(state: ExchangeState, fault: WireFault): void {
  state.fault ??= fault;
}

/** The body as it comes, read on demand; time between two reads is the caller's and does not count. */
function watchedBody(state: ExchangeState, { body }: HttpAnswer): ReadableStream<Uint8Array> {
  const source = {
    async pull(out: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      try {
        const { done, value } = await watched(state, () => body.next());
        if (done === true) out.close();
        else out.enqueue(value);
      } catch (cause) {
        recordFault(state, { kind: "network", hasAnswered: true, cause });
        throw cause;
      }
    },
    cancel: () => state.controller.abort(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

async function watched<Value>(state: ExchangeState, act: () => Promise<Value>): Promise<Value> {
  stopWatch(state);
  state.timer = setTimeout(() => {
    recordFault(state, { kind: "silent", afterMs: state.timeoutMs });
    state.controller.abort();
  }, state.timeoutMs);
  try {
    return await act();
  } finally {
    stopWatch(state);
  }
}

function stopWatch(state: ExchangeState): void {
  clearTimeout(state.timer);
  state.timer = undefined;
}

/** First wait, milliseconds; doubled each time. */
const FIRST_WAIT = 500;
/** Longest back-off, milliseconds. */
const LONGEST_WAIT = 8_000;
/** Longest wait that a provider may ask for, milliseconds; a longer one fails, and the user decides. */
export const MAX_RETRY_AFTER_MS = 60_000;
/** Share by which jitter may shorten a wait. */
const SPREAD = 0.25;

/**
 * The wait after a failed try, milliseconds: what the provider asks for, else a back-off that `jitter` (0 to 1) shortens by up
 * to a quarter. Null when the provider asks for more than a command should wait.
 * @param attempt Number of the failed try, from 1.
 */
export function waitBefore(attempt: number, retryAfterMs: number | null, jitter: number): number | null {
  if (retryAfterMs !== null) return retryAfterMs > MAX_RETRY_AFTER_MS ? null : retryAfterMs;
  const wait = Math.min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT);
  return Math.round(wait * (1 - SPREAD * jitter));
}

/**
 * Reads the wait that an answer asks for, milliseconds, positive; null when it asks for none. Reads `retry-after-ms`,
 * `retry-after` in seconds or as a date (relative to the answer's own date), and Google's `retryDelay` in the body.
 */
export function readRetryAfter(headers: Headers, body: string): number | null {
  const wait = readWait(headers, body);
  return wait !== null && wait > 0 ? wait : null;
}

function readWait(headers: Headers, body: string): number | null {
  const exact = toNumber(headers.get("retry-after-ms"));
  if (exact !== null) return exact;
  const after = headers.get("retry-after");
  const seconds = toNumber(after);
  if (seconds !== null) return seconds * 1000;
  const wait = Date.parse(after ?? "") - Date.parse(headers.get("date") ?? "");
  if (!Number.isNaN(wait)) return wait;
  const delay = toNumber(/"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1] ?? null);
  return delay === null ? null : delay * 1000;
}

/** A jitter for each try, from 0 to 1: evenly spread and the same in every run. */
export function jitterOf(request: number, attempt: number): number {
  return ((request + attempt) * 0.618_033_988_749_895) % 1;
}

/** Waits; resolves early, without an error, when the signal aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
  });
}

function toNumber(text: string | null): number | null {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : null;
}
