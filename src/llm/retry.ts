// When a failed try is made again, and after how long: one behaviour for all providers, whose libraries' own is switched off.

/** First wait, milliseconds; each further one is twice as long. */
const FIRST_WAIT = 500;
/** Longest wait of our own choice, milliseconds. */
const LONGEST_WAIT = 8_000;
/** Longest wait that a provider may ask for, milliseconds; a longer one is left to the user. */
export const LONGEST_ASKED_WAIT = 60_000;
/** Part of a wait that the jitter shortens at most. */
const SPREAD = 0.25;

/**
 * The wait after a failed try, milliseconds: what the provider asks for, else a back-off that `jitter` (0 to 1) shortens by up
 * to a quarter. Null when the provider asks for more than a command should wait.
 * @param attempt Number of the failed try, from 1.
 */
export function waitBefore(attempt: number, askedMs: number | null, jitter: number): number | null {
  if (askedMs !== null) return askedMs > LONGEST_ASKED_WAIT ? null : askedMs;
  const wait = Math.min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT);
  return Math.round(wait * (1 - SPREAD * jitter));
}

/**
 * The wait that an answer asks for, milliseconds, positive; null when it asks for none. Takes `retry-after-ms`,
 * `retry-after` in seconds, or as a date (measured from the answer's own date), and Google's `retryDelay` in the body.
 */
export function askedWait(headers: Headers, body: string): number | null {
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

/** A jitter for each try of each request, from 0 to 1: evenly spread and the same in every run. */
export function jitterOf(request: number, attempt: number): number {
  return ((request + attempt) * 0.618_033_988_749_895) % 1;
}

/** Waits; resolves early, without an error, when the signal comes. */
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
