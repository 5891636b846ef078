// Tokens as the reports give them: raw and of the view, with who counted them. One place, so that every command says the
// same of the same conversation.
import type { Turn } from "../../core/event/turn.ts";
import { planReading } from "../../core/projection/hidden-turns.ts";
import { project } from "../../core/projection/projection.ts";
import type { View } from "../../core/projection/view.ts";
import { createTokenMeter, type TokenMeter, type TokenSource } from "../../core/tokens/token-meter.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { BranchTree } from "./branch-tree.ts";
import { type LiveCompactions, loadCompactions, loadTurns } from "./load-view.ts";

/** Tokens of a conversation, system prompt and tools included where they are known. */
export interface TokenReport {
  readonly tokens: { readonly raw: number; readonly view: number };
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
}

/** A branch as it is shown, with what counts it. Turns that its compactions hide are not read. */
export interface MeteredView {
  readonly view: View;
  readonly live: LiveCompactions;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly meter: TokenMeter;
}

/** Loads a branch's view with its meter. */
export async function loadMetered(store: ConversationStore, tree: BranchTree): Promise<MeteredView> {
  const live = await loadCompactions(store, tree);
  const turnCount = tree.turnOids.length;
  const turns = await loadTurns(store, tree, planReading(turnCount, live.applied));
  const view = project({ turnCount, turns, compactions: live.applied });
  return { view, live, turns, meter: createTokenMeter(turns.values(), live.applied) };
}

/** Creates a loader that reads a branch again only when it has moved. */
export function createMeteredLoader(store: ConversationStore): (tree: BranchTree) => Promise<MeteredView> {
  let last: { readonly commit: string; readonly loaded: MeteredView } | null = null;
  return async (tree) => {
    if (last?.commit !== tree.commit) last = { commit: tree.commit, loaded: await loadMetered(store, tree) };
    return last.loaded;
  };
}

/** Counts a branch, all of it and its view. */
export function reportTokens({ view, live, meter }: Pick<MeteredView, "view" | "live" | "meter">): TokenReport {
  const raw = meter.countHistory();
  const shown = meter.countView(view, live.applied);
  return { tokens: { raw: raw.tokens, view: shown.tokens }, tokens_source: worstSource([raw.source, shown.source]) };
}

/** What may be said of several counts at once: `recorded` only when all are. */
export function worstSource(sources: readonly TokenSource[]): TokenSource {
  return sources.every((source) => source === "recorded") ? "recorded" : "estimate";
}
