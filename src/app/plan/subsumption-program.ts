// The program that a user named to say whether a later call makes an earlier one obsolete (RFD 036, Tool-Specific
// Subsumption): one JSON object in, one out. A program that keeps failing is left alone.

import { splitCommandWords } from "../../core/compact/shell-read.ts";
import { canonicalJson } from "../../core/json.ts";
import { askProgram } from "../programs/external-process.ts";

/** Where and how long a program is asked. */
export interface ProgramPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time for one answer, milliseconds. */
  readonly timeoutMs: number;
  /** When the time for all answers is over, as `performance.now()` tells it, milliseconds. */
  readonly deadline: number;
}

/** A program as the judge of one tool's calls. */
export interface Judge {
  /** Whether a call with these arguments makes the earlier one obsolete; false when the program does not say. */
  readonly isObsolete: (earlier: unknown, later: unknown) => Promise<boolean>;
  /** The first thing that went wrong, as a sentence; null when nothing did. */
  readonly problem: () => string | null;
}

/** Longest answer, bytes: one line of JSON is expected. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** A program that has failed so often is not asked again. */
const MAX_FAILURES = 3;

/** Creates the judge of a tool's calls. `commandLine` = the value of `subsumes` (see command-words.ts). */
export function createJudge(tool: string, commandLine: string, place: ProgramPlace): Judge {
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

/** Null when the answer is none. */
function parseVerdict(output: string): boolean | null {
  try {
    const { type, content } = JSON.parse(output) as { readonly type?: unknown; readonly content?: unknown };
    return type !== "success" || (content !== "true" && content !== "false") ? null : content === "true";
  } catch {
    // No JSON, or `null`: no answer, which the caller reports.
    return null;
  }
}
