// Money: how dollars are written, and whether a compaction pays at list prices. The same arithmetic answers `jpg compact`, the band of a
// running agent and the pages. An unknown price is no figure, never 0.
import { decimal, forTerminal, type SafeText, safe } from "../safe-text.ts";
import type { ModelPrice } from "./model-provider.ts";
import { priceOf, type Usage } from "./usage.ts";

/** Below this a sum is only said to be smaller, US dollars. */
const LEAST_USD = 0.0001;

/**
 * Renders US dollars: cents (`$0.32`), two digits below ten cents (`$0.011`), whole dollars from ten on (`$12`, `$1,204`). Less than
 * nothing has a minus sign (`−$0.05`).
 */
export function renderUsd(dollars: number): SafeText {
  if (dollars < 0) return safe`−${renderUsd(-dollars)}`;
  if (dollars === 0) return safe`$0`;
  if (dollars < LEAST_USD) return safe`<$0.0001`;
  if (dollars >= 9.995) return safe`$${forTerminal(String(Math.round(dollars)).replace(/\B(?=(\d{3})+$)/g, ","))}`;
  if (dollars >= 0.0995) return safe`$${decimal(dollars, 2)}`;
  return safe`$${forTerminal(String(Number(dollars.toPrecision(2))))}`;
}

/** Renders a price as `renderUsd` does; `price unknown` for null. */
export function renderPrice(dollars: number | null): SafeText {
  return dollars === null ? safe`price unknown` : renderUsd(dollars);
}

/** Renders a difference with its sign: `+$0.32`, `−$0.011`, `$0`. */
export function renderUsdChange(dollars: number): SafeText {
  return dollars > 0 ? safe`+${renderUsd(dollars)}` : renderUsd(dollars);
}

/** Calls after which savings of `saving` each have paid `extra` back: a whole number, 0 or more; null = never, as nothing is saved. */
export function paysAfter(extra: number, saving: number): number | null {
  return saving > 0 ? Math.max(0, Math.ceil(extra / saving)) : null;
}

/** What a compaction does to the next call, tokens. What is before the first change stays cached. */
export interface CallChange {
  /** Before the first change. */
  readonly kept: number;
  /** After it, in the new view. */
  readonly rewritten: number;
  /** After it, in the old one. */
  readonly dropped: number;
}

/** What a model charges, and what its provider still has in its cache. */
export interface CallTerms {
  readonly price: ModelPrice;
  /** Whether the conversation as it was is still cached. */
  readonly isWarm: boolean;
  /** Whether the cache is kept for an hour, which costs more. */
  readonly isHour?: boolean;
}

/** A compaction in US dollars at list prices. Without new prompts and answers, which cost the same either way. */
export interface Trade {
  /** The next call with the old view. */
  readonly without_usd: number;
  readonly with_usd: number;
  /** The next call with the compaction, less the same without it: below 0 where it costs less at once. */
  readonly extra_usd: number;
  /** What each call after it costs less, all of it read from the cache; below 0 where the view grows. */
  readonly saved_usd: number;
  /** Calls after the next one until that is paid back, 0 or more; null = never. */
  readonly pays_after: number | null;
}

/** Computes what a compaction costs once and saves with each later call. */
export function tradeOf({ kept, rewritten, dropped }: CallChange, terms: CallTerms): Trade {
  const { price, isWarm } = terms;
  const usd = (cached: number, written: number): number => priceOf(sentTokens(cached, written, terms), price);
  const [without_usd, with_usd] = isWarm
    ? [usd(kept + dropped, 0), usd(kept, rewritten)]
    : [usd(0, kept + dropped), usd(0, kept + rewritten)];
  const extra_usd = with_usd - without_usd;
  const saved_usd = usd(kept + dropped, 0) - usd(kept + rewritten, 0);
  return { without_usd, with_usd, extra_usd, saved_usd, pays_after: paysAfter(extra_usd, saved_usd) };
}

function sentTokens(cacheRead: number, cacheWrite: number, { isHour = false }: CallTerms): Usage {
  return { input: 0, output: 0, cacheRead, cacheWrite, cacheWrite1h: isHour ? cacheWrite : 0 };
}

/** What a request did not send. */
export interface Unsent {
  /** Tokens. */
  readonly hidden: number;
  /** Whether it wrote to the cache what it would have read from it without the compaction. */
  readonly isRewrite: boolean;
}

/**
 * Computes what a request would have cost more with the hidden tokens, US dollars: at the price that most of its input was paid at. Below
 * 0 where the rewrite of the cache cost more than that.
 */
export function savedUsd(usage: Usage, { hidden, isRewrite }: Unsent, price: ModelPrice): number {
  const { cacheRead, cacheWrite } = usage;
  const plain: Usage = { ...usage, cacheWrite1h: Math.min(usage.cacheWrite1h ?? 0, cacheWrite) };
  if (isRewrite)
    return (
      priceOf({ ...plain, cacheRead: cacheRead + cacheWrite + hidden, cacheWrite: 0, cacheWrite1h: 0 }, price) -
      priceOf(plain, price)
    );
  const kind = cacheRead > 0 ? "cacheRead" : cacheWrite > 0 ? "cacheWrite" : "input";
  return priceOf({ ...plain, [kind]: plain[kind] + hidden }, price) - priceOf(plain, price);
}
