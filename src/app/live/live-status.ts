// What a plug-in shows while its agent runs: how full the window is, what the newest compaction hid, what the next request costs with
// and without a compaction, and whether the provider still has the conversation in its cache.
import type { Config } from "../../config/config.ts";
import { FACT_KINDS } from "../../core/conversation/compaction.ts";
import { type Event, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { project } from "../../core/conversation/projection.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { priceOf, readUsage, renderPrice, sizeOf, type Usage } from "../../core/model/usage.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import type { CountedView } from "../conversation/counted-view.ts";
import { newestAdded, readRecordLog } from "../conversation/log.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { recordedFacts, viewWindow } from "../models/models.ts";
import { formatByName } from "../sessions/session-registry.ts";
import { type CompactionPreview, type LiveConversation, previewCompaction } from "./live-rules.ts";
import type { BandLine, CacheState, HiddenParts, LastCompaction, LiveStatus, NextCost } from "./protocol.ts";

/** Below this size no compaction is planned ahead: it would free little. Tokens. */
const LEAST_TOKENS = 20_000;

/** Counts a conversation. What a further compaction would bring is only planned where nobody waits for the context. */
export async function liveStatus(conversation: LiveConversation): Promise<LiveStatus> {
  const { workspace, request, tree } = conversation;
  const counted = await conversation.load(tree);
  const { config } = await loadConversationConfig(workspace, tree);
  const { view, live, turns, meter } = counted;
  const estimated = meter.countView(view, live.applied).tokens;
  const known = request.window ?? (await viewWindow(workspace, config, { turns, meter, next: null }))?.tokens;
  const window = known ?? null;
  const tokens = request.tokens ?? estimated;
  const share = window === null || window === 0 ? null : Math.min(1, tokens / window);
  const last = await lastCompaction(conversation, counted);
  const answered = lastAnswer(turns.values());
  const cache = cacheState(answered, workspace.runtime.now());
  const model = request.model ?? answered?.model ?? null;
  const price = model === null ? null : (await recordedFacts(workspace, config, { model })).price;
  const isAhead = request.do === "keep" || request.do === "status";
  const preview = isAhead && tokens >= LEAST_TOKENS ? await previewCompaction(conversation) : null;
  const cost = nextCost({ model, price, cache, tokens, preview });
  const facts = { settings: config.conversation.compaction.auto, share, cost, cache };
  const status = {
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    context: { tokens, window, share },
    last,
    undo: last === null ? null : { tokens: sizeWithout(last.compaction, tree.turnOids.length, counted) },
    hidden: hiddenParts(counted, estimated, last),
    cache,
    cost,
    offer: isOffered(facts),
    act: facts.settings.enabled && share !== null && share >= facts.settings.trigger_ratio && cost.with !== null,
  };
  return { ...status, band: bandOf(status, formatByName(request.agent).agent.name) };
}

interface OfferFacts {
  readonly settings: Config["conversation"]["compaction"]["auto"];
  readonly share: number | null;
  readonly cost: NextCost;
  readonly cache: CacheState;
}

/** From the share at which the user wants to be warned; earlier where it is nearly free, since the cache is cold anyway. */
function isOffered({ settings, share, cost, cache }: OfferFacts): boolean {
  if (share === null || cost.with === null) return false;
  return share >= settings.warning_ratio * (cache.state === "cold" ? COLD_SHARE : 1);
}

/** Of the usual share. */
const COLD_SHARE = 0.5;

async function lastCompaction(
  { workspace: { store }, tree }: LiveConversation,
  { live: { applied }, meter }: CountedView,
): Promise<LastCompaction | null> {
  if (applied.length === 0) return null;
  const live = new Set(tree.compactions.map(({ path }) => path));
  const entry = (await readRecordLog(store, tree.commit)).find((one) => newestAdded(one, live) !== undefined);
  const id = entry === undefined ? null : compactionIdOfPath(newestAdded(entry, live) ?? "");
  const found = applied.find((one) => one.id === id);
  if (entry === undefined || found === undefined) return null;
  const { before = null, after = null } = found.stats?.tokens ?? {};
  const by = found.source === "import" ? "agent" : "jpg";
  // Of its own compaction an agent counts the whole context, or nothing: then only the summary was estimated.
  const isWhole = by === "jpg" || typeof found.metadata?.["postTokens"] === "number";
  const whole = after === null || isWhole ? after : after + meter.overheadUnder(applied);
  return { compaction: found.id, commit: entry.commit, by, before, after: whole, at: found.timestamp };
}

function sizeWithout(id: string, turnCount: number, { turns, live, meter }: CountedView): number {
  const rest = live.applied.filter((one) => one.id !== id);
  return meter.countView(project({ turnCount, turns, compactions: rest }), rest).tokens;
}

function hiddenParts(
  { view, turns, live, meter }: CountedView,
  shownTokens: number,
  last: LastCompaction | null,
): HiddenParts {
  const receipt = live.applied.find(({ id }) => id === last?.compaction)?.receipt;
  const facts: Record<string, number> = {};
  for (const kind of FACT_KINDS) {
    const hidden = receipt?.facts[kind]?.hidden ?? 0;
    if (hidden > 0) facts[kind] = hidden;
  }
  return {
    events: countHidden(view, turns.values()),
    tokens: Math.max(0, meter.countHistory().tokens - shownTokens),
    facts,
  };
}

/** Counts what a model was sent and is not shown as it was. */
function countHidden({ turns: shown }: View, turns: Iterable<Turn>): number {
  const same = new Set<Event>(shown.flatMap(({ events }) => events));
  let hidden = 0;
  for (const { events } of turns)
    for (const event of events) if (traitsOf(event).providerVisible && !same.has(event)) hidden += 1;
  return hidden;
}

/** The newest answer that a provider counted. */
interface CountedAnswer {
  readonly at: number;
  readonly usage: Usage;
  readonly model: string | null;
}

function lastAnswer(turns: Iterable<Turn>): CountedAnswer | null {
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
function cacheState(answered: CountedAnswer | null, now: Date): CacheState {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = answered?.usage ?? {};
  if (answered === null || cacheRead + cacheWrite === 0) return { state: "unknown", until: null, seconds: null };
  const seconds = cacheWrite1h > 0 ? LONG_CACHE : SHORT_CACHE;
  const until = answered.at + seconds * 1000;
  return { state: until > now.getTime() ? "warm" : "cold", until: new Date(until).toISOString(), seconds };
}

interface CostFacts {
  readonly model: string | null;
  readonly price: ModelPrice | null;
  readonly cache: CacheState;
  readonly tokens: number;
  readonly preview: CompactionPreview | null;
}

function nextCost({ model, price, cache, tokens, preview }: CostFacts): NextCost {
  const isWarm = cache.state !== "cold";
  const usd = (cached: number, written: number): number | null =>
    price === null
      ? null
      : priceOf(
          { input: 0, output: 0, cacheRead: isWarm ? cached : 0, cacheWrite: written + (isWarm ? 0 : cached) },
          price,
        );
  // The agent's own count is right for the context as it is; the plan says which share of it would stay.
  const scale = preview === null || preview.before === 0 ? 1 : tokens / preview.before;
  const after = Math.round((preview?.after ?? 0) * scale);
  const kept = Math.min(after, Math.round((preview?.kept ?? 0) * scale));
  return {
    model,
    without: { tokens, usd: usd(tokens, 0) },
    with: preview === null ? null : { tokens: after, rewritten: after - kept, usd: usd(kept, after - kept) },
  };
}

type Shown = Omit<LiveStatus, "band">;

/** The lines of the band: a warm cache is told as such until it is cold. */
function bandOf(status: Shown, agent: string): readonly BandLine[] {
  const { context, cache, cost } = status;
  const size = `${context.share === null ? formatTokens(context.tokens) : `${Math.round(context.share * 100)} % of ${formatTokens(context.window ?? 0)}`}`;
  const parts = [size, ...lastPart(status, agent)];
  const offer = (state: CacheState["state"]): string => {
    if (!status.offer || cost.with === null) return "";
    const sizes = `${formatTokens(cost.without.tokens)} → ~${formatTokens(cost.with.tokens)}`;
    const prices =
      cost.with.usd === null ? "" : `, ${renderPrice(cost.without.usd)} → ${renderPrice(cost.with.usd)} a request`;
    if (state === "cold") return `/jpg-compact is nearly free now: the cache is cold (${sizes}${prices})`;
    const written = cost.with.rewritten > 0 ? `, ${formatTokens(cost.with.rewritten)} written to the cache anew` : "";
    return `/jpg-compact: ${sizes}${prices}${written}`;
  };
  const line = (state: CacheState["state"]): string =>
    ["jpg", ...parts, offer(state)].filter((part) => part !== "").join(" · ");
  if (cache.state !== "warm" || cache.until === null) return [{ text: line(cache.state) }];
  return [{ until: cache.until, text: line("warm") }, { text: line("cold") }];
}

function lastPart({ last, hidden }: Shown, agent: string): readonly string[] {
  if (last === null) return [];
  const sizes =
    last.before === null || last.after === null ? "" : ` ${formatTokens(last.before)} → ${formatTokens(last.after)}`;
  const who = last.by === "agent" ? `${agent} compacted${sizes}` : `compacted${sizes}`;
  const lost = hidden.events === 0 ? "" : `, ${hidden.events} events hidden, none lost`;
  return [`${who}${lost}: /jpg-undo`];
}
