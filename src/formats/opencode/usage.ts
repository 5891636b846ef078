// What a request cost, as OpenCode counts it.
import { type RawLine, recordOf } from "../json-line.ts";

/** What was counted and what it cost, with the keys that jpg reads; of a request of size 0 nothing. */
export function usageOf(counted: RawLine): RawLine | undefined {
  const tokens = recordOf(counted, "tokens");
  if (tokens === undefined) return undefined;
  const cache = recordOf(tokens, "cache") ?? {};
  const [input, output, reasoning, cacheRead, cacheWrite] = [
    tokens["input"],
    tokens["output"],
    tokens["reasoning"],
    cache["read"],
    cache["write"],
  ].map(countOf) as [number, number, number, number, number];
  if (input + output + reasoning + cacheRead + cacheWrite === 0) return undefined;
  const cost = counted["cost"];
  return {
    input,
    // Older versions count reasoning in the output: then the sum is right without it.
    output: tokens["total"] === input + output + cacheRead + cacheWrite ? output : output + reasoning,
    reasoning,
    cacheRead,
    cacheWrite,
    ...(typeof cost === "number" && { cost: { total: cost } }),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
