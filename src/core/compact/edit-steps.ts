// Turns an edited plan into as few compactions as can express it, one for each run of lines with one verb and one for all single calls, and
// into pins that are set and removed. Turns that are not shown separate lines: no run crosses them.
import { isNothing } from "../conversation/bound-resolution.ts";
import type { CallPolicy, SelectedCall } from "../conversation/compaction.ts";
import { type CutRange, type Turn, traitsOf } from "../conversation/event.ts";
import { type Pin, pinnedEvents } from "../conversation/marks.ts";
import type { Policies } from "../conversation/policy.ts";
import { boundAt } from "../conversation/range-bound.ts";
import { listSafeCuts } from "../conversation/tool-pairing.ts";
import {
  type EditItem,
  type EditPlan,
  type EditVerb,
  type PlanLine,
  type PlanProblem,
  TRUNCATED_CHARS,
} from "./edit-plan.ts";
import { type CompactionPlan, type PlanInput, planCompaction } from "./plan.ts";

/** The verbs that make a compaction. */
type ChangingVerb = Exclude<EditVerb, "keep" | "pin">;

/** A run of lines that becomes one compaction. */
export interface EditStep {
  readonly verb: ChangingVerb | "calls";
  readonly range: CutRange;
  /** Of `calls`: what becomes of each. */
  readonly calls?: readonly SelectedCall[];
  /** First line of the run, 1-based. */
  readonly line: number;
}

export interface EditSteps {
  /** In order of their ranges, which do not overlap, except those of single calls. */
  readonly steps: readonly EditStep[];
  readonly pins: readonly Pin[];
  readonly unpins: readonly Pin[];
  readonly problems: readonly PlanProblem[];
}

/** Lists the steps of a plan. `turns` = the turns of its items, whole. */
export function listSteps(choices: readonly EditChoice[], turns: ReadonlyMap<number, Turn>): EditSteps {
  const whole = choices.filter(({ item }) => item.kind !== "call");
  const calls = choices.filter(({ item }) => item.kind === "call");
  const runs = runsOf(whole, turns);
  const parts = summarisedCalls(calls, turns);
  const steps = [...runs, ...parts.steps, ...singleCalls(calls)];
  return {
    steps: steps.sort((a, b) => a.line - b.line),
    ...pinsOf(choices),
    problems: [...clashes(choices), ...overlaps(whole, turns), ...parts.problems],
  };
}

function isChanging(verb: EditVerb): verb is ChangingVerb {
  return verb !== "keep" && verb !== "pin";
}

function runsOf(choices: readonly EditChoice[], turns: ReadonlyMap<number, Turn>): readonly EditStep[] {
  const runs: EditStep[] = [];
  let before: EditChoice | undefined;
  for (const choice of choices) {
    const { item, verb, line } = choice;
    const last = runs.at(-1);
    const continues = before?.verb === verb && follows(before.item.range, item.range, turns);
    before = choice;
    if (!isChanging(verb)) continue;
    if (continues && last !== undefined)
      runs[runs.length - 1] = { ...last, range: joined(last.range, item.range, turns) };
    else runs.push({ verb, range: item.range, line });
  }
  return runs;
}

/** From the start of the first to the later of both ends. */
function joined(one: CutRange, other: CutRange, turns: ReadonlyMap<number, Turn>): CutRange {
  const { from, fromEvent } = one;
  const isInside = other.to === one.to && lastIn(other, turns) < lastIn(one, turns);
  const { to, toEvent } = other.to < one.to || isInside ? one : other;
  return {
    from,
    fromEvent,
    to,
    toEvent,
  };
}

/** Whether nothing visible to a model lies between two ranges, or they overlap: a range may hide events around those it keeps. */
function follows(a: CutRange, b: CutRange, turns: ReadonlyMap<number, Turn>): boolean {
  if (a.to + 1 === b.from) return a.toEvent === undefined && b.fromEvent === undefined;
  if (a.to !== b.from) return a.to > b.from;
  const events = turns.get(a.to)?.events ?? [];
  return !events.slice(lastIn(a, turns) + 1, firstIn(b, turns)).some((event) => traitsOf(event).providerVisible);
}

