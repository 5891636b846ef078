// Where turns begin on a path: at what the user typed, unless the agent was still at work then.

import type { Entry } from "./entry-index.ts";
import { isSentKind } from "./entry-kind.ts";

/** One turn of a path, before its lines are read. */
export interface PathTurn {
  /** The entry that opens it; the source's piece of the turn begins there. */
  readonly opener: Entry;
  /** Entries of the path, in order. */
  readonly chain: readonly Entry[];
}

interface OpenTurn {
  readonly opener: Entry;
  readonly chain: Entry[];
  /** Whether it holds more than what the harness said. */
  hasContent: boolean;
}

/**
 * Cuts a path into turns; a path on which nothing was ever sent has none. A summary that stands before everything else is the
 * first thing that the model is told.
 */
export function cutPath(path: readonly Entry[]): readonly PathTurn[] {
  const queued = queuedPrompts(path);
  const turns: OpenTurn[] = [];
  const head: Entry[] = [];
  for (const entry of path) {
    const current = turns.at(-1);
    const opens = entry.kind === "prompt" && !queued.has(entry);
    const hasContent = isSentKind(entry.kind) && entry.kind !== "harness";
    if (current === undefined) {
      head.push(entry);
      const isSummary = entry.kind === "compaction";
      if (isSummary || isSentKind(entry.kind))
        turns.push({ opener: entry, chain: head, hasContent: isSummary || hasContent });
    } else if (opens && current.hasContent) {
      turns.push({ opener: entry, chain: [entry], hasContent });
    } else {
      current.chain.push(entry);
      current.hasContent ||= hasContent;
    }
  }
  return turns;
}

/**
 * Prompts that were typed while the agent worked and taken up between a tool's result and the next answer. What is typed after
 * the result, once the user has stopped the agent, is a request of its own.
 */
export function queuedPrompts(path: readonly Entry[]): ReadonlySet<Entry> {
  const queued = new Set<Entry>();
  let before: Entry | undefined;
  for (const entry of path) {
    if (entry.kind === "prompt" && before !== undefined && entry.made !== undefined) {
      const isBetween = before.kind === "result" || queued.has(before);
      if (isBetween && entry.made < Date.parse(before.timestamp)) queued.add(entry);
    }
    if (isSentKind(entry.kind) || entry.kind === "failed") before = entry;
  }
  return queued;
}
