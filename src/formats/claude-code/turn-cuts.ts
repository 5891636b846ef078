// Where turns begin on a path. A turn opens at the user's request; what the harness wrote as the user's text stays in the
// turn before it. Text of the harness before the first request belongs to the first turn.
import { isSent } from "./line-kind.ts";
import type { LineEntry } from "./session-index.ts";

/** One turn of a path, before its lines are read. */
export interface TurnCut {
  /** The line that opens it; the source's piece of the turn begins there. */
  readonly opener: LineEntry;
  /** Lines of the path, in path order. */
  readonly chain: readonly LineEntry[];
}

interface OpenTurn {
  readonly opener: LineEntry;
  readonly chain: LineEntry[];
  /** Whether it holds more than text of the harness. */
  hasContent: boolean;
}

/** Cuts a path into turns; a path on which nothing was ever sent has none. */
export function cutTurns(chain: readonly LineEntry[]): readonly TurnCut[] {
  const turns: OpenTurn[] = [];
  const head: LineEntry[] = [];
  for (const [position, entry] of chain.entries()) {
    const current = turns.at(-1);
    const opens = opensTurn(chain, position);
    if (current === undefined) {
      head.push(entry);
      if (startsConversation(entry)) turns.push({ opener: entry, chain: head, hasContent: opens || isContent(entry) });
    } else if (opens && current.hasContent) {
      turns.push({ opener: entry, chain: [entry], hasContent: true });
    } else {
      current.chain.push(entry);
      current.hasContent ||= opens || isContent(entry);
    }
  }
  return turns;
}

/** Whether a `/command` or a prompt at this position is a request of its own. */
function opensTurn(chain: readonly LineEntry[], position: number): boolean {
  const entry = chain[position];
  if (entry === undefined || entry.isSidechain) return false;
  return entry.kind === "prompt" || (entry.kind === "command" && isAnswered(chain, position));
}

/** Whether the model answers a command before the user says anything else. */
function isAnswered(chain: readonly LineEntry[], position: number): boolean {
  for (let next = position + 1; next < chain.length; next++) {
    const kind = chain[next]?.kind;
    if (kind === "assistant") return true;
    if (kind === "prompt" || kind === "command") return false;
  }
  return false;
}

/** A summary that stands before everything else is the first thing the model was told. */
function startsConversation(entry: LineEntry): boolean {
  return isSent(entry.kind) || entry.kind === "summary";
}

function isContent(entry: LineEntry): boolean {
  return (
    startsConversation(entry) && entry.kind !== "harness" && entry.kind !== "command" && entry.kind !== "attachment"
  );
}

/** Lines that are the user's although their kind does not say so: answered commands, a summary before everything else. */
export function requestLines(chain: readonly LineEntry[]): ReadonlySet<LineEntry> {
  const requests = new Set(chain.filter((entry, position) => entry.kind === "command" && opensTurn(chain, position)));
  const first = chain.find(startsConversation);
  return first?.kind === "summary" ? requests.add(first) : requests;
}