/** Position of the first event of a range in its turn. */
function firstIn({ from, fromEvent }: CutRange, turns: ReadonlyMap<number, Turn>): number {
  return fromEvent === undefined ? 0 : positionOf(fromEvent, turns.get(from)?.events ?? []);
}

/** Position of the last event of a range in its turn. */
function lastIn({ to, toEvent }: CutRange, turns: ReadonlyMap<number, Turn>): number {
  const events = turns.get(to)?.events ?? [];
  return toEvent === undefined ? events.length - 1 : positionOf(toEvent, events);
}

function positionOf(id: string, events: Turn["events"]): number {
  return events.findIndex((event) => event.id === id);
}

/** What becomes of the halves of a call. */
const CALL_POLICIES: Readonly<Record<Exclude<ChangingVerb, "summarise">, Omit<SelectedCall, "event">>> = {
  strip: { request: "strip", response: "strip" },
  truncate: { response: { truncate: { max_chars: TRUNCATED_CHARS } } satisfies CallPolicy },
  omit: { request: "omit", response: "omit" },
};

/** One compaction names them all: it has no opinion on others. */
function singleCalls(choices: readonly EditChoice[]): readonly EditStep[] {
  const calls = choices.flatMap(({ item, verb }): SelectedCall[] =>
    isChanging(verb) && verb !== "summarise" ? [{ event: item.call ?? "", ...CALL_POLICIES[verb] }] : [],
  );
  const named = choices.filter(({ verb }) => isChanging(verb) && verb !== "summarise");
  const [first, last] = [named[0], named.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ verb: "calls", range: { from: first.item.range.from, to: last.item.range.to }, calls, line: first.line }];
}

/** Summaries inside turns: each reaches from the start of its first call's message to the end of its last call's. */
function summarisedCalls(
  choices: readonly EditChoice[],
  turns: ReadonlyMap<number, Turn>,
): Pick<EditSteps, "steps" | "problems"> {
  const runs: EditChoice[][] = [];
  let before: EditChoice | undefined;
  for (const choice of choices) {
    const continues = before?.verb === "summarise" && before.item.range.from === choice.item.range.from;
    before = choice;
    if (choice.verb !== "summarise") continue;
    if (continues) runs.at(-1)?.push(choice);
    else runs.push([choice]);
  }
  const problems: PlanProblem[] = [];
  const steps = runs.flatMap((run): EditStep[] => {
    const [first] = run;
    const range = first === undefined ? null : blockOf(run, turns);
    if (first === undefined || range === null) return [];
    const stray = choices.find(({ item, verb }) => verb !== "summarise" && range.calls.has(item.call ?? ""));
    if (stray === undefined) return [{ verb: "summarise", range: range.cut, line: first.line }];
    const message = `${stray.item.place} was called in one message with ${first.item.place}: summarise both`;
    problems.push({ line: stray.line, message });
    return [];
  });
  return { steps, problems };
}

/** The whole messages that contain the given calls of one turn, and all calls in them. */
function blockOf(
  run: readonly EditChoice[],
  turns: ReadonlyMap<number, Turn>,
): { readonly cut: CutRange; readonly calls: ReadonlySet<string> } | null {
  const turn = run[0]?.item.range.from ?? 0;
  const events = turns.get(turn)?.events ?? [];
  const positions = run.map(({ item }) => events.findIndex(({ id }) => id === item.call)).filter((at) => at >= 0);
  if (positions.length === 0) return null;
  const cuts = listSafeCuts(events);
  const start = (cuts.findLast((cut) => cut < (positions[0] ?? 0)) ?? -1) + 1;
  const end = cuts.find((cut) => cut >= (positions.at(-1) ?? 0)) ?? events.length - 1;
  const inside = events.slice(start, end + 1);
  const [fromEvent, toEvent] = [inside[0]?.id ?? "", inside.at(-1)?.id ?? ""];
  const calls = new Set(inside.filter(({ type }) => type === "tool_call_request").map(({ id }) => id));
  return { cut: { from: turn, fromEvent, to: turn, toEvent }, calls };
}

