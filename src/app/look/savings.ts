// What jpg's compactions have saved so far: the recorded requests that ran on the shortened view, what they did not send, and what that
// would have cost. Nothing is guessed: a request counts only if the provider's own count says that it was the short one.
import type { Config } from "../../config/config.ts";
import { type Compaction, compareCompactions } from "../../core/conversation/compaction.ts";
import { project } from "../../core/conversation/projection.ts";
import { type RecordedRequest, recordedRequests } from "../../core/model/calibration.ts";
import { savedUsd, type Unsent } from "../../core/model/money.ts";
import { sizeOf, type Usage } from "../../core/model/usage.ts";
import type { CountedView } from "../conversation/counted-view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { keptFor } from "../models/next-call.ts";
import { createPrices } from "./recorded-cost.ts";

/** What compactions saved so far. */
export interface Savings {
  /** Requests that ran on the shortened view. */
  readonly requests: number;
  /** Tokens that these requests did not send, whole; a hidden token counts once for each of them. */
  readonly tokens: number;
  /** US dollars at list prices, less what was written to the cache anew; null = the price of a model is unknown. */
  readonly usd: number | null;
}

/** Errors of an estimate, of which half of what is hidden must be larger. */
const SURE_ERRORS = 2;

/** Sums what the live compactions of jpg saved; undefined where no recorded request is known to have run on the shortened view. */
export async function readSavings(
  workspace: Workspace,
  config: Config,
  counted: CountedView,
): Promise<Savings | undefined> {
  const requests = shortRequests(counted);
  if (requests.length === 0) return undefined;
  const priceFor = createPrices(workspace, async () => config);
  let [tokens, usd] = [0, 0 as number | null];
  for (const { usage, model, ...unsent } of requests) {
    const price = await priceFor(model);
    tokens += unsent.hidden;
    usd = usd === null || price === null ? null : usd + savedUsd(usage, unsent, price);
  }
  return { requests: requests.length, tokens, usd };
}

/** A request that ran on the shortened view. */
interface ShortRequest extends Unsent {
  readonly usage: Usage;
  /** As the agent wrote it; empty = not recorded. */
  readonly model: string;
}

/**
 * Lists the requests that were sent after a compaction, and are smaller than the conversation was without jpg's compactions by more than
 * half of what these hide. Empty where the estimate is not sure enough to tell, and in a partial clone.
 */
function shortRequests(counted: CountedView): readonly ShortRequest[] {
  const { facts, meter, elsewhere } = counted;
  const { calibration } = meter;
  const steps = calibration === null || elsewhere > 0 ? [] : stepsOf(counted);
  if (calibration === null || steps.length === 0) return [];
  const total = facts.reduce((sum, { tokens }) => sum + tokens, 0);
  const isShort = ({ usage, before }: RecordedRequest, { without, hidden }: Step): boolean => {
    const whole = without - meter.factor * (total - before);
    return sizeOf(usage) <= whole - hidden / 2 && hidden / 2 > SURE_ERRORS * calibration.medianError * whole;
  };
  const requests = recordedRequests(facts);
  let last: Step | undefined;
  return requests.flatMap((request, position): readonly ShortRequest[] => {
    const { usage, model = "" } = request;
    const step = steps.findLast(({ at }) => at < Date.parse(request.time));
    if (step === undefined || step.hidden === 0 || !isShort(request, step)) return [];
    const isRewrite = step !== last && isCached(requests[position - 1], request);
    last = step;
    return [{ usage, model, hidden: step.hidden, isRewrite }];
  });
}

/** Whether a request was sent while the provider still had the one before it in its cache. */
function isCached(before: RecordedRequest | undefined, { time }: RecordedRequest): boolean {
  return before !== undefined && Date.parse(time) - Date.parse(before.time) <= 1000 * keptFor(before.usage);
}

/** The view after a compaction, until the next one. */
interface Step {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Tokens of the conversation without jpg's compactions. */
  readonly without: number;
  /** Of these, what jpg's compactions hide. */
  readonly hidden: number;
}

/** What agents compacted themselves is not jpg's saving. */
function isOwn({ source }: Compaction): boolean {
  return source !== "import";
}

function stepsOf({ live, turns, facts, meter }: CountedView): readonly Step[] {
  const applied = live.applied.toSorted(compareCompactions);
  if (!applied.some(isOwn)) return [];
  const turnCount = facts.length;
  const size = (compactions: readonly Compaction[]): number =>
    meter.countView(project({ turnCount, turns, compactions }), compactions).tokens;
  return applied.map(({ timestamp }, at) => {
    const inForce = applied.slice(0, at + 1);
    const others = inForce.filter((one) => !isOwn(one));
    const without = size(others);
    const hidden = others.length === inForce.length ? 0 : Math.max(0, without - size(inForce));
    return { at: Date.parse(timestamp), without, hidden };
  });
}
