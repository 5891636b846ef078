// Which calls a later call makes obsolete: what is built in for reads, and what the programs say that the user named with
// `subsumes`. A program that fails is reported and equality counts in its place.

import { findContainedReads, isStandIn, listCandidates } from "../../core/compact/shown-lines.ts";
import type { ToolCall } from "../../core/compact/tool-call.ts";
import { hintFor, type ToolCompactionHint, type ToolCompactionHints } from "../../core/compact/tool-hints.ts";
import { canonicalJson } from "../../core/json.ts";
import { withoutRepository } from "../../store/environment.ts";
import { createJudge, type Judge } from "./subsumption-program.ts";

/** Where and with what programs are asked. */
export interface SubsumptionOptions {
  /** As a loaded config has them: programs from trusted layers only (see config/tool-hints.ts). */
  readonly hints: ToolCompactionHints;
  /** Folder that programs are started in: the project's, else the store's. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time for one answer, milliseconds; default 5 s. */
  readonly timeoutMs?: number;
  /** Time for all answers, milliseconds; default 30 s. */
  readonly totalMs?: number;
}

/** What was found. */
export interface Subsumption {
  /** Request event id of a call -> that of a later call which makes it obsolete and which none makes obsolete itself. */
  readonly pairs: ReadonlyMap<string, string>;
  /** What went wrong, at most once per tool, as sentences; usually empty. */
  readonly problems: readonly string[];
}

/** Longest time for one answer and for all of a compaction, milliseconds: somebody waits for a compaction. */
const ANSWER_MS = 5_000;
const TOTAL_MS = 30_000;

/**
 * Finds the calls that a later one makes obsolete. A tool with a `subsumes` program is asked about a few later calls that
 * share a text of the arguments, nearest first (see subsumption-candidates.ts); equal arguments need no question. Of other
 * tools, reads inside later reads are found. Calls of tools whose `dedup` is false, unanswered ones, and later ones that
 * failed take no part. `calls` in order. Never throws because of a program.
 */
export async function findSubsumed(calls: readonly ToolCall[], options: SubsumptionOptions): Promise<Subsumption> {
  const { builtIn, byProgram } = sortCalls(calls, options.hints);
  const pairs = new Map(findContainedReads(builtIn));
  const problems: string[] = [];
  const { cwd, timeoutMs = ANSWER_MS, totalMs = TOTAL_MS } = options;
  if (byProgram.size === 0) return { pairs, problems };
  const place = { cwd, env: withoutRepository(options.env), timeoutMs, deadline: performance.now() + totalMs };
  for (const [tool, { program, own }] of byProgram) {
    const judge = createJudge(tool, program, place);
    for (const [earlier, later] of await findByProgram(own, judge)) pairs.set(earlier, later);
    const problem = judge.problem();
    if (problem !== null) problems.push(problem);
  }
  return { pairs, problems };
}

interface SortedCalls {
  readonly builtIn: readonly ToolCall[];
  /** By tool. */
  readonly byProgram: ReadonlyMap<string, { readonly program: string; readonly own: readonly ToolCall[] }>;
}

function sortCalls(calls: readonly ToolCall[], hints: ToolCompactionHints): SortedCalls {
  const builtIn: ToolCall[] = [];
  const byProgram = new Map<string, { program: string; own: ToolCall[] }>();
  const resolved = new Map<string, ToolCompactionHint>();
  for (const call of calls) {
    const { name } = call.request;
    const hint = resolved.get(name) ?? hintFor(name, hints);
    resolved.set(name, hint);
    const { subsumes: program, dedup } = hint;
    if (dedup === false || call.response === null) continue;
    if (program === undefined) builtIn.push(call);
    else if (byProgram.get(name)?.own.push(call) === undefined) byProgram.set(name, { program, own: [call] });
  }
  return { builtIn, byProgram };
}

/** From the newest call to the oldest, so that what makes a call obsolete is known to stay before the call is looked at. */
async function findByProgram(calls: readonly ToolCall[], judge: Judge): Promise<ReadonlyMap<string, string>> {
  const pairs = new Map<string, string>();
  const equals = new Map<string, ToolCall>();
  const candidates = listCandidates(calls);
  for (const call of calls.toReversed()) {
    const { id, arguments: args } = call.request;
    const key = canonicalJson(args);
    const later = equals.get(key) ?? (await findObsoleting(call, candidates.get(call) ?? [], judge));
    if (later !== null) pairs.set(id, pairs.get(later.request.id) ?? later.request.id);
    if (holdsContent(call) && !equals.has(key)) equals.set(key, call);
  }
  return pairs;
}

async function findObsoleting(call: ToolCall, later: readonly ToolCall[], judge: Judge): Promise<ToolCall | null> {
  for (const candidate of later.filter(holdsContent)) {
    if (await judge.isObsolete(call.request.arguments, candidate.request.arguments)) return candidate;
  }
  return null;
}

function holdsContent({ response }: ToolCall): boolean {
  return response !== null && !response.is_error && !isStandIn(response);
}