/** A call changed inside a turn that is changed too, or pinned, has two answers: a problem. */
function clashes(choices: readonly EditChoice[]): readonly PlanProblem[] {
  const turns = new Map<number, EditChoice>();
  const problems: PlanProblem[] = [];
  for (const choice of choices) {
    const { item, verb, line } = choice;
    if (item.kind !== "call") {
      if (item.kind === "turn" && verb !== "keep") turns.set(item.range.from, choice);
      continue;
    }
    const turn = turns.get(item.range.from);
    if (turn === undefined || verb === "keep" || verb === "pin") continue;
    problems.push({
      line,
      message: `${item.place} is part of turn ${item.range.from}, which line ${turn.line} says to ${turn.verb}: keep only one of the two`,
    });
  }
  return problems;
}

/** A changed summary takes along what it hides: lines inside its range that are to stay would be lost. */
function overlaps(whole: readonly EditChoice[], turns: ReadonlyMap<number, Turn>): readonly PlanProblem[] {
  const summaries = whole.filter(({ item, verb }) => item.kind === "summary" && isChanging(verb));
  return summaries.flatMap(({ item, verb, line }) => {
    const inside = whole.find(
      (other) =>
        other.item !== item &&
        other.verb !== "pin" &&
        other.verb !== verb &&
        touches(item.range, other.item.range, turns),
    );
    if (inside === undefined) return [];
    const message = `${item.place} is a summary around ${inside.item.place}, which stays: \`jpg revert ${item.compaction ?? ""}\` undoes the summary`;
    return [{ line, message }];
  });
}

function touches(a: CutRange, b: CutRange, turns: ReadonlyMap<number, Turn>): boolean {
  return beginsBefore(a, b, turns) && beginsBefore(b, a, turns);
}

/** Whether a range begins before another one ends. */
function beginsBefore(a: CutRange, b: CutRange, turns: ReadonlyMap<number, Turn>): boolean {
  return a.from < b.to || (a.from === b.to && firstIn(a, turns) <= lastIn(b, turns));
}

/** A turn that is in several lines is pinned by any of them. */
function pinsOf(choices: readonly EditChoice[]): Pick<EditSteps, "pins" | "unpins"> {
  const states = new Map<string, { readonly pin: Pin; readonly was: boolean; readonly is: boolean }>();
  for (const { item, verb } of choices) {
    if (item.kind === "summary") continue;
    const pin: Pin = item.call === undefined ? { turn: item.range.from } : { turn: item.range.from, event: item.call };
    const key = `${pin.turn}:${pin.event ?? ""}`;
    const isPinned = verb === "pin" || states.get(key)?.is === true;
    states.set(key, { pin, was: item.verb === "pin", is: isPinned });
  }
  const changed = [...states.values()].filter(({ was, is }) => was !== is);
  return {
    pins: changed.filter(({ is }) => is).map(({ pin }) => pin),
    unpins: changed.filter(({ was }) => was).map(({ pin }) => pin),
  };
}

/** What is to become of an item, and the line that says so. */
export interface EditChoice {
  readonly item: EditItem;
  readonly verb: EditVerb;
  /** 1-based; 0 = not written anywhere. */
  readonly line: number;
}

interface CheckedPlan {
  readonly choices: readonly EditChoice[];
  readonly problems: readonly PlanProblem[];
}

/** Checks the lines of a plan against the items it was made of; choices are complete only if there is no problem. */
export function checkPlan({ lines }: EditPlan, items: readonly EditItem[]): CheckedPlan {
  const positions = new Map(items.map(({ place }, at) => [place, at] as const));
  const found = new Map<string, PlanLine>();
  const problems: PlanProblem[] = [];
  const choices: EditChoice[] = [];
  let latest = -1;
  for (const written of lines) {
    const { place, verb, line = 0 } = written;
    const at = positions.get(place);
    const item = at === undefined ? undefined : items[at];
    const wrong = (message: string | null): void => {
      if (message !== null) problems.push({ line, message });
    };
    if (at === undefined || item === undefined) {
      wrong(`there is no ${place} in this plan`);
      continue;
    }
    const earlier = found.get(place);
    if (earlier !== undefined) {
      wrong(`${place} already has a line, line ${earlier.line ?? 0}`);
      continue;
    }
    found.set(place, written);
    wrong(at < latest ? `${place} comes after ${items[latest]?.place}: lines keep their order` : null);
    wrong(whyRefused(item, verb));
    latest = Math.max(latest, at);
    choices.push({ item, verb, line });
  }
  return { choices, problems: [...problems, ...missing(items, found, lines)].sort((a, b) => a.line - b.line) };
}

