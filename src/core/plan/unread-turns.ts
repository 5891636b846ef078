// The turns of a plan's range that need not be read: a summary hides them wholly, and what the policies make of them shows only
// once it is reverted. Their calls must be known even so, for hints are frozen against them: what is known of turns says them.
import { planRanges } from "../projection/covered-range.ts";
import { isNothing, resolveBounds } from "../range/bound-resolution.ts";
import type { TurnRange } from "../range/turn-range.ts";
import { countTurns, type TurnFacts } from "../tokens/turn-facts.ts";
import { hintFor } from "../tools/tool-hints.ts";
import type { CompactionRequest, UnreadTurns } from "./compaction-request.ts";

type Unread = Omit<CompactionRequest, "turns" | "unread">;

/**
 * Lists the turns (0-based, ascending) that planning may leave unread; none where a range was named, a summary or an omission is
 * to stand for the turns, or strategies look at their calls. Events that are kept by name may stand in each of them.
 */
export function turnsToLeave(request: Unread): readonly number[] {
  const { range, policies, strategies, calls, turnCount, compactions, beneath = false } = request;
  const isNamed = beneath || range.from !== undefined || range.to !== undefined || range.keep !== undefined;
  const hides = policies.summary !== undefined || policies.turns !== undefined;
  if (isNamed || hides || strategies !== undefined || calls !== undefined) return [];
  // Which messages are protected is not known yet: the range is at its longest.
  const bounds = resolveBounds({ ...range, protectedMessages: 0 }, { ...request, turns: new Map() });
  if (isNothing(bounds)) return [];
  const left: number[] = [];
  for (const { from, to, hiddenBy } of planRanges(turnCount, compactions)) {
    // Where a range begins or ends is looked at.
    const [first, last] = [Math.max(from, bounds.from + 1), Math.min(to, bounds.to - 1)];
    for (let turn = first; hiddenBy !== null && turn <= last; turn += 1) left.push(turn);
  }
  return left;
}

/** Gives what the facts of a conversation say of some of its turns. */
export function knownOf(left: readonly number[], facts: readonly TurnFacts[]): UnreadTurns {
  const unread = new Set(left);
  const messages = new Map<number, number>();
  const calls: UnreadTurns["calls"][number][] = [];
  for (const one of facts) {
    const { index, stretch } = one;
    const own = Array.from({ length: countTurns(one) }, (_, at) => index + at).filter((turn) => unread.has(turn));
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) continue;
    for (const turn of own) messages.set(turn, stretch?.messages[turn - index] ?? one.messages);
    for (const [tool, from, to] of stretch?.calls ?? one.tools.map((tool) => [tool, 0, 0] as const)) {
      const range = { from: Math.max(first, index + from), to: Math.min(last, index + to) };
      if (range.from <= range.to) calls.push({ tool, ...range });
    }
  }
  return { messages, calls };
}

/** Lists those of the turns that must be read after all: they may call a tool whose calls are named one by one. */
export function turnsNamed({ messages, calls }: UnreadTurns, { hints = {} }: Pick<Unread, "hints">): readonly number[] {
  const named = calls.filter(({ tool }) => hintFor(tool, hints).response === "remove");
  if (named.length === 0) return [];
  return [...messages.keys()].filter((turn) => named.some(({ from, to }) => from <= turn && turn <= to));
}

/**
 * Lists some unread turns (0-based, ascending) of which something can likely be taken out: they call tools, or stand in a stretch with
 * reasoning. Few where there are many.
 */
export function turnsLikely({ messages, calls }: UnreadTurns, facts: readonly TurnFacts[]): readonly number[] {
  const calling = calls.flatMap(({ from, to }) => [from, to]).filter((turn) => messages.has(turn));
  const thinking = facts.findLast(({ index, kinds }) => kinds.reasoning > 0 && messages.has(index));
  const stretch =
    thinking === undefined ? [] : Array.from({ length: countTurns(thinking) }, (_, at) => thinking.index + at);
  const likely = calling.length > 0 ? calling.sort((a, b) => a - b).slice(-MOST_LIKELY) : stretch;
  return [...new Set(likely.filter((turn) => messages.has(turn)))];
}

/** Turns that are read to see whether something can be taken out. */
const MOST_LIKELY = 16;

/** Names the tools that unread turns of a range call. */
export function toolsUnread({ from, to }: TurnRange, unread: UnreadTurns | undefined): readonly string[] {
  return (unread?.calls ?? []).filter((call) => call.from <= to && call.to >= from).map(({ tool }) => tool);
}

/** Counts the messages of the unread turns of a range. */
export function messagesUnread({ from, to }: TurnRange, unread: UnreadTurns | undefined): number {
  let count = 0;
  for (const [turn, messages] of unread?.messages ?? []) if (from <= turn && turn <= to) count += messages;
  return count;
}
