// One try of one request on the wire: the fetch that a provider's library is given. It sends headers of our making only, so
// that nothing of the environment and no telemetry leaves; it ends a request that is silent for too long, or that the caller
// ends; and it keeps what went wrong, because each library words that differently. No redirect is followed: it would take the
// key along.
import { type HttpAnswer, sendHttp } from "./http-request.ts";
import type { LlmConnection } from "./llm-client.ts";

/** What went wrong on the wire. */
export type WireFault =
  /** The library refused to send it. */
  | { readonly kind: "unsent" }
  | { readonly kind: "status"; readonly status: number; readonly headers: Headers; readonly body: string }
  /** No byte for this long, milliseconds. */
  | { readonly kind: "silent"; readonly afterMs: number }
  | { readonly kind: "redirect"; readonly to: string }
  /** It answered with something that no API answers with. */
  | { readonly kind: "no_api"; readonly mediaType: string }
  | { readonly kind: "network"; readonly heard: boolean; readonly cause: unknown };

/** What is known of an answer before it ends; adapters fill it, so that an aborted one names its model and usage. */
export interface KnownAnswer {
  id: string | null;
  /** As asked for until the provider names it; "" for requests without one. */
  model: string;
  usage: unknown;
}

/** One try; must be closed. */
export interface Exchange {
  readonly fetch: typeof globalThis.fetch;
  readonly known: KnownAnswer;
  /** What went wrong, once something did. */
  fault(): WireFault | null;
  /** Ends what still runs. */
  close(): void;
}

/** Time without a byte before a request is given up, milliseconds: models think for minutes. */
const DEFAULT_TIMEOUT = 290_000;
/** Longest time a timer takes, milliseconds. */
export const LONGEST_TIMER = 2_147_483_647;
/** Longest error text that is read, characters. */
const MAX_ERROR = 100_000;

/** How a request of an API is signed; the header is left out where there is no key. */
interface HeaderRules {
  readonly key: (apiKey: string) => Readonly<Record<string, string>>;
  readonly fixed?: Readonly<Record<string, string>>;
}

const BEARER: HeaderRules = { key: (apiKey) => ({ authorization: `Bearer ${apiKey}` }) };
const HEADERS: Readonly<Record<LlmConnection["api"], HeaderRules>> = {
  // The version whose answers are read here.
  anthropic: { ...BEARER, fixed: { "anthropic-version": "2026-10-21" } },
  "openai-chat": BEARER,
  "openai-responses": BEARER,
  google: { key: (apiKey) => ({ "x-goog-api-key": apiKey }) },
  gguf: { key: () => ({}) }, // asks nobody
};

/** Opens a try of a request for `model`; `signal` ends it. */
export function openExchange(connection: LlmConnection, model: string | null, signal?: AbortSignal): Exchange {
  const state: ExchangeState = {
    timeoutMs: Math.min(connection.timeoutMs ?? DEFAULT_TIMEOUT, LONGEST_TIMER),
    controller: new AbortController(),
    headers: headersOf(connection),
    sent: false,
    heard: false,
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
  /** Whether a byte of an answer came. */
  heard: boolean;
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
    state.heard = true;
    const { status } = answer;
    if (status < 200 || status > 299) return await refused(state, answer);
    const mediaType = answer.headers.get("content-type") ?? "";
    if (/^text\/html\b/i.test(mediaType)) return await fail(state, { kind: "no_api", mediaType });
    return new Response(watchedBody(state, answer), { headers: answer.headers });
  } catch (cause) {
    keep(state, { kind: "network", heard: state.heard, cause });
    throw cause;
  }
}

function addressOf(input: string | URL | Request): URL {
  return new URL(typeof input === "object" && "url" in input ? input.url : input);
}

/** Keeps what a refusal says; the library sees it too, and throws an error of its own. */
async function refused(state: ExchangeState, answer: HttpAnswer): Promise<Response> {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return fail(state, { kind: "redirect", to: headers.get("location") ?? "" });
  const body = await watched(state, () => startOf(answer));
  keep(state, { kind: "status", status, headers, body });
  return new Response(body, { status, headers: { "content-type": headers.get("content-type") ?? "text/plain" } });
}

/** As much as is shown of an error; a server may go on for ever. */
async function startOf({ body }: HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_ERROR) break;
  }
  return text.slice(0, MAX_ERROR);
}

function fail(state: ExchangeState, fault: WireFault): Promise<never> {
  keep(state, fault);
  state.controller.abort();
  return Promise.reject(new Error(fault.kind));
}

/** The first fault is the cause of those after it. */
function keep(state: ExchangeState, fault: WireFault): void {
  state.fault ??= fault;
}

/** The body as it comes, read only when it is asked for; the time between two reads is the caller's and does not count. */
function watchedBody(state: ExchangeState, { body }: HttpAnswer): ReadableStream<Uint8Array> {
  const source = {
    async pull(out: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      try {
        const { done, value } = await watched(state, () => body.next());
        if (done === true) out.close();
        else out.enqueue(value);
      } catch (cause) {
        keep(state, { kind: "network", heard: true, cause });
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
    keep(state, { kind: "silent", afterMs: state.timeoutMs });
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