/** Every item without a line, reported at the line of the next item, else at the last line. */
function missing(
  items: readonly EditItem[],
  found: ReadonlyMap<string, PlanLine>,
  lines: readonly PlanLine[],
): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  let line = lines.at(-1)?.line ?? 1;
  for (const { place } of items.toReversed()) {
    const own = found.get(place);
    if (own !== undefined) line = own.line ?? line;
    else
      problems.push({
        line,
        message: `${place} has no line: write \`keep ${place}\`, or \`omit ${place}\` to leave it out`,
      });
  }
  return problems.reverse();
}

/** Why an item cannot have a verb; null when it can. */
function whyRefused({ kind, place, verb: now }: EditItem, verb: EditVerb): string | null {
  if (kind !== "summary" || verb === now) return null;
  if (verb === "omit" || verb === "summarise") return null;
  return `${place} is a summary: it can be kept, omitted or summarised again`;
}

/** What the steps are planned against. */
interface EditFacts extends Pick<PlanInput, "turnCount" | "turns" | "compactions" | "now" | "hints"> {
  /** Pins after the edit. */
  readonly pins: readonly Pin[];
  /** Ids of events that stay whatever a step says: the leading system prompts. */
  readonly prompts: readonly string[];
}

export interface PlannedStep {
  readonly step: EditStep;
  readonly plan: CompactionPlan;
}

/** A step that would change nothing, and why, as a clause. */
interface IdleStep {
  readonly step: EditStep;
  readonly reason: string;
}

export interface PlannedSteps {
  readonly planned: readonly PlannedStep[];
  readonly idle: readonly IdleStep[];
  readonly problems: readonly PlanProblem[];
}

const POLICIES: Readonly<Record<EditStep["verb"], Policies>> = {
  strip: { reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } },
  truncate: { tool_calls: { policy: "truncate", max_chars: TRUNCATED_CHARS } },
  omit: { turns: "omit" },
  summarise: { summary: { policy: "summarize" } },
  calls: {},
};

/** Plans each step by itself: no two of them concern the same content. */
export function planSteps(steps: readonly EditStep[], facts: EditFacts): PlannedSteps {
  const planned: PlannedStep[] = [];
  const idle: IdleStep[] = [];
  const problems: PlanProblem[] = [];
  for (const step of steps) {
    const plan = planCompaction(requestOf(step, facts));
    if (isNothing(plan)) idle.push({ step, reason: plan.nothing });
    else if (plan.extendedFrom === undefined) planned.push({ step, plan });
    else problems.push({ line: step.line, message: describeExtension(plan) });
  }
  return { planned, idle, problems };
}

/** A summary would extend over older ones that it partly overlaps: more than its lines say. */
function describeExtension({ compaction: { from_turn, to_turn } }: CompactionPlan): string {
  return `an older summary partly overlaps these turns, and a new one would reach over ${from_turn}..${to_turn}: \`jpg compact --from ${from_turn} --to ${to_turn}\` makes it, \`jpg log\` has the older one`;
}

function requestOf(
  { range, verb, calls }: EditStep,
  { turnCount, turns, compactions, now, hints = {}, pins, prompts }: EditFacts,
): PlanInput {
  const own = turnsOf(range, turns, turnCount);
  const request = {
    range: { from: boundAt(range.from, range.fromEvent), to: boundAt(range.to, range.toEvent) },
    policies: POLICIES[verb],
    turnCount,
    turns: own,
    turnTimes: [],
    compactions,
    now,
  };
  // A compaction of single calls says nothing about other events between them, so it need not keep any.
  if (calls !== undefined) return { ...request, calls };
  return { ...request, hints, keep: [...pinnedEvents(pins, own.values()), ...prompts] };
}

/** The turns that planning a range reads. */
function turnsOf(
  { from, to }: CutRange,
  turns: ReadonlyMap<number, Turn>,
  turnCount: number,
): ReadonlyMap<number, Turn> {
  const own = new Map<number, Turn>();
  for (const position of [...Array.from({ length: to - from + 1 }, (_, at) => from + at), turnCount - 1]) {
    const turn = turns.get(position);
    if (turn !== undefined) own.set(position, turn);
  }
  return own;
}
