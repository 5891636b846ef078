// The band of a running agent: one line of at most 100 characters. A warm cache is told as such until it is cold. Pure.
import type { BandLine, CacheState, LiveStatus, NextCost } from "./protocol.ts";

export type BandFacts = Pick<LiveStatus, "context" | "last" | "hidden" | "cache" | "cost" | "offer">;

export function bandOf(status: BandFacts, agent: string): readonly BandLine[] {
  const { context, cache } = status;
  const size =
    context.share === null || context.window === null
      ? `${thousands(context.tokens)} tokens`
      : `${Math.round(context.share * 100)} % of ${thousands(context.window)}`;
  const line = (state: CacheState["state"]): string => ["jpg", size, ...newsOf(status, { state, agent })].join(" · ");
  if (cache.state !== "warm" || cache.until === null) return [{ text: line(cache.state) }];
  return [{ until: cache.until, text: line("warm") }, { text: line("cold") }];
}

/** The offer, else what happened last. */
function newsOf(
  { offer, cost, last, hidden }: BandFacts,
  { state, agent }: { readonly state: CacheState["state"]; readonly agent: string },
): readonly string[] {
  if (offer && cost.with !== null) return [offerOf(cost.without, cost.with, state)];
  if (last === null) return [];
  const { before, after } = last;
  const sizes = before === null || after === null ? "" : ` ${thousands(before)} → ${thousands(after)}`;
  const who = last.by === "agent" ? `${agent} compacted` : "compacted";
  const lost = hidden.events === 0 ? "" : `, ${hidden.events} events hidden, none lost`;
  return [`${who}${sizes}${lost}: /jpg-undo`];
}

function offerOf(
  without: NextCost["without"],
  after: NonNullable<NextCost["with"]>,
  state: CacheState["state"],
): string {
  const size = `~${thousands(after.tokens)}`;
  if (after.usd === null || without.usd === null || after.saved_usd === null) {
    const written =
      state === "cold" ? "the cache is cold anyway" : `${thousands(after.rewritten)} go into the cache anew`;
    return `/jpg-compact: ${size}; ${written}`;
  }
  if (state === "cold")
    return `cache is cold: /jpg-compact now, ${size}: ${cents(after.usd)} instead of ${cents(without.usd)}`;
  const once = after.usd - without.usd;
  const price =
    once > 0 ? `${cents(once)} once, then ${cents(after.saved_usd)} less a request` : `${cents(-once)} less`;
  return `/jpg-compact: ${size}${state === "warm" ? "; cache is warm" : ""}: ${price}`;
}

function cents(usd: number): string {
  return usd < 0.005 ? "<$0.01" : `$${usd.toFixed(2)}`;
}

/** Tokens for people: whole thousands. */
function thousands(tokens: number): string {
  if (tokens >= 999_500) return `${(tokens / 1e6).toFixed(tokens % 1e6 < 50_000 ? 0 : 1)}M`;
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}
