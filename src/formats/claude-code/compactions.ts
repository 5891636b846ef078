// The agent's own compactions as overlays. Each covers everything that the agent no longer sends, from turn 0 to the last event
// before its boundary, so that reverting it shows the turns it hid.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { plainTextOfParts } from "../anthropic/agent.ts";
import { deriveName, RESUMES_DIFFERENTLY } from "../imported-session.ts";
import { addMilliseconds, type RawLine, recordOf } from "../session-source.ts";
import { type SessionGraph, startsNewContext } from "./active-path.ts";
import { type AnswerReader, eventsOfRows } from "./answer-rows.ts";
import type { AnsweredIndex } from "./answers.ts";
import { readLineEvents, type TurnPlan } from "./events.ts";
import { isSent, type LineEntry } from "./session-index.ts";

/** A place on the path from which the agent no longer sends what comes before. */
interface Break {
  readonly at: LineEntry;
  readonly boundary?: LineEntry;
  readonly summary?: LineEntry;
  /** The rows that are sent in place of what comes before; absent = the summary, and what the boundary keeps. */
  readonly rows?: readonly LineEntry[];
  /** Id of jpg's own compaction that the boundary stands for. */
  readonly mark?: string;
  readonly reason?: "broken-parent" | "boundary-without-summary" | typeof RESUMES_DIFFERENTLY;
}

export interface CompactionSources {
  readonly plan: TurnPlan;
  /** The path from root to leaf. */
  readonly chain: readonly LineEntry[];
  readonly graph: Pick<SessionGraph, "isCutOff" | "keptBy">;
  readonly answers: AnsweredIndex["answers"];
  readonly readAnswer: AnswerReader;
}

/** Reads the compactions of a path, oldest first, with rising timestamps. */
export function readAgentCompactions(sources: CompactionSources): readonly Compaction[] {
  const places = placeLines(sources.plan);
  const compactions: Compaction[] = [];
  for (const found of findBreaks(sources)) {
    const end = lastEventBefore(sources.plan, places, found.at);
    if (end === undefined) continue;
    const kept = readKeptEvents(sources, places, found);
    compactions.push(createCompaction(sources, found, { end, kept, after: compactions.at(-1)?.timestamp }));
  }
  return compactions;
}

function findBreaks(sources: CompactionSources): readonly Break[] {
  const { chain, graph, plan } = sources;
  const breaks: Break[] = [];
  const newestOpener = plan.openers.at(-1);
  const newestTurn = newestOpener === undefined ? -1 : chain.lastIndexOf(newestOpener);
  const isCut = (entry: LineEntry, position: number): boolean => {
    if (!graph.isCutOff(entry)) return false;
    if (entry.lostParent === true) return position === lastRoot;
    return !(position > newestTurn && mayPrecedeItsParent(chain, position));
  };
  const lastRoot = lastNewRoot(chain);
  let isSentBefore = false;
  for (const [position, entry] of chain.entries()) {
    const found = isSentBefore ? breakAt(sources, position) : undefined;
    if (found !== undefined) breaks.push(found);
    // Also if the agent compacts it later: a shorter state of the file did not know that.
    else if (isSentBefore && isCut(entry, position)) breaks.push({ at: entry, reason: "broken-parent" });
    isSentBefore ||= isSent(entry.kind) || plan.requests.has(entry);
  }
  return breaks;
}

/**
 * The position of the last line that was written again without its parent; -1 = none. Of several such lines it hides most, and
 * none hides anything if a compaction that was there before already does.
 */
function lastNewRoot(chain: readonly LineEntry[]): number {
  const root = chain.findLastIndex(({ lostParent }) => lostParent === true);
  const again = chain[root]?.line ?? 0;
  const isHidden = chain.slice(root + 1).some((entry) => startsNewContext(entry) && entry.line < again);
  return isHidden ? -1 : root;
}

/**
 * The agent sometimes writes results, attachments and answers before the line that they follow: until something else is said, that
 * line may still come.
 */
function mayPrecedeItsParent(chain: readonly LineEntry[], position: number): boolean {
  const kind = chain[position]?.kind;
  if (kind !== "result" && kind !== "attachment" && kind !== "assistant") return false;
  return chain.slice(position).every((entry) => !entry.isMessage || entry.kind === kind);
}

function breakAt(sources: CompactionSources, position: number): Break | undefined {
  const { chain } = sources;
  const entry = chain[position];
  const next = chain[position + 1];
  if (entry?.kind === "repeated") return answerAt(sources, entry);
  if (entry?.kind === "summary") {
    const before = chain[position - 1];
    return before?.kind === "boundary" ? undefined : { at: entry, summary: entry };
  }
  if (entry?.kind !== "boundary" || next?.kind === "repeated") return undefined;
  if (next?.kind === "summary")
    return { at: entry, boundary: entry, summary: next, rows: keptOfAnswers(sources, entry, next) };
  return { at: entry, boundary: entry, reason: "boundary-without-summary" };
}

/** The rows after a compaction of the agent that keeps rows of an answer: no event of the history says what they say. */
function keptOfAnswers(
  { graph, answers }: CompactionSources,
  boundary: LineEntry,
  summary: LineEntry,
): readonly LineEntry[] | undefined {
  const kept = boundary.kept?.isBefore === false ? graph.keptBy(boundary) : [];
  if (!kept.some((row) => answers.has(row))) return undefined;
  return [summary, ...kept.map((row) => answers.get(row)?.row ?? row)];
}

