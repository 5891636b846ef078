// What a plug-in shows while its agent runs: how full the window is, what the newest compaction hid, what the next request costs with
// and without a compaction, and whether the provider still has the conversation in its cache.
import type { Config } from "../../config/config.ts";
import { FACT_KINDS } from "../../core/conversation/compaction.ts";
import { type Event, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { project } from "../../core/conversation/projection.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import type { CountedView } from "../conversation/counted-view.ts";
import { newestLive, readRecordLog } from "../conversation/log.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { recordedFacts, viewWindow } from "../models/models.ts";
import { type CacheState, cacheState, lastAnswer } from "../models/next-call.ts";
import { formatByName } from "../sessions/session-registry.ts";
import { bandOf } from "./band.ts";
import { type LiveConversation, previewCompaction } from "./live-rules.ts";
import { nextCost } from "./next-cost.ts";
import type { HiddenParts, LastCompaction, LiveStatus, NextCost } from "./protocol.ts";

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
  const newest = newestLive(await readRecordLog(store, tree.commit), live);
  const id = compactionIdOfPath(newest?.path ?? "");
  const found = applied.find((one) => one.id === id);
  if (newest === null || found === undefined) return null;
  const { before = null, after = null } = found.stats?.tokens ?? {};
  const by = found.source === "import" ? "agent" : "jpg";
  // Of its own compaction an agent counts the whole context, or nothing: then only the summary was estimated.
  const isWhole = by === "jpg" || typeof found.metadata?.["postTokens"] === "number";
  const whole = after === null || isWhole ? after : after + meter.overheadUnder(applied);
  return { compaction: found.id, commit: newest.entry.commit, by, before, after: whole, at: found.timestamp };
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
