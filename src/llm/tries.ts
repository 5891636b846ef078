// Asks a provider: retries transient failures until something has streamed, ends at once with the caller's signal, and never passes
// an incomplete answer as whole.
import type { Completion, LlmConnection, LlmRequest, Stop, StreamPart } from "./client.ts";
import { checkAddress, StreamedError, toFailure } from "./errors.ts";
import { type Exchange, jitterOf, openExchange, sleep, waitBefore } from "./exchange.ts";

/** Default number of tries. */
const DEFAULT_ATTEMPTS = 4;

interface TryOptions {
  readonly model: string | null;
  readonly signal: AbortSignal | undefined;
  readonly onRetry?: LlmRequest["onRetry"];
  /** Seed of the jitter. */
  readonly seed: number;
}

type Next = IteratorResult<StreamPart, unknown>;

/** Result of a try, with the exchange to close; null when the signal ended it. */
type TryResult<Value> = { readonly value: Value; readonly exchange: Exchange } | null;

/**
 * Streams an answer; `open` reads it from one try. The stop comes last and exactly once: `aborted` when the signal came first.
 * Throws like `LlmClient`; an answer that ends without a stop is `stream_cut`.
 */
export async function* streamAnswer(
  connection: LlmConnection,
  request: LlmRequest,
  open: (exchange: Exchange) => AsyncIterable<StreamPart>,
): AsyncGenerator<StreamPart> {
  const { signal, model } = request;
  const tried = await tryUntilDone(connection, tryOptionsOf(request), async (exchange) => {
    const parts = open(exchange)[Symbol.asyncIterator]();
    const first = await parts.next();
    if (first.done === true) throw new StreamedError(null);
    return { parts, first };
  });
  if (tried === null) {
    yield { type: "stop", stop: abortedStop(request) };
    return;
  }
  const { exchange, value } = tried;
  try {
    for (let next: Next = value.first; next.done !== true && !isAborted(signal); next = await value.parts.next()) {
      yield next.value;
      if (next.value.type === "stop") return;
    }
    if (!isAborted(signal)) throw new StreamedError(null);
  } catch (error) {
    if (!isAborted(signal)) throw toFailure({ connection, model }, exchange.fault(), error).error;
  } finally {
    exchange.close();
  }
  yield { type: "stop", stop: abortedStop(request, exchange) };
}

/** Asks for an answer in one piece; an aborted one has no parts. */
export async function completeAnswer(
  connection: LlmConnection,
  request: LlmRequest,
  ask: (exchange: Exchange) => Promise<Completion>,
): Promise<Completion> {
  const tried = await tryUntilDone(connection, tryOptionsOf(request), ask);
  tried?.exchange.close();
  return tried?.value ?? { parts: [], stop: abortedStop(request) };
}

/** Asks for anything else; throws the signal's reason if aborted. */
export async function askProvider<Value>(
  connection: LlmConnection,
  request: { readonly model?: string; readonly signal?: AbortSignal | undefined },
  ask: (exchange: Exchange) => Promise<Value>,
): Promise<Value> {
  const { model = null, signal } = request;
  const tried = await tryUntilDone(connection, { model, signal, seed: 0 }, ask);
  tried?.exchange.close();
  if (tried === null) throw signal?.reason;
  return tried.value;
}

async function tryUntilDone<Value>(
  connection: LlmConnection,
  { model, signal, seed, onRetry }: TryOptions,
  act: (exchange: Exchange) => Promise<Value>,
): Promise<TryResult<Value>> {
  checkAddress(connection);
  for (let attempt = 1; !isAborted(signal); attempt++) {
    const exchange = openExchange(connection, model, signal);
    try {
      return { value: await act(exchange), exchange };
    } catch (error) {
      exchange.close();
      if (isAborted(signal)) return null;
      const failure = toFailure({ connection, model }, exchange.fault(), error);
      const wait = failure.isTransient ? waitBefore(attempt, failure.retryAfterMs, jitterOf(seed, attempt)) : null;
      if (wait === null || attempt >= (connection.attempts ?? DEFAULT_ATTEMPTS)) throw failure.error;
      onRetry?.({ error: failure.error, waitMs: wait });
      await (connection.sleep ?? sleep)(wait, signal);
    }
  }
  return null;
}

function tryOptionsOf({ model, signal, view, onRetry }: LlmRequest): TryOptions {
  return { model, signal, seed: view.turns.length, onRetry: onRetry };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function abortedStop(request: LlmRequest, exchange?: Exchange): Stop {
  const { id = null, model = request.model, usage = null } = exchange?.known ?? {};
  return { reason: "aborted", providerReason: null, usage, model, id };
}
