// What Claude Code sends in front of a conversation: system prompt, tools, instructions of the project. Measured as the median
// over sessions with usage (docs/decisions/029-one-meter.md); servers and memory files of a user add to it.

/** Tokens by the first version that sends so much, newest first. From 2.1.100 on most tools are loaded when they are needed. */
const MEASURED: readonly (readonly [version: readonly [number, number, number], tokens: number])[] = [
  [[2, 1, 100], 20_000],
  [[0, 0, 0], 31_000],
];

/** Gives the tokens that the version of a line sends; null when the line names none. */
export function typicalClaudeOverhead(line: string): number | null {
  const [, ...version] = /"version":\s*"(\d+)\.(\d+)\.(\d+)/.exec(line) ?? [];
  if (version.length === 0) return null;
  const own = version.map(Number);
  return MEASURED.find(([from]) => !isBelow(own, from))?.[1] ?? null;
}

function isBelow(own: readonly number[], from: readonly number[]): boolean {
  const at = from.findIndex((part, index) => part !== own[index]);
  return at !== -1 && (own[at] ?? 0) < (from[at] ?? 0);
}
