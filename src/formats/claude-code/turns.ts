// Where turns begin on a path, which lines belong to each, and the titles of a session.
import type { Event } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { appendAll } from "../../core/lists.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type RawLine, stringOf } from "../session-source.ts";
import type { OffPathLines, SessionGraph, SessionPath } from "./active-path.ts";
import { isSent, type LineEntry, type SessionIndex } from "./session-index.ts";

/** Later titles, oldest first, without repetitions and titles that name another session's messages. */
export function readTitles(
  index: Pick<SessionIndex, "titles" | "nodes">,
  sessionId: string,
): ImportedSession["titles"] {
  const titles: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, timestamp, raw } of index.titles) {
    const title = shownTitle(titleText(index, raw) ?? "");
    if (title !== "" && title !== titles.at(-1)?.title) titles.push({ timestamp, title, id: `${sessionId}.${line}` });
  }
  return titles;
}

function titleText(index: Pick<SessionIndex, "nodes">, raw: RawLine): string | undefined {
  if (raw["type"] !== "summary") return stringOf(raw, "customTitle") ?? stringOf(raw, "aiTitle");
  return index.nodes.has(stringOf(raw, "leafUuid") ?? "") ? stringOf(raw, "summary") : undefined;
}

/** The first words of the first user request, on one line; absent when there is none. */
export function titleOfEvents(events: readonly Event[]): string | undefined {
  for (const event of events) {
    if (event.type !== "chat_request" || event.metadata?.origin === "harness") continue;
    const title = titleOfRequest(unwrapCommand(textOf(event.content)));
    if (title !== "") return title;
  }
  return undefined;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join(" ");
}

/** A `/command` line as the user typed it. */
function unwrapCommand(text: string): string {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (name === undefined) return text;
  const argumentsText = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? "";
  return `${name} ${argumentsText}`;
}

// Where turns begin on a path. A turn opens at the user's request; what the harness wrote in the user's name stays in the turn
// before it. Harness text before the first request belongs to the first turn.

/** One turn of a path, before its lines are read. */
export interface TurnCut {
  /** Opening line; the turn's piece of the source begins there. */
  readonly opener: LineEntry;
  /** Lines of the path, in path order. */
  readonly chain: readonly LineEntry[];
}

interface OpenTurn {
  readonly opener: LineEntry;
  readonly chain: LineEntry[];
  /** Whether it holds more than harness text. */
  hasContent: boolean;
}

/** Cuts a path into turns; none if nothing was ever sent. */
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

/** A summary before everything else is the first text that the model sees. */
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

// The lines of each turn in event order: the path as linked, notes by their place in the file, and the lines of one assistant
// message together. Appending to the file only adds to the newest turn.

/** Assigns lines to turns, in event order. `notes` = the lines no model sees that belong to the path. */
export function arrangeTurns(
  cuts: readonly TurnCut[],
  offPath: OffPathLines,
  notes: readonly LineEntry[],
): readonly (readonly LineEntry[])[] {
  const turnOfLine = new Map<LineEntry, number>();
  for (const [turn, cut] of cuts.entries()) for (const entry of cut.chain) turnOfLine.set(entry, turn);
  const others: LineEntry[][] = cuts.map(() => []);
  for (const entry of offPath.keys()) others[turnOf(entry)]?.push(entry);
  const starts = cuts.map((cut) => cut.opener.firstLine);
  for (const note of notes) others[turnAt(starts, note.line)]?.push(note);
  return cuts.map((cut, turn) => joinMessages(mergeByPlace(cut.chain, others[turn] ?? [], placeOf)));

  /** The line after which a line is read: the first with its uuid, but a result never before its call. */
  function placeOf(entry: LineEntry): number {
    const call = entry.kind === "result" ? offPath.get(entry) : undefined;
    return Math.max(entry.firstLine, call?.firstLine ?? 0);
  }

  function turnOf(entry: LineEntry): number {
    const anchor = offPath.get(entry);
    return anchor === undefined ? (turnOfLine.get(entry) ?? 0) : turnOf(anchor);
  }
}

/** Lines off the path that no model sees: side data, and nodes that descend from it. */
export function findNotes(index: SessionIndex, graph: SessionGraph, path: SessionPath): readonly LineEntry[] {
  const onPath = new Set([...path.chain, ...path.offPath.keys()]);
  return index.entries.filter((entry) => {
    if (onPath.has(entry) || entry.isSidechain) return false;
    if (entry.uuid === undefined) return true;
    if (entry.kind !== "side" && entry.kind !== "attachment") return false;
    const owner = nearestOwner(entry, graph);
    return owner === undefined || onPath.has(owner);
  });
}

/** The nearest ancestor that is not side data. */
function nearestOwner(entry: LineEntry, graph: SessionGraph): LineEntry | undefined {
  const seen = new Set([entry]);
  let at = graph.parentOf(entry);
  while (at !== undefined && at.kind === "side" && !seen.has(at)) {
    seen.add(at);
    at = graph.parentOf(at);
  }
  return at;
}

/** The turn whose piece of the file holds a line; lines before the first piece belong to turn 0. */
function turnAt(starts: readonly number[], line: number): number {
  let turn = 0;
  for (let low = 0, high = starts.length - 1; low <= high; ) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= line) {
      turn = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return turn;
}

function mergeByPlace(
  chain: readonly LineEntry[],
  others: readonly LineEntry[],
  placeOf: (entry: LineEntry) => number,
): readonly LineEntry[] {
  const sorted = [...others].sort((a, b) => placeOf(a) - placeOf(b) || a.firstLine - b.firstLine);
  const merged: LineEntry[] = [];
  let next = 0;
  for (const entry of chain) {
    for (let other = sorted[next]; other !== undefined && placeOf(other) < entry.firstLine; other = sorted[++next])
      merged.push(other);
    merged.push(entry);
  }
  appendAll(merged, sorted.slice(next));
  return merged;
}

/** Moves a line of an assistant message up to the rest of its message if something else was sent in between. */
function joinMessages(lines: readonly LineEntry[]): readonly LineEntry[] {
  const joined: LineEntry[] = [];
  const seen = new Set<string>();
  for (const entry of lines) {
    if (entry.messageId === undefined || !seen.has(entry.messageId)) joined.push(entry);
    else {
      const last = joined.findLastIndex((other) => other.messageId === entry.messageId);
      const isInterrupted = joined.slice(last + 1).some((other) => other.kind !== "side");
      joined.splice(isInterrupted ? last + 1 : joined.length, 0, entry);
    }
    if (entry.messageId !== undefined) seen.add(entry.messageId);
  }
  return joined;
}