/** jpg's undo takes a compaction back, and makes none. */
function answerAt({ answers, readAnswer }: CompactionSources, at: LineEntry): Break | undefined {
  const found = answers.get(at);
  if (found === undefined || !found.answer.isWhole) return undefined;
  const { boundary, mark } = found.answer;
  if (mark?.mark?.kind === "undo") return undefined;
  const { rows, differs } = readAnswer(found.answer, found.row);
  return { at, boundary, rows, mark: mark?.mark?.compaction, reason: differs ? RESUMES_DIFFERENTLY : undefined };
}

interface LinePlace {
  readonly turn: number;
  readonly position: number;
}

function placeLines(plan: TurnPlan): ReadonlyMap<LineEntry, LinePlace> {
  const places = new Map<LineEntry, LinePlace>();
  for (const [turn, lines] of plan.lines.entries()) {
    for (const [position, entry] of lines.entries()) places.set(entry, { turn, position });
  }
  return places;
}

interface EventPlace {
  readonly turn: number;
  readonly event: string;
}

function lastEventBefore(
  plan: TurnPlan,
  places: ReadonlyMap<LineEntry, LinePlace>,
  at: LineEntry,
): EventPlace | undefined {
  const place = places.get(at);
  if (place === undefined) return undefined;
  for (let turn = place.turn; turn >= 0; turn--) {
    const lines = plan.lines[turn] ?? [];
    const before = turn === place.turn ? lines.slice(0, place.position) : lines;
    for (const entry of before.toReversed()) {
      const event = readLineEvents(plan, entry).at(-1)?.id;
      if (event !== undefined) return { turn, event };
    }
  }
  return undefined;
}

interface Extent {
  readonly end: EventPlace;
  readonly kept: KeptEvents;
  /** Timestamp of the previous compaction. */
  readonly after: string | undefined;
}

function createCompaction(sources: CompactionSources, found: Break, { end, kept, after }: Extent): Compaction {
  const { plan } = sources;
  const own = (found.boundary ?? found.at).timestamp;
  const isLater = after === undefined || compareTimestamps(own, after) > 0;
  const id = found.mark ?? nameOfBreak(plan, found);
  return {
    type: "compaction",
    id,
    timestamp: isLater ? own : addMilliseconds(after, 1),
    from_turn: kept.start?.turn ?? 0,
    to_turn: end.turn,
    from_event: kept.start?.event,
    to_event: end.event,
    ...(kept.start === undefined && kept.events.length > 0 && { keep: kept.events }),
    ...shownInstead(plan, found, id),
    source: "import",
    reason: found.reason,
    metadata: compactionMetadata(plan, found),
  };
}

function nameOfBreak({ sessionId }: TurnPlan, { at, boundary, rows, reason }: Break): string {
  if (rows !== undefined && boundary?.uuid !== undefined) return deriveName(boundary.uuid);
  return deriveName(`${at.uuid ?? sessionId}${reason === "broken-parent" ? ".broken-parent" : ""}`);
}

function shownInstead(
  plan: TurnPlan,
  { rows, summary }: Break,
  id: string,
): Pick<Compaction, "replacement" | "summary" | "turns"> {
  const replacement = rows === undefined ? [] : eventsOfRows(plan, rows, id);
  if (replacement.length > 0) return { replacement };
  if (summary === undefined) return { turns: "omit" };
  const text = plainTextOfParts(recordOf(rawLine(plan, summary), "message")?.["content"]);
  return { summary: { summary: text, source: "imported", inject: "request" } };
}

interface KeptEvents {
  /** Ids, in order. */
  readonly events: readonly string[];
  /** Where the hidden range begins, after kept lines that precede the summary; absent = in turn 0. */
  readonly start?: { readonly turn: number; readonly event?: string };
}

function readKeptEvents(
  { plan, graph }: CompactionSources,
  places: ReadonlyMap<LineEntry, LinePlace>,
  { at, boundary, rows }: Break,
): KeptEvents {
  if (boundary?.kept === undefined || rows !== undefined) return { events: [] };
  const lines = graph.keptBy(boundary);
  const events = lines.flatMap((entry) => readLineEvents(plan, entry).map((event) => event.id));
  const last = lines.at(-1);
  const start = boundary.kept.isBefore && last !== undefined ? placeAfter(plan, places.get(last), at) : undefined;
  return { events, start };
}

/** The next event after a line in its turn, or else the next turn; absent if there is none before `end`. */
function placeAfter(plan: TurnPlan, place: LinePlace | undefined, end: LineEntry): KeptEvents["start"] {
  if (place === undefined) return undefined;
  const { turn, position } = place;
  for (const entry of (plan.lines[turn] ?? []).slice(position + 1)) {
    if (entry === end) return undefined;
    const event = readLineEvents(plan, entry)[0]?.id;
    if (event !== undefined) return { turn, event };
  }
  return plan.lines[turn + 1]?.[0] === end ? undefined : { turn: turn + 1 };
}

function compactionMetadata(plan: TurnPlan, { at, boundary, summary, rows }: Break): Readonly<Record<string, unknown>> {
  const compact = boundary === undefined ? undefined : recordOf(rawLine(plan, boundary), "compactMetadata");
  return {
    trigger: compact?.["trigger"],
    preTokens: compact?.["preTokens"],
    postTokens: rows === undefined || summary !== undefined ? undefined : compact?.["postTokens"],
    boundary: boundary?.uuid,
    summary: summary?.uuid,
    ...(boundary === undefined && summary === undefined && { line: at.uuid }),
  };
}

function rawLine(plan: TurnPlan, entry: LineEntry): RawLine {
  const parsed = plan.source.at(entry.line);
  return parsed === null || typeof parsed === "string" ? {} : parsed;
}
