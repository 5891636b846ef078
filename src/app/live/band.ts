// The band of a running agent: one line of at most 100 characters. A warm cache is told as such until it is cold. Pure.
import { renderUsd, renderUsdChange } from "../../core/model/money.ts";
import type { CacheState } from "../models/next-call.ts";
import type { BandLine, LiveStatus, NextCost } from "./protocol.ts";

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
  const { usd, saved_usd, pays_after } = after;
  if (usd === null || without.usd === null || saved_usd === null) {
    const written =
      state === "cold" ? "the cache is cold anyway" : `${thousands(after.rewritten)} go into the cache anew`;
    return `/jpg-compact: ${size}; ${written}`;
  }
  if (state === "cold")
    return `cache is cold: /jpg-compact now, ${size}: ${renderUsd(usd)} instead of ${renderUsd(without.usd)}`;
  const once = usd - without.usd;
  const pays = once > 0 && pays_after !== null ? `: pays after ${pays_after}` : "";
  const price = `${renderUsdChange(once)}, then ${renderUsdChange(-saved_usd)} a call${pays}`;
  return `/jpg-compact: ${size}; ${state === "warm" ? "cache warm: " : ""}${price}`;
}

/** Tokens for people: whole thousands. */
function thousands(tokens: number): string {
  if (tokens >= 999_500) return `${(tokens / 1e6).toFixed(tokens % 1e6 < 50_000 ? 0 : 1)}M`;
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}
