// The version of the agent that wrote a session, and whether it is one that jpg has been tried with.
import type { RawLine } from "./json-line.ts";
import type { SessionSource } from "./session-source.ts";

/** What a format knows of its agent's versions. */
export interface AgentVersions {
  /** The newest that jpg has been tried with, e.g. `2.1.330`. */
  readonly tried: string;
  /** The version that wrote a session, as far as its first or last lines tell. Never throws. */
  of(source: SessionSource): string | undefined;
}

/** How many lines are looked at, at each end. */
const LINES_LOOKED_AT = 50;

/** Finds a version in the last lines of a session, where agents that were updated meanwhile name theirs, else in the first. */
export function findVersion(
  source: SessionSource,
  parse: (text: string) => RawLine | string | null,
  versionOf: (line: RawLine) => unknown,
): string | undefined {
  const count = source.lineCount;
  const ends = Array.from({ length: Math.min(count, LINES_LOOKED_AT) }, (_, at) => [count - 1 - at, at]);
  for (const at of [...ends.map(([last]) => last), ...ends.map(([, first]) => first)]) {
    const line = parse(source.line(at ?? 0));
    const version = line === null || typeof line === "string" ? undefined : versionOf(line);
    if (typeof version === "string" && VERSION.test(version)) return version;
  }
  return undefined;
}

/** Longer texts are none. */
const VERSION = /^\d{1,6}(?:\.\d{1,6}){0,3}[\w.+-]{0,20}$/;

/** Whether a version is newer than another one, by the first two numbers: formats do not change with the third. */
export function isNewerVersion(version: string, tried: string): boolean {
  const [one, other] = [version, tried].map((each) => each.split(".").map((part) => Number.parseInt(part, 10) || 0));
  const [major = 0, minor = 0] = one ?? [];
  const [triedMajor = 0, triedMinor = 0] = other ?? [];
  return major > triedMajor || (major === triedMajor && minor > triedMinor);
}
