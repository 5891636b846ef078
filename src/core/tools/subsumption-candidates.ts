// Which later calls are worth asking about when a program says what makes a call obsolete: they share a text among their
// arguments, such as a path. Near-linear in calls: at most a few candidates each.
import { appendAll } from "../append-all.ts";
import type { ToolCall } from "./tool-call.ts";

/** Candidates of one call at most, the nearest first. */
export const MAX_CANDIDATES = 8;
/** Texts of one call that are looked at: more are no names of anything. */
const MAX_TEXTS = 32;

/** Lists the later calls worth asking about, the nearest first, by call. `calls` in order, of one tool. */
export function listCandidates(calls: readonly ToolCall[]): ReadonlyMap<ToolCall, readonly ToolCall[]> {
  const candidates = new Map<ToolCall, readonly ToolCall[]>();
  /** By text: positions of the nearest calls that hold it, ascending. */
  const nearest = new Map<string, readonly number[]>();
  for (const [position, call] of [...calls.entries()].reverse()) {
    const texts = textsIn(call.request.arguments);
    const sharing = new Set(texts.flatMap((text) => nearest.get(text) ?? []));
    const found = [...sharing].sort((a, b) => a - b).slice(0, MAX_CANDIDATES);
    candidates.set(
      call,
      found.flatMap((at) => calls[at] ?? []),
    );
    for (const text of texts) nearest.set(text, [position, ...(nearest.get(text) ?? [])].slice(0, MAX_CANDIDATES));
  }
  return candidates;
}

function textsIn(args: unknown): readonly string[] {
  const texts = new Set<string>();
  const left: unknown[] = [args];
  while (left.length > 0 && texts.size < MAX_TEXTS) {
    const value = left.pop();
    if (typeof value === "string" && value !== "") texts.add(value);
    else if (typeof value === "object" && value !== null) appendAll(left, Object.values(value));
  }
  return [...texts];
}
