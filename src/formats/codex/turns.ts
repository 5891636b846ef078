// The turns of a rollout. A turn opens at a request of the user; what introduces the request belongs to it as well, and is
// held back until it is there, so that a file that grows only adds events. Going back takes turns off again: those become a
// branch that was abandoned. With a task that the user went back behind, Codex forgets the compaction that it made in it.
import { appendAll } from "../../core/lists.ts";
import type { RolloutEntry } from "./rollout-index.ts";

export interface RolloutTurn {
  /** 0-based. */
  readonly index: number;
  readonly previous: RolloutTurn | undefined;
  /** The line that opens it; the source's piece of the turn begins there. */
  readonly opener: RolloutEntry;
  /** Lines in the order of their events. */
  readonly entries: RolloutEntry[];
}

/** What the user went back from. */
export interface AbandonedTurns {
  /** The request from which on it was abandoned. */
  readonly from: RolloutEntry;
  /** Ordered, never empty; the first may be one that goes on in another way. */
  readonly turns: readonly RolloutTurn[];
}

export interface RolloutTurns {
  /** Those that the agent goes on from. */
  readonly active: readonly RolloutTurn[];
  /** In the order in which they were abandoned. */
  readonly abandoned: readonly AbandonedTurns[];
}

interface Builder {
  readonly turns: RolloutTurn[];
  readonly abandoned: AbandonedTurns[];
  /** What stands before the first turn. */
  readonly head: RolloutEntry[];
  /** What introduces the next request. */
  held: RolloutEntry[];
  /** The tasks in which something was asked, and that the user did not go back behind. */
  readonly asked: (number | undefined)[];
  /** Compactions of such tasks, or of none. */
  lists: RolloutEntry[];
  readonly forgotten: Set<RolloutEntry>;
}

/** Cuts the lines of a rollout into turns; `held` = what introduces the first request, where the lines before it are not read. */
export function cutRollout(lines: readonly RolloutEntry[], held: readonly RolloutEntry[] = []): RolloutTurns {
  const forgotten = new Set<RolloutEntry>();
  const builder: Builder = { turns: [], abandoned: [], head: [], held: [...held], asked: [], lists: [], forgotten };
  for (const entry of lines) addEntry(builder, entry);
  const { turns, abandoned } = builder;
  if (forgotten.size > 0) for (const { entries } of turns) leaveOut(entries, forgotten);
  return { active: turns, abandoned };
}

/** In place: abandoned branches share turns with the active ones. */
function leaveOut(entries: RolloutEntry[], forgotten: ReadonlySet<RolloutEntry>): void {
  const rest = entries.filter((entry) => !forgotten.has(entry));
  if (rest.length === entries.length) return;
  entries.length = 0;
  appendAll(entries, rest);
}

/** Gives a turn on the way to one of the same index or a later one. */
export function turnAt(last: RolloutTurn, index: number): RolloutTurn | undefined {
  let turn: RolloutTurn | undefined = last;
  while (turn !== undefined && turn.index > index) turn = turn.previous;
  return turn;
}

function addEntry(builder: Builder, entry: RolloutEntry): void {
  if (entry.kind === "prompt" && builder.asked.at(-1) !== entry.task) builder.asked.push(entry.task);
  if (entry.hasList === true) builder.lists.push(entry);
  switch (entry.kind) {
    case "context":
      builder.held.push(entry);
      break;
    case "harness":
      if (builder.turns.length === 0) builder.held.push(entry);
      else addToTurn(builder, entry);
      break;
    case "prompt":
      if (entry.isQueued === true && builder.turns.length > 0) addToTurn(builder, entry);
      else openTurn(builder, entry);
      break;
    case "note":
    case "usage":
      (builder.turns.at(-1)?.entries ?? builder.head).push(entry);
      break;
    case "rollback":
      goBack(builder, entry.requests ?? 0);
      break;
    default:
      addToTurn(builder, entry);
  }
}

function openTurn(builder: Builder, opener: RolloutEntry): void {
  const { turns, head } = builder;
  const before = turns.length === 0 ? head.splice(0) : [];
  const entries = [...before, ...builder.held, opener].sort((a, b) => a.line - b.line);
  builder.held = [];
  turns.push({ index: turns.length, previous: turns.at(-1), opener, entries });
}

/** What is said without a request opens the first turn. */
function addToTurn(builder: Builder, entry: RolloutEntry): void {
  const turn = builder.turns.at(-1);
  if (turn === undefined) {
    openTurn(builder, entry);
    return;
  }
  appendAll(turn.entries, builder.held);
  turn.entries.push(entry);
  builder.held = [];
}

/** Takes off what was said from the n-th last request on; all of it from the first one on where there are fewer. */
function goBack(builder: Builder, requests: number): void {
  const { turns, abandoned, head } = builder;
  forgetLists(builder, requests);
  const cut = findRequest(turns, requests);
  builder.held = [];
  if (cut === undefined) return;
  const { turn, place } = cut;
  const from = turn.entries[place] as RolloutEntry;
  abandoned.push({ from, turns: turns.splice(turn.index) });
  const rest = turn.entries.slice(0, startOfRequest(turn.entries, place));
  if (turn.opener !== from) turns.push({ ...turn, entries: rest });
  // What was noted before the very first request stays for the one that comes in its place.
  else if (turn.index === 0) appendAll(head, rest);
}

/** Codex counts tasks here, while it goes back by requests: a task may hold several. */
function forgetLists(builder: Builder, requests: number): void {
  const { asked, lists, forgotten } = builder;
  const behind = new Set(asked.splice(Math.max(0, asked.length - requests)));
  for (const list of lists) if (behind.has(list.task)) forgotten.add(list);
  builder.lists = lists.filter((list) => !forgotten.has(list));
}

interface RequestPlace {
  readonly turn: RolloutTurn;
  /** Its place among the turn's entries. */
  readonly place: number;
}

/** Finds the n-th last request, or the first where there are fewer; absent where there is none, or none is asked for. */
function findRequest(turns: readonly RolloutTurn[], requests: number): RequestPlace | undefined {
  let found: RequestPlace | undefined;
  let missing = requests;
  for (const turn of turns.toReversed()) {
    for (let place = turn.entries.length - 1; place >= 0; place--) {
      if (missing === 0) return found;
      if (turn.entries[place]?.kind !== "prompt") continue;
      found = { turn, place };
      missing--;
    }
  }
  return found;
}

/** The place of a request with what introduces it. */
function startOfRequest(entries: readonly RolloutEntry[], place: number): number {
  let start = place;
  while (start > 0 && entries[start - 1]?.kind === "context") start--;
  return start;
}
