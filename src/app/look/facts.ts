// What a list says of a conversation: its title, sizes, agent and cost. It follows from the commit and from the prices that this jpg
// has, and is cached by both.
import type { Config } from "../../config/config.ts";
import { marksInForce } from "../../core/conversation/marks.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip } from "../../store/store.ts";
import { type CountedView, loadCountedMinimal, reportTokens } from "../conversation/counted-view.ts";
import { lastMessageTime } from "../conversation/last-message.ts";
import { sha256 } from "../conversation/runtime.ts";
import { isBrokenLink } from "../conversation/spliced-turns.ts";
import { type ConversationFacts, cacheAtTip, cachedAt, readTip } from "../conversation/tip-cache.ts";
import { titleFrom } from "../conversation/title.ts";
import {
  type BranchTree,
  type ConversationHeader,
  loadBranchTree,
  parentSession,
  warnOfDamage,
} from "../conversation/tree.ts";
import { readMetas } from "../conversation/turns.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { viewWindow } from "../models/models.ts";
import { addCosts, costByTurn } from "./recorded-cost.ts";

/** Reads the facts of branches. */
export interface FactsReader {
  /** From the cache; undefined = they have to be read. */
  cached(tip: BranchTip): ConversationFacts | undefined;
  /** From the cache, or reads and caches them. Throws the errors of a damaged conversation. */
  read(tip: BranchTip): Promise<ConversationFacts>;
}

/** What prices and windows follow from; null = the settings cannot be read, and neither is known. */
interface Prices {
  readonly config: Config;
  readonly key: string;
}

/** Creates a reader with the prices and windows of now. */
export async function createFactsReader(workspace: Workspace): Promise<FactsReader> {
  const { store } = workspace;
  const prices = await readPrices(workspace);
  const cached = ({ name, commit }: BranchTip): ConversationFacts | undefined => {
    const kept = cachedAt(readTip(store, name).facts, commit);
    return kept?.priced === prices?.key ? kept : undefined;
  };
  return {
    cached,
    async read(tip) {
      const kept = cached(tip);
      if (kept !== undefined) return kept;
      const facts = await readFacts(workspace, tip, prices);
      const { name: branch, commit } = tip;
      // A partial clone may have more turns the next time.
      if (facts.turns_elsewhere === undefined) await cacheAtTip(store, { branch, commit }, "facts", facts);
      return facts;
    },
  };
}

/** A mistake in the settings is a warning here: what is stored can be listed in spite of it. */
async function readPrices(workspace: Workspace): Promise<Prices | null> {
  try {
    const { config } = await workspace.config();
    return { config, key: `${workspace.runtime.version} ${sha256(JSON.stringify(config.providers)).slice(0, 16)}` };
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind !== "config") throw error;
    workspace.warn(error.message);
    return null;
  }
}

async function readFacts(
  workspace: Workspace,
  { name, commit }: BranchTip,
  prices: Prices | null,
): Promise<ConversationFacts> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const damaged = await warnOfDamage(workspace, tree);
  const [loaded, [seconds = 0]] = await Promise.all([loadCountedMinimal(store, tree), store.readCommitTimes([commit])]);
  const metas = await readMetas(workspace, tree);
  const { archived, labels } = marksInForce(metas);
  return {
    title: titleFrom(metas, tree.header.title, loaded.turns),
    turns: tree.turnOids.length,
    ...(loaded.elsewhere === 0 ? {} : { turns_elsewhere: loaded.elsewhere }),
    ...reportTokens(loaded),
    compactions: loaded.live.all.length,
    ...compactedTo(loaded, tree),
    ...parentOf(tree.header),
    ...(isSpliced(loaded, tree) ? { spliced: true as const } : {}),
    ...(damaged > 0 ? { damaged: true as const } : {}),
    updated_at:
      lastMessageTime(loaded.turns.get(tree.turnOids.length - 1)?.events) ?? new Date(seconds * 1000).toISOString(),
    ...(tree.header.source === null ? {} : { agent: tree.header.source.format }),
    ...(prices === null ? {} : await pricedFacts(workspace, loaded, prices)),
    ...(archived ? { archived } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

async function pricedFacts(
  workspace: Workspace,
  { turns, facts, meter }: CountedView,
  { config, key }: Prices,
): Promise<Pick<ConversationFacts, "cost_usd" | "window" | "priced">> {
  const cost = addCosts((await costByTurn(workspace, config, facts)).values());
  const window = await viewWindow(workspace, config, { turns, meter, next: null });
  return {
    ...(cost === null ? {} : { cost_usd: cost.price_usd }),
    ...(window === null || window.tokens === null ? {} : { window: { ...window, tokens: window.tokens } }),
    priced: key,
  };
}

function parentOf(header: ConversationHeader): Pick<ConversationFacts, "parent"> {
  const parent = parentSession(header);
  return parent === null || header.source === null ? {} : { parent: { format: header.source.format, ...parent } };
}

function compactedTo({ live }: CountedView, { turnOids }: BranchTree): Pick<ConversationFacts, "compacted_to"> {
  if (live.applied.length === 0) return {};
  const last = live.applied.reduce((turn, { to_turn }) => Math.max(turn, to_turn), 0);
  return { compacted_to: Math.min(last, turnOids.length - 1) };
}

/** Like `findBrokenLinks`, from cached facts. */
function isSpliced({ facts }: CountedView, { turnOids }: BranchTree): boolean {
  return turnOids.length > 1 && facts.some(({ previous, index }) => isBrokenLink(previous, turnOids[index - 1]));
}
