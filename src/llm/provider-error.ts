// What went wrong between jpg and a provider, as the error of jpg: one translation for all providers, from what happened on the
// wire rather than from the errors of their libraries.
import { JpgError } from "../core/errors.ts";
import type { WireFault } from "./exchange.ts";
import { addressHint, createFailure, type Failure, type FailureTarget, shownAddress } from "./failure.ts";
import type { LlmConnection } from "./llm-client.ts";
import { judgeRefusal, type Refusal, readRefusal } from "./refusal.ts";
import { askedWait, LONGEST_ASKED_WAIT } from "./retry.ts";
import { toShownText, toShownUrl } from "./shown-text.ts";

/** An error that came in the place of an answer: `value` in the provider's shape, null when nothing came at all. */
export class StreamedError extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super("an error instead of an answer");
    this.value = value;
  }
}

/** Throws `provider_unreachable` when the address of a connection is none that a request can go to. */
export function checkAddress(connection: LlmConnection): void {
  const { baseUrl, apiKey } = connection;
  if (baseUrl === undefined || isAddress(baseUrl)) return;
  const what = `has no address to send to: expected http:// or https:// without user and password, received ${toShownUrl(baseUrl, apiKey)}`;
  const target = { connection, model: null };
  throw createFailure(target, "provider_unreachable", { what, hints: [addressHint(target)] }).error;
}

function isAddress(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { protocol, username, password } = new URL(baseUrl);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

/** Translates what a try failed of; `error` is what the provider's library threw. */
export function toFailure(target: FailureTarget, fault: WireFault | null, error: unknown): Failure {
  if (error instanceof JpgError) return { error, isPassing: false, askedMs: null };
  const { apiKey } = target.connection;
  switch (fault?.kind) {
    case undefined:
      return streamFailure(target, error);
    case "unsent": {
      const reason = error instanceof Error ? toShownText(error.message, apiKey) : "";
      return createFailure(target, "request_refused", { what: `cannot be sent this request: ${reason}` });
    }
    case "status":
      return refusalFailure(target, readRefusal(fault.status, fault.body), askedWait(fault.headers, fault.body));
    case "silent":
      return createFailure(target, "provider_timeout", { what: `sent nothing for ${duration(fault.afterMs)}` });
    case "redirect": {
      const what = `sends on to another address, ${toShownUrl(fault.to, apiKey)}`;
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

function refusalFailure(target: FailureTarget, refusal: Refusal, askedMs: number | null): Failure {
  const { status } = refusal;
  const verdict = judgeRefusal(refusal);
  // What names no model can lack none: the address is wrong.
  const isLost = verdict.code === "unknown_model" && target.model === null;
  const sentence = toShownText(refusal.sentence, target.connection.apiKey);
  const wait = askedMs !== null && askedMs > LONGEST_ASKED_WAIT ? `; it asks to wait ${duration(askedMs)}` : "";
  const more = `${status === null ? "" : ` (HTTP ${status})`}${sentence === "" ? "" : `: ${sentence}`}${wait}`;
  return createFailure(target, isLost ? "provider_failed" : verdict.code, {
    more,
    status,
    askedMs,
    isPassing: verdict.isPassing,
    ...(isLost && { hints: [addressHint(target)] }),
  });
}

function networkFailure(
  target: FailureTarget,
  { heard, cause }: Extract<WireFault, { readonly kind: "network" }>,
): Failure {
  if (heard) return createFailure(target, "stream_cut", { isPassing: true });
  const reason = networkReason(cause);
  const more = ` at ${shownAddress(target.connection)} (${toShownText(reason, target.connection.apiKey)})`;
  const isLasting = /CERT|VERIFY|INVALID|PROTOCOL/.test(reason);
  return createFailure(target, "provider_unreachable", { more, isPassing: !isLasting });
}

/** The code at the bottom of a network error, `ECONNREFUSED` or the like. */
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

/** An error inside a stream: the libraries throw what the provider sent, each in its own wrapping. */
function streamFailure(target: FailureTarget, error: unknown): Failure {
  const { status, error: sent, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const value = error instanceof StreamedError ? error.value : (sent ?? textBetweenBraces(message));
  if (value === null || (value === undefined && isHalfJson(error))) {
    return createFailure(target, "stream_cut", { isPassing: true });
  }
  if (value === undefined) {
    return createFailure(target, "provider_failed", { what: "sent something that is not an answer", isPassing: true });
  }
  return refusalFailure(target, readRefusal(typeof status === "number" ? status : null, value), null);
}

/** A text that ends inside its JSON; Google's library throws a plain error for it. */
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
