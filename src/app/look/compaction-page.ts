// Reads the page of one compaction: the views before and after it, what the model no longer sees and who said that first, and its
// summary with the events that confirm it. A plain value, so that rendering it opens no store.
import { type TracedFact, traceFacts } from "../../core/compact/receipt.ts";
import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { describeTurns, type Event } from "../../core/conversation/event.ts";
import { pinnedEvents } from "../../core/conversation/marks.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/money.ts";
import { priceOf } from "../../core/model/usage.ts";
import { type CompactRequest, compact } from "../compact/compact.ts";
import { loadCounted } from "../conversation/counted-view.ts";
import { coveredEvents } from "../conversation/covers.ts";
import { loadConversationConfig, readPins } from "../conversation/marks.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { diffViews, type ViewDiff } from "../diff/diff.ts";
import { eventText } from "../diff/view-text.ts";
import { modelFacts } from "../models/models.ts";
import type { CompactionViews } from "./blame.ts";
import { type LogRow, readCompactionLog } from "./log.ts";
import { describeSpeaker } from "./search.ts";
import { type ShowCompaction, showCompaction } from "./show.ts";
import { type FactPlace, type FactSource, readSourcesOf } from "./summary-sources.ts";

/** A fact that the model no longer sees where it was said. */
export interface LostFact extends Pick<TracedFact, "kind" | "text" | "turn" | "mentionedIn" | "times"> {
  /** `summary`: the summary contains it; `pointer`: a stub names the event with it. */
  readonly fate: Exclude<TracedFact["fate"], "visible" | "by_name">;
  /** The event that said it first, and who; null = an older summary did. */
  readonly source: { readonly event: string; readonly who: string; readonly isPinned: boolean } | null;
}

/** An event that says a fact of a summary, with the text around it. */
interface QuotedPlace extends FactPlace {
  readonly around: string;
}

/** A summary with the sources of its facts. */
export interface SummaryWithSources {
  readonly compaction: string;
  readonly text: string;
  readonly facts: readonly (Omit<FactSource, "places"> & { readonly places: readonly QuotedPlace[] })[];
}

export interface CompactionPage {
  readonly title: string;
  readonly shown: ShowCompaction;
  /** Newest commit that added it, reverted it or brought it back. */
  readonly newest: LogRow | null;
  readonly diff: ViewDiff;
  /** By kind, then in order of appearance. */
  readonly lost: readonly LostFact[];
  readonly summaries: readonly SummaryWithSources[];
}

/** Characters around a fact that are shown. */
const AROUND = 100;

/** Reads the page of a compaction. Throws `not_a_compaction`, `attachment_missing`. */
export async function readCompactionPage(
  workspace: Workspace,
  tree: BranchTree,
  compaction: string,
): Promise<CompactionPage> {
  const { shown, views } = await showCompaction(workspace, tree, { kind: "compaction", compaction });
  const log = await readCompactionLog(workspace, tree);
  const { sources, texts } = await readSummaries(workspace, tree, shown);
  return {
    title: await conversationTitle(workspace, tree),
    shown,
    newest: log.find((row) => (row.compactions ?? [row.compaction]).includes(shown.event.id)) ?? null,
    diff: diffViews(views.before, views.after),
    lost: await readLost(workspace, tree, views),
    summaries: sources.map(({ compaction: id, facts }) => ({
      compaction: id,
      text: views.group.find((record) => record.id === id)?.summary?.summary ?? "",
      facts: facts.map((fact) => ({
        ...fact,
        places: fact.places.map((place) => ({
          ...place,
          around: wordsAround(texts.get(place.event) ?? "", fact.text),
        })),
      })),
    })),
  };
}

