// A strategy: a named rule that looks at a conversation as it is read now and says what a compaction should take out of it. Data and one
// pure function; encode-decisions.ts combines the answers of several.
import type { CallPolicy, StripPolicies, StubStyle } from "../../conversation/compaction.ts";
import type { Disposition } from "../../conversation/contents/content-type.ts";
import { type Event, isReasoning, type Turn } from "../../conversation/event.ts";
import type { ToolCall } from "../tool-call.ts";
import type { ToolCompactionHint } from "../tool-hints.ts";

/** Options of `compact` for strategies; each strategy has its own defaults. */
export interface StrategyOptions {
  /** Longest text that stays whole, characters; > 0. */
  readonly maxChars?: number;
  /** Share of `maxChars` kept at the start of a truncated result, 0..1. */
  readonly head?: number;
  /** Newest results that stay, of the range and what follows it; >= 0. */
  readonly newest?: number;
}

/** One half of a call, or another event, as it is read now. */
export interface HalfState {
  /** The policy in force; `hide` = by a summary or the like; undefined = shown unchanged. */
  readonly now: CallPolicy | "hide" | undefined;
  /** How its stub is written when it is stripped. */
  readonly stubs?: StubStyle;
  /** Policies in force on parts of it, such as its images; absent = none. */
  readonly parts?: readonly Disposition[];
  /** Whether a compaction of the range affects it: in the range and not kept by name. */
  readonly isCovered: boolean;
  /** Whether a strategy may change it: covered, and something of it is shown. */
  readonly isOpen: boolean;
}

/** A call with how its halves are read now. */
export interface ViewedCall extends ToolCall {
  readonly requestState: HalfState;
  /** Null without a result. */
  readonly responseState: HalfState | null;
  /** Whether it belongs to reasoning that is kept by name: providers refuse that without the calls that it led to. */
  readonly isTied: boolean;
}

/** An event that a strategy may change. */
export interface OpenEvent {
  readonly event: Event;
  readonly state: HalfState;
  /** The tool whose result it is. */
  readonly tool?: string;
}

export interface StrategyContext {
  /** The calls of the turns that are not wholly hidden, before, in and after the range, in order. */
  readonly calls: readonly ViewedCall[];
  /** Events in the range that a model is sent at least in part, in order, without those kept by name. */
  readonly open: readonly OpenEvent[];
  /** Context window of the conversation's model, tokens. */
  readonly windowTokens: number;
  /** The events that a model is sent, newest first. */
  readonly newestFirst: () => Iterable<OpenEvent>;
  /** Whether there is a result without a call that a policy for all calls would change, or bring back. */
  readonly hasOrphans: boolean;
  readonly hintFor: (tool: string) => ToolCompactionHint;
  /** Ids of calls made obsolete by a later one, with the id of that one (subsumption). */
  readonly subsumed: ReadonlyMap<string, string>;
  /** Names of the tools that the conversation defines and no compaction prunes, each once. */
  readonly definedTools: readonly string[];
  /** Tokens of definitions in a request, by tool name, a plain estimate; empty if jpg does not send them. */
  readonly toolTokens: ReadonlyMap<string, number>;
  /** Names of the tools called anywhere in the conversation. */
  readonly calledTools: ReadonlySet<string>;
}

/** What a strategy wants done with the halves of a call; absent = no opinion. */
export interface CallDecision {
  readonly request?: CallPolicy;
  readonly response?: CallPolicy;
}

/** Decisions by id of the request event. */
export type CallDecisions = ReadonlyMap<string, CallDecision>;

/** The answer of one strategy; absent = no opinion. */
export interface StrategyStep extends StripPolicies {
  readonly calls?: CallDecisions;
  readonly turns?: "omit";
  /** Names of tools whose definitions are not to be sent; never empty. */
  readonly prune?: readonly string[];
}

/** A strategy. The flags say what planning must know before it asks. */
export interface Strategy {
  /** One of `STRATEGY_NAMES`. */
  readonly name: string;
  /** What it does, a clause for people. */
  readonly summary: string;
  /** The options it reads. */
  readonly takes?: readonly (keyof StrategyOptions)[];
  /** Whether it changes requests too (range-location.ts). */
  readonly touchesRequests?: true;
  /** Whether it leaves calls out by its own rule. */
  readonly omitsCalls?: true;
  readonly hidesTurns?: true;
  /** Whether it needs the tools that all turns define and call, including hidden turns. */
  readonly readsAll?: true;
  /** Whether it reads `subsumed`. */
  readonly usesSubsumption?: true;
  /** Whether it cannot be combined with others. */
  readonly isExclusive?: true;
  /** Whether it represents the policy of a summary; then `decide` is not called. */
  readonly summarizes?: true;
  readonly decide: (context: StrategyContext, options: StrategyOptions) => StrategyStep;
}

/** The state after some steps, for conditional ones. */
export interface StrategyProgress {
  /** Tokens of the view after the steps taken so far, estimated. */
  readonly viewTokens: number;
  /** Context window of the conversation's model, tokens. */
  readonly windowTokens: number;
}

/** One step of a pipeline. */
export interface StrategyUse {
  readonly strategy: Strategy;
  readonly options: StrategyOptions;
  /** Whether it is taken; absent = always. */
  readonly isWanted?: (progress: StrategyProgress) => boolean;
}

/** Returns the ids of the calls that follow reasoning kept by name, in the same message. */
export function findTied(turns: readonly Turn[], keep: ReadonlySet<string>): ReadonlySet<string> {
  const tied = new Set<string>();
  if (keep.size === 0) return tied;
  for (const { events } of turns) {
    let isKept = false;
    for (const event of events) {
      if (isReasoning(event)) isKept = keep.has(event.id);
      else if (event.type === "tool_call_response" || event.type === "chat_request") isKept = false;
      else if (isKept && event.type === "tool_call_request") tied.add(event.id);
    }
  }
  return tied;
}
