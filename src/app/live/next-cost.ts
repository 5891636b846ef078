// What the next request of a running agent costs with and without a compaction. Pure.
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { tradeOf } from "../../core/model/money.ts";
import { type CacheState, callTermsOf } from "../models/next-call.ts";
import type { CompactionPreview } from "./live-rules.ts";
import type { NextCost } from "./protocol.ts";

export interface CostFacts {
  readonly model: string | null;
  readonly price: ModelPrice | null;
  readonly cache: CacheState;
  readonly tokens: number;
  readonly preview: CompactionPreview | null;
}

export function nextCost({ model, price, cache, tokens, preview }: CostFacts): NextCost {
  const terms = price === null ? null : callTermsOf(price, cache);
  const trade = (kept: number, rewritten: number, dropped: number) =>
    terms === null ? null : tradeOf({ kept, rewritten, dropped }, terms);
  if (preview === null)
    return { model, without: { tokens, usd: trade(tokens, 0, 0)?.without_usd ?? null }, with: null };
  // The agent's own count is right for the context as it is; the plan says which share of it would stay.
  const scale = preview.before === 0 ? 1 : tokens / preview.before;
  const after = Math.round(preview.after * scale);
  const kept = Math.min(after, Math.round(preview.kept * scale));
  const made = trade(kept, after - kept, Math.max(0, tokens - kept));
  return {
    model,
    without: { tokens, usd: made?.without_usd ?? null },
    with: {
      tokens: after,
      rewritten: after - kept,
      usd: made?.with_usd ?? null,
      saved_usd: made?.saved_usd ?? null,
      pays_after: made?.pays_after ?? null,
    },
  };
}
