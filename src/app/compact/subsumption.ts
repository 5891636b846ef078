// Finds calls that a later call makes obsolete: by a built-in rule for reads, and by programs that the user named with `subsumes`.
// If a program fails, that is reported and only equal arguments count.
import { splitCommandWords } from "../../core/compact/shell-read.ts";
import { findContainedReads, isPlaceholder, listCandidates } from "../../core/compact/shown-lines.ts";
import type { ToolCall } from "../../core/compact/tool-call.ts";
import { hintFor, type ToolCompactionHint, type ToolCompactionHints } from "../../core/compact/tool-hints.ts";
import { canonicalJson } from "../../core/json.ts";
import { withoutRepository } from "../../store/environment.ts";
import { askProgram } from "../models/external-process.ts";

export interface SubsumptionOptions {
  /** From the loaded config: programs from trusted layers only (see config/tool-hints.ts). */
  readonly hints: ToolCompactionHints;
  /** Folder in which programs run: the project's, else the store's. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time for one answer, milliseconds; default 5 s. */
  readonly timeoutMs?: number;
  /** Time for all answers, milliseconds; default 30 s. */
  readonly totalMs?: number;
}

export interface Subsumption {
  /** Request event id of a call -> that of a later call that makes it obsolete and is not obsolete itself. */
  readonly pairs: ReadonlyMap<string, string>;
  /** What went wrong, at most once per tool, as sentences; usually empty. */
  readonly problems: readonly string[];
}

/** Longest time for one answer, and for all answers of a compaction, milliseconds: a user is waiting. */
const ANSWER_MS = 5_000;
const TOTAL_MS = 30_000;

/**
 * Finds the calls that a later one makes obsolete. For a tool with a `subsumes` program, asks it about a few later calls that share
 * a text of the arguments, nearest first (see shown-lines.ts); equal arguments need no question. For other tools, finds reads
 * contained in later reads. Ignores calls of tools with `dedup` false, unanswered calls, and later calls that failed. `calls` in
 * order. Never throws because of a program.
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

/** Goes from the newest call to the oldest, so that the call that makes another obsolete is known to be kept. */
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
  return response !== null && !response.is_error && !isPlaceholder(response);
}

// Asks the user's program whether a later call makes an earlier one obsolete (RFD 036, Tool-Specific Subsumption): one JSON object
// in, one out. Stops asking a program that keeps failing.

interface ProgramPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time for one answer, milliseconds. */
  readonly timeoutMs: number;
  /** Deadline of all answers, milliseconds of `performance.now()`. */
  readonly deadline: number;
}

/** A program that judges one tool's calls. */
interface Judge {
  /** Whether the later call makes the earlier one obsolete; false if the program gives no answer. */
  readonly isObsolete: (earlier: unknown, later: unknown) => Promise<boolean>;
  /** The first failure, as a sentence; null = none. */
  readonly problem: () => string | null;
}

/** Longest answer, bytes: one line of JSON is expected. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Failures after which a program is not asked again. */
const MAX_FAILURES = 3;

/** Creates the judge of a tool's calls. `commandLine` = the value of `subsumes` (see shell-read.ts). */
function createJudge(tool: string, commandLine: string, place: ProgramPlace): Judge {
  const command = splitCommandWords(commandLine) ?? [];
  const answers = new Map<string, boolean>();
  let failures = 0;
  let problem: string | null = null;
  const fail = (reason: string): false => {
    failures += 1;
    problem ??= `tools.${tool}.compaction.subsumes: ${JSON.stringify(commandLine)} ${reason}; only calls with equal arguments count as repeated where it does not answer`;
    return false;
  };
  const ask = async (earlier: unknown, later: unknown): Promise<boolean> => {
    if (command.length === 0) return failAtOnce("is not a command line: expected a program, with every quote closed");
    const leftMs = place.deadline - performance.now();
    if (leftMs <= 0) return failAtOnce("took too long over all its answers");
    const input = JSON.stringify({ tool: { name: tool, action: "subsumes", arguments: { earlier, later } } });
    const { cwd, env } = place;
    const limits = { timeoutMs: Math.min(place.timeoutMs, leftMs), maxBytes: MAX_ANSWER_BYTES };
    const answer = await askProgram({ command, input: `${input}\n`, cwd, env, ...limits });
    if ("problem" in answer) return fail(answer.problem);
    const verdict = parseVerdict(answer.output);
    return verdict ?? fail('answered something else than {"type":"success","content":"true"} or "false"');
  };
  const failAtOnce = (reason: string): false => {
    fail(reason);
    failures = MAX_FAILURES;
    return false;
  };
  return {
    isObsolete: async (earlier, later) => {
      if (failures >= MAX_FAILURES) return false;
      const key = `${canonicalJson(earlier)}\n${canonicalJson(later)}`;
      const answer = answers.get(key) ?? (await ask(earlier, later));
      answers.set(key, answer);
      return answer;
    },
    problem: () => problem,
  };
}

/** Returns null for an invalid answer. */
function parseVerdict(output: string): boolean | null {
  try {
    const { type, content } = JSON.parse(output) as { readonly type?: unknown; readonly content?: unknown };
    return type !== "success" || (content !== "true" && content !== "false") ? null : content === "true";
  } catch {
    // Not JSON, or `null`; the caller reports it.
    return null;
  }
}