async function readSummaries(workspace: Workspace, tree: BranchTree, shown: ShowCompaction) {
  const records = (shown.compactions ?? [shown.event]).filter(({ summary }) => summary !== undefined);
  const read = [];
  for (const record of records) read.push(await readSourcesOf(workspace, { ...shown, branch: tree.branch }, record));
  const texts = new Map(read.flatMap(({ covered }) => covered.map(({ event }) => [event.id, eventText(event) ?? ""])));
  return { sources: read.map(({ sources }) => sources), texts };
}

async function readLost(workspace: Workspace, tree: BranchTree, views: CompactionViews): Promise<readonly LostFact[]> {
  const { group, turns, before, after } = views;
  const raw = [...new Set(group.flatMap((record) => coveredEvents(record, turns).map(({ event }) => event)))];
  const summary = group.flatMap((record) => record.summary?.summary ?? []).join("\n\n");
  const traced = traceFacts({ raw, before, after, ...(summary === "" ? {} : { summary }) });
  const pinned = new Set(pinnedEvents(await readPins(workspace, tree), turns.values()));
  const who = speakersOf(raw);
  return traced.flatMap(({ kind, text, turn, event, fate, mentionedIn, times }): LostFact[] => {
    if (fate === "visible" || fate === "by_name") return [];
    const speaker = who.get(event);
    const source = speaker === undefined ? null : { event, who: speaker, isPinned: pinned.has(event) };
    return [{ kind, text, turn, mentionedIn, times, fate, source }];
  });
}

function speakersOf(events: readonly Event[]): ReadonlyMap<string, string> {
  const tools = new Map<string, string>();
  for (const event of events) if (event.type === "tool_call_request") tools.set(event.call_id, event.name);
  return new Map(events.map((event) => [event.id, describeSpeaker(event, tools)]));
}

/** The text of an event around a fact; its beginning where the fact is spelled otherwise. */
function wordsAround(text: string, fact: string): string {
  const at = Math.max(0, text.indexOf(fact));
  const [start, end] = [Math.max(0, at - AROUND), Math.min(text.length, at + fact.length + AROUND)];
  return `${start > 0 ? "…" : ""}${text.slice(start, end).trim()}${end < text.length ? "…" : ""}`;
}

/** A model, and the cost of asking it. */
export interface AskedCost {
  /** `provider/model`. */
  readonly model: string;
  /** Turn positions, 0-based, inclusive. */
  readonly from_turn: number;
  readonly to_turn: number;
  /** Estimate of the raw events to send. */
  readonly tokens: number;
  /** US dollars for these at list prices, without the answer; null = unknown. */
  readonly price_usd: number | null;
}

/** Finds the model that a compaction would ask, without asking it; null = none. */
export async function askedModel(
  workspace: Workspace,
  tree: BranchTree,
  request: CompactRequest,
): Promise<AskedCost | null> {
  const { planned_summary, further } = await compact(workspace, tree, { ...request, dryRun: true });
  const planned = planned_summary ?? further?.planned_summary ?? null;
  if (planned === null || planned.model === EXTRACTIVE) return null;
  const { model, from_turn, to_turn } = planned;
  const covered = tree.turnOids.map((_, turn) => turn).filter((turn) => from_turn <= turn && turn <= to_turn);
  const { turns, meter } = await loadCounted(workspace.store, tree);
  const tokens = meter.countEvents(covered.flatMap((turn) => turns.get(turn)?.events ?? []));
  const { config } = await loadConversationConfig(workspace, tree);
  const { price } = await modelFacts(workspace, config, model);
  const price_usd = price === null ? null : priceOf({ input: tokens, output: 0, cacheRead: 0, cacheWrite: 0 }, price);
  return { model, from_turn, to_turn, tokens, price_usd };
}

export function describeAsked({ model, from_turn: from, to_turn: to, tokens, price_usd: price }: AskedCost): string {
  const turns = describeTurns(from, to);
  const cost = price === null ? "at an unknown price" : `${renderPrice(price)} at list prices, plus the answer`;
  return `It asks ${model} for a summary of ${turns}: about ${formatTokens(tokens)} tokens are sent, ${cost}.`;
}
