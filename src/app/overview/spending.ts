// What the machine's recorded requests came to since some moment: requests, tokens sent and list price, by project, agent and model. Each
// request counts once, however many forks and copies of a session have it. A price that is unknown is no figure: its tokens are named.

import type { JpgError } from "../../core/errors.ts";
import { type RecordedRequest, recordedRequests } from "../../core/model/calibration.ts";
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { priceOf, sizeOf, type TurnFacts, turnFacts } from "../../core/model/usage.ts";
import { countProgress, type ReportProgress } from "../conversation/progress.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { createPrices } from "../look/recorded-cost.ts";
import { asPlaceError, type MachinePlace, missingSessions, visitPlaces } from "./machine.ts";

/** A sum of requests. Tokens are whole numbers. */
export interface Spent {
  readonly requests: number;
  /** All that was sent: `input`, `cache_read` and `cache_write`. */
  readonly tokens_sent: number;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
  /** US dollars at today's list prices, without the requests of `unpriced`; null = no price is known. */
  readonly price_usd: number | null;
  /** Requests of models whose price is not known; absent = none. */
  readonly unpriced?: { readonly requests: number; readonly tokens_sent: number };
}

export interface SpendingReport {
  /** RFC 3339. */
  readonly since: string;
  readonly total: Spent;
  /** Those with the highest price first; `project`: its top folder, null = none. */
  readonly by_project: readonly (Spent & { readonly project: string | null })[];
  /** `agent`: name of the format of the session that the conversation began as; null = it began in jpg. */
  readonly by_agent: readonly (Spent & { readonly agent: string | null })[];
  /** `model`: as the agent wrote it; null = it names none. */
  readonly by_model: readonly (Spent & { readonly model: string | null })[];
  /** Sessions changed since then that are not imported, wholly or in part: what is new in them is not counted. */
  readonly not_imported: number;
  /** What cannot be read, and is not counted; `branch` absent = the whole store. */
  readonly unreadable: readonly { readonly directory: string; readonly branch?: string; readonly error: JpgError }[];
}

interface SpendingOptions {
  readonly sinceMs: number;
  readonly progress: ReportProgress;
  readonly warn?: (message: string) => void;
}

const NOTHING: Spent = {
  requests: 0,
  tokens_sent: 0,
  input: 0,
  cache_read: 0,
  cache_write: 0,
  output: 0,
  price_usd: null,
};

/** Sums up the machine's recorded requests. */
export async function readSpending(runtime: Runtime, options: SpendingOptions): Promise<SpendingReport> {
  const tally = createTally();
  const unreadable: SpendingReport["unreadable"][number][] = [];
  let missing = 0;
  const failed = await visitPlaces(runtime, options, async (workspace, place) => {
    const fail = (error: unknown, branch: string): void => {
      unreadable.push({ directory: place.directory, branch, error: asPlaceError(error) });
    };
    missing += await readPlace(workspace, place, { ...options, tally, fail });
  });
  return {
    since: new Date(options.sinceMs).toISOString(),
    ...tally.report(),
    not_imported: missing,
    unreadable: [...unreadable, ...failed],
  };
}

interface PlaceReading extends SpendingOptions {
  readonly tally: Tally;
  /** Notes an error of a user's or of a store; throws any other. */
  readonly fail: (error: unknown, branch: string) => void;
}

/** Adds the requests of a place. Returns the number of its sessions that are not imported. */
async function readPlace(workspace: Workspace, place: MachinePlace, reading: PlaceReading): Promise<number> {
  if (workspace.location.exists) await readStore(workspace, place, reading);
  const missing = await missingSessions(workspace, place);
  return missing.filter(({ changedMs }) => changedMs >= reading.sinceMs).length;
}

/** A branch whose last commit is older has no request since: the commit of a turn has the time of its end, in whole seconds. */
async function readStore(
  workspace: Workspace,
  place: MachinePlace,
  { sinceMs, tally, fail }: PlaceReading,
): Promise<void> {
  const { store } = workspace;
  const tips = await store.listBranches();
  const times = await store.readCommitTimes(tips.map(({ commit }) => commit));
  const recent = tips.filter((_, at) => ((times[at] ?? 0) + 1) * 1000 > sinceMs);
  const known = new Map<string, TurnFacts>();
  const priceFor = createPrices(workspace, async () => (await workspace.config()).config);
  const project = place.isProject ? place.directory : null;
  for (const { name, commit } of countProgress(workspace, "reading conversations", recent)) {
    try {
      const tree = await loadBranchTree(store, name, commit);
      const agent = tree.header.source?.format ?? null;
      for (const request of recordedRequests(await factsOf(workspace, tree, known))) {
        if (!(Date.parse(request.time) >= sinceMs)) continue;
        tally.add(request, { project, agent, price: await priceFor(request.model) });
      }
    } catch (error) {
      fail(error, name);
    }
  }
}

