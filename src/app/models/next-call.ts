// The next call of a conversation: the model that answered last and its price, and whether the provider still has the conversation in its
// cache. Asks nobody.
import type { Config } from "../../config/config.ts";
import type { Event, Turn } from "../../core/conversation/event.ts";
import type { ModelPrice } from "../../core/model/model-provider.ts";
import type { CallTerms } from "../../core/model/money.ts";
import { readUsage, sizeOf, type Usage } from "../../core/model/usage.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { recordedFacts } from "./models.ts";

export interface CacheState {
  readonly state: "warm" | "cold" | "unknown";
  /** RFC 3339 UTC; null = not known. */
  readonly until: string | null;
  /** How long the provider keeps it after each request; null = not known. */
  readonly seconds: number | null;
}

/** The newest answer that a provider counted. */
export interface CountedAnswer {
  readonly at: number;
  readonly usage: Usage;
  readonly model: string | null;
  /** As recorded; absent = not recorded. */
  readonly provider?: string;
}

export function lastAnswer(turns: Iterable<Turn>): CountedAnswer | null {
  let newest: CountedAnswer | null = null;
  for (const { events } of turns) for (const event of events) newest = countedAnswer(event) ?? newest;
  return newest;
}

function countedAnswer({ metadata, timestamp }: Event): CountedAnswer | null {
  const usage = metadata?.usage === undefined ? null : readUsage(metadata.usage);
  const at = Date.parse(timestamp);
  if (usage === null || sizeOf(usage) === 0 || !Number.isFinite(at)) return null;
  const { model, provider } = metadata ?? {};
  return {
    at,
    usage,
    model: typeof model === "string" ? model : null,
    provider: typeof provider === "string" ? provider : undefined,
  };
}

/** Seconds for which Anthropic keeps what was cached after its last use: five minutes, or the hour that is paid for. */
const SHORT_CACHE = 300;
const LONG_CACHE = 3600;

/** Seconds for which the provider keeps what a request put into its cache, or read from it. */
export function keptFor({ cacheWrite1h = 0 }: Usage): number {
  return cacheWrite1h > 0 ? LONG_CACHE : SHORT_CACHE;
}

/** Only where the newest answer read from or wrote to a cache is it known that there is one. */
export function cacheState(answered: CountedAnswer | null, now: Date): CacheState {
  const { cacheRead = 0, cacheWrite = 0 } = answered?.usage ?? {};
  if (answered === null || cacheRead + cacheWrite === 0) return { state: "unknown", until: null, seconds: null };
  const seconds = keptFor(answered.usage);
  const until = answered.at + seconds * 1000;
  return { state: until > now.getTime() ? "warm" : "cold", until: new Date(until).toISOString(), seconds };
}

/** The terms of the next call. A cache of which nothing is known counts as warm: then a compaction costs most. */
export function callTermsOf(price: ModelPrice, { state, seconds }: CacheState): CallTerms {
  return { price, isWarm: state !== "cold", isHour: seconds === LONG_CACHE };
}

/** The terms of the next call, and whose they are. */
export interface NextCallTerms extends CallTerms {
  /** As the agent wrote it. */
  readonly model: string;
}

/** Finds the terms of the next call; null where no request was counted, none used a cache, or the price of its model is unknown. */
export async function nextCallTerms(
  workspace: Workspace,
  config: Config,
  turns: Iterable<Turn>,
): Promise<NextCallTerms | null> {
  const answered = lastAnswer(turns);
  if (answered === null || answered.model === null) return null;
  const { model, provider } = answered;
  const cache = cacheState(answered, workspace.runtime.now());
  if (cache.state === "unknown") return null;
  const { price } = await recordedFacts(workspace, config, { model, provider });
  return price === null ? null : { model, ...callTermsOf(price, cache) };
}
