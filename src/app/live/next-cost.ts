// What the next request of a running agent costs with and without a compaction, and whether the provider's cache is still warm. Pure.
import type { Turn } from "../../core/conversation/event.ts";
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { priceOf, readUsage, sizeOf, type Usage } from "../../core/model/usage.ts";
import type { CompactionPreview } from "./live-rules.ts";
import type { CacheState, NextCost } from "./protocol.ts";

/** The newest answer that a provider counted. */
export interface CountedAnswer {
  readonly at: number;
  readonly usage: Usage;
  readonly model: string | null;
}

export function lastAnswer(turns: Iterable<Turn>): CountedAnswer | null {
  let newest: CountedAnswer | null = null;
  for (const { events } of turns)
    for (const { metadata, timestamp } of events) {
      const usage = metadata?.usage === undefined ? null : readUsage(metadata.usage);
      const at = Date.parse(timestamp);
      if (usage === null || sizeOf(usage) === 0 || !Number.isFinite(at)) continue;
      newest = { at, usage, model: typeof metadata?.model === "string" ? metadata.model : null };
    }
  return newest;
}

/** Seconds for which Anthropic keeps what was cached after its last use: five minutes, or the hour that is paid for. */
const SHORT_CACHE = 300;
const LONG_CACHE = 3600;

/** Only where the newest answer read from or wrote to a cache is it known that there is one. */
export function cacheState(answered: CountedAnswer | null, now: Date): CacheState {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = answered?.usage ?? {};
  if (answered === null || cacheRead + cacheWrite === 0) return { state: "unknown", until: null, seconds: null };
  const seconds = cacheWrite1h > 0 ? LONG_CACHE : SHORT_CACHE;
  const until = answered.at + seconds * 1000;
  return { state: until > now.getTime() ? "warm" : "cold", until: new Date(until).toISOString(), seconds };
}

export interface CostFacts {
  readonly model: string | null;
  readonly price: ModelPrice | null;
  readonly cache: CacheState;
  readonly tokens: number;
  readonly preview: CompactionPreview | null;
}

export function nextCost({ model, price, cache, tokens, preview }: CostFacts): NextCost {
  const isWarm = cache.state !== "cold";
  const usd = (cached: number, written: number): number | null => {
    const [cacheRead, cacheWrite] = isWarm ? [cached, written] : [0, cached + written];
    return price === null ? null : priceOf({ input: 0, output: 0, cacheRead, cacheWrite }, price);
  };
  const without = { tokens, usd: usd(tokens, 0) };
  if (preview === null) return { model, without, with: null };
  // The agent's own count is right for the context as it is; the plan says which share of it would stay.
  const scale = preview.before === 0 ? 1 : tokens / preview.before;
  const after = Math.round(preview.after * scale);
  const kept = Math.min(after, Math.round(preview.kept * scale));
  const saved = { input: 0, output: 0, cacheRead: Math.max(0, tokens - after), cacheWrite: 0 };
  return {
    model,
    without,
    with: {
      tokens: after,
      rewritten: after - kept,
      usd: usd(kept, after - kept),
      saved_usd: price === null ? null : priceOf(saved, price),
    },
  };
}