/** Reads the facts of turns that are here; forks share most of theirs. */
async function factsOf(
  { store }: Workspace,
  tree: BranchTree,
  known: Map<string, TurnFacts>,
): Promise<readonly TurnFacts[]> {
  const absent = new Set(store.partial?.missing(tree.turnOids) ?? []);
  const wanted = tree.turnOids.flatMap((oid, turn) => (known.has(oid) || absent.has(oid) ? [] : [turn]));
  for (const [index, turn] of await loadTurns(store, tree, wanted))
    known.set(tree.turnOids[index] ?? "", turnFacts(turn));
  return tree.turnOids.flatMap((oid) => known.get(oid) ?? []);
}

interface Tally {
  /** Adds a request, unless it is in there already. */
  add(
    request: RecordedRequest,
    of: { readonly project: string | null; readonly agent: string | null; readonly price: ModelPrice | null },
  ): void;
  report(): Pick<SpendingReport, "total" | "by_project" | "by_agent" | "by_model">;
}

function createTally(): Tally {
  const seen = new Set<string>();
  let total = NOTHING;
  const projects = new Map<string | null, Spent>();
  const agents = new Map<string | null, Spent>();
  const models = new Map<string | null, Spent>();
  return {
    add(request, { project, agent, price }) {
      const key = keyOf(request);
      if (seen.has(key)) return;
      seen.add(key);
      const spent = spentOn(request, price);
      total = sumSpent([total, spent]);
      addTo(projects, project, spent);
      addTo(agents, agent, spent);
      addTo(models, request.model ?? null, spent);
    },
    report: () => ({
      total,
      by_project: mostFirst(projects).map(([project, spent]) => ({ project, ...spent })),
      by_agent: mostFirst(agents).map(([agent, spent]) => ({ agent, ...spent })),
      by_model: mostFirst(models).map(([model, spent]) => ({ model, ...spent })),
    }),
  };
}

function addTo(sums: Map<string | null, Spent>, name: string | null, spent: Spent): void {
  sums.set(name, sumSpent([sums.get(name) ?? NOTHING, spent]));
}

/** What copies of a request share, in a fork or in a session that the agent copied, and no two requests do. */
function keyOf({ message, time, model, usage }: RecordedRequest): string {
  const { input, cacheRead, cacheWrite, output } = usage;
  return JSON.stringify([message, time, model, input, cacheRead, cacheWrite, output]);
}

function spentOn({ usage }: RecordedRequest, price: ModelPrice | null): Spent {
  const { input, cacheRead: cache_read, cacheWrite: cache_write, output } = usage;
  const spent = { requests: 1, tokens_sent: sizeOf(usage), input, cache_read, cache_write, output };
  return price === null
    ? { ...spent, price_usd: null, unpriced: { requests: 1, tokens_sent: spent.tokens_sent } }
    : { ...spent, price_usd: priceOf(usage, price) };
}

/** Adds sums up. */
export function sumSpent(sums: readonly Spent[]): Spent {
  return sums.reduce((sum, one) => {
    const unpriced = {
      requests: (sum.unpriced?.requests ?? 0) + (one.unpriced?.requests ?? 0),
      tokens_sent: (sum.unpriced?.tokens_sent ?? 0) + (one.unpriced?.tokens_sent ?? 0),
    };
    return {
      requests: sum.requests + one.requests,
      tokens_sent: sum.tokens_sent + one.tokens_sent,
      input: sum.input + one.input,
      cache_read: sum.cache_read + one.cache_read,
      cache_write: sum.cache_write + one.cache_write,
      output: sum.output + one.output,
      price_usd: one.price_usd === null ? sum.price_usd : (sum.price_usd ?? 0) + one.price_usd,
      ...(unpriced.requests === 0 ? {} : { unpriced }),
    };
  }, NOTHING);
}

/** By price, then, where none is known, by tokens. */
function mostFirst(sums: ReadonlyMap<string | null, Spent>): readonly (readonly [string | null, Spent])[] {
  return [...sums].sort(([, a], [, b]) => (b.price_usd ?? -1) - (a.price_usd ?? -1) || b.tokens_sent - a.tokens_sent);
}
