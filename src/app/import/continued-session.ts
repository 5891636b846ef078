// Imports a file that jpg exported and an agent continued: lines with known ids are the conversation's own, and only what follows
// is new.
import { type Compaction, isHiding } from "../../core/conversation/compaction.ts";
import {
  type Event,
  type ToolCallRequest,
  type ToolCallResponse,
  traitsOf,
  type View,
} from "../../core/conversation/event.ts";
import { indexId, noticeId } from "../../core/conversation/hidden-notice.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import type { SessionWriter } from "../../formats/agent-format.ts";
import { type ExportOrigin, type ImportedSession, lineName, listLineSources } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type ForkStart, startOfFork } from "../conversation/fork-start.ts";
import { sha1Bytes } from "../conversation/runtime.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../conversation/tree.ts";
import { inlineEvents, parseTurnBytes } from "../conversation/turns.ts";
import { loadHistory, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { treeAtTurn } from "../names/revision.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { type KnownTurn, settingsOfTurn, type TurnSequence, titlesByTurn, toolsOfTurn } from "./import-commits.ts";
import { countStoredEvents } from "./import-report.ts";

export interface ContinuedSession {
  /** The branch that it continues, as it is now. */
  readonly tree: BranchTree;
  /** The commit that it was exported from. */
  readonly exported: string;
  /** Where a fork begins. */
  readonly start: ForkStart;
  readonly sequence: TurnSequence;
  /** Whether nothing was added to the export. */
  readonly addsNothing: boolean;
}

/** Reads a session as the continuation of the branch that it was exported from; null when this store does not have that branch. */
export async function readContinuedSession(
  workspace: Workspace,
  open: OpenSession,
  session: ImportedSession,
): Promise<ContinuedSession | null> {
  const { store } = workspace;
  const { origin, format } = open;
  const trees = origin === null ? null : await findExported(store, origin);
  if (trees === null || format.write === undefined) return null;
  const { exported, tree } = trees;
  const shown = await findExportedLines(store, exported, { session, writer: format.write });
  const start = await startOfFork(
    store,
    exported,
    keptTurns(open, session, { ...shown, turns: exported.turnOids.length }),
  );
  const kept = await readTurnFile(workspace, exported, start.turnCount - 1);
  const stored = await inlineEvents(store, exported.commit, kept);
  const counts = await countStoredEvents(store, exported.turnOids.slice(0, start.turnCount));
  const known = counts.map((events, index) => ({ oid: exported.turnOids[index] ?? "", events }));
  const own = createSequence({ session, ...shown, known, stored, lineCount: countLines(open) });
  const sequence = { ...own, asStored: new Map(kept.map((event) => [event.id, event])) };
  const addsNothing =
    start.turnCount === exported.turnOids.length &&
    sequence.turnCount === sequence.known.length &&
    sequence.compactionsAfter(known.length - 1).length === 0 &&
    sequence.undoneAfter?.(known.length - 1).length === 0;
  return { tree, exported: exported.commit, start, sequence, addsNothing };
}

/**
 * Counts the exported turns that the agent still follows: all, unless the user went back to an earlier one. A copy that the agent
 * made, and a document that it rewrites, have no lines after those that it follows.
 */
function keptTurns(
  { document }: Pick<OpenSession, "document">,
  session: ImportedSession,
  { lines, turnOf, turns: exportedTurns }: ExportedLines & { readonly turns: number },
): number {
  const isCopy = session.exportedAs !== undefined && session.exportedAs !== session.sessionId;
  const newest = isCopy || document !== null ? undefined : [...lines.keys()].at(-1);
  for (let index = session.turnCount - 1; index >= 0; index--) {
    const known = session.readTurn(index).findLast((event) => lines.has(lineOf(event.id)));
    if (known === undefined) continue;
    const turn = lineOf(known.id) === newest ? undefined : turnOf.get(lines.get(lineOf(known.id)) ?? "");
    return turn === undefined ? exportedTurns : turn + 1;
  }
  return exportedTurns;
}

/**
 * Finds the exported branch at the commit that the file names, and at its tip. The file's words are checked: anybody can write one.
 */
async function findExported(
  store: ConversationStore,
  { conversation, branch, commit, turn }: ExportOrigin,
): Promise<{ readonly exported: BranchTree; readonly tree: BranchTree } | null> {
  const tip = (await store.listBranches()).find(({ name }) => name === branch);
  if (tip === undefined || conversationOf(branch) !== conversation || !/^[0-9a-f]{40}$/.test(commit)) return null;
  if ((await store.resolveCommit(commit)) === null) return null;
  const tree = await loadBranchTree(store, branch, tip.commit);
  const whole = tip.commit === commit ? tree : await loadBranchTree(store, branch, commit);
  if (whole.header.id !== tree.header.id) return null;
  return { exported: turn === undefined ? whole : await treeAtTurn(store, whole, turn), tree };
}

interface Continuation extends FoundLines {
  readonly session: ImportedSession;
  /** The exported turns that it continues. */
  readonly known: readonly KnownTurn[];
  /** The newest one's events, as stored. */
  readonly stored: readonly Event[];
  /** Lines of the file; null = it is one document. */
  readonly lineCount: number | null;
}

function createSequence(continuation: Continuation): TurnSequence {
  const { session, lines, known, stored, lineCount } = continuation;
  const base = known.length;
  const last = lastExportedTurn(session, (id) => lines.has(lineOf(id)));
  const after = last < 0 ? [] : eventsAfterExport(continuation, last);
  // Notes that an agent writes when it opens a session belong to the next turn, and alone they do not make a turn grow.
  const added = after.some((event) => traitsOf(event).providerVisible) ? after : [];
  const leading = added.length === 0 ? after : [];
  const readNew = (index: number): readonly Event[] => {
    const [start, ...events] = session.readTurn(fileTurn(index));
    return start === undefined ? [] : index === base ? [start, ...leading, ...events] : [start, ...events];
  };
  const fileTurn = (index: number): number => index - base + last + 1;
  const titles = titlesByTurn(session);
  const made = session.compactions.filter(({ id }) => session.exportedCompactions?.has(id) !== true);
  const compactions = placeCompactions(made, { ...continuation, last, base });
  const turnOfCompaction = (compaction: Compaction): number =>
    Math.max(base - 1, (session.compactionTurns.get(compaction.id) ?? 0) - last - 1 + base);
  return {
    turnCount: base + session.turnCount - (last + 1),
    known: added.length > 0 ? known.slice(0, base - 1) : known,
    readTurn: (index) => (index < base ? [...stored, ...added] : readNew(index)),
    lines: (index) => {
      if (index < base - 1 || lineCount === null) return null;
      const next = fileTurn(index) + 1;
      return {
        first: index === base - 1 ? 0 : session.turnLine(fileTurn(index)),
        end: next < session.turnCount ? session.turnLine(next) : lineCount,
      };
    },
    compactionsAfter: (index) => compactions.filter((compaction) => turnOfCompaction(compaction) === index),
    undoneAfter: (index) =>
      session.live?.undone.filter(({ turn }) => Math.max(base - 1, turn - last - 1 + base) === index) ?? [],
    titlesIn: (index) => (index < base ? [] : (titles.get(fileTurn(index)) ?? [])),
    toolsIn: (index) => (index < base ? [] : toolsOfTurn(session, fileTurn(index))),
    settingsIn: (index) => (index < base ? [] : settingsOfTurn(session, fileTurn(index))),
  };
}

/**
 * The events of the newest exported turn that were not exported. A result that the export made up is one of them once the agent has
 * continued: the agent was told it, and no other will come.
 */
function eventsAfterExport({ session, lines, further, held, stored }: Continuation, last: number): readonly Event[] {
  const events = session.readTurn(last).filter(({ type }) => type !== "turn_start");
  const isNew = (event: Event): boolean => !lines.has(lineOf(event.id));
  const hasContinued =
    session.turnCount > last + 1 || events.some((event) => isNew(event) && traitsOf(event).providerVisible);
  const storedOf = ({ id }: Event): Event | undefined => stored.find((event) => event.id === lines.get(lineOf(id)));
  const callOf = ({ call_id }: ToolCallResponse): ToolCallRequest | undefined => {
    const call = events.findLast((event) => event.type === "tool_call_request" && event.call_id === call_id);
    const ids = held.get(lines.get(lineOf(call?.id ?? "")) ?? "") ?? [];
    const calls = stored.flatMap((event) =>
      event.type === "tool_call_request" && ids.includes(event.id) ? [event] : [],
    );
    return calls.find((event) => event.call_id === call_id) ?? calls[0];
  };
  return events.flatMap((event) => {
    if (isNew(event)) return [event];
    const isMadeUp = event.type === "tool_call_response" && further.has(lineOf(event.id));
    if (!hasContinued || !isMadeUp || storedOf(event)?.type === "tool_call_response") return [];
    const call = callOf(event);
    return call === undefined ? [] : [{ ...event, call_id: call.call_id }];
  });
}

function lastExportedTurn(session: ImportedSession, isKnown: (id: string) => boolean): number {
  for (let index = session.turnCount - 1; index >= 0; index--) {
    if (session.readTurn(index).some((event) => event.type !== "turn_start" && isKnown(event.id))) return index;
  }
  return -1;
}

/** Reads a turn as stored, with references for payloads. */
async function readTurnFile(workspace: Workspace, tree: BranchTree, index: number): Promise<readonly Event[]> {
  const oid = tree.turnOids[index];
  if (oid === undefined) return [];
  const [bytes = new Uint8Array()] = await collectBlobs(workspace.store, [oid]);
  return parseTurnBytes(bytes, index);
}

/** Maps positions and ids of an exported file to those of the conversation. */
export interface ExportedPositions {
  /** The event or compaction that each exported line shows, by line id. */
  readonly lines: ReadonlyMap<string, string>;
  /** The events in a line, by the id that it shows. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  /** The turn of the conversation that contains an event, by event id. */
  readonly turnOf: ReadonlyMap<string, number>;
  /** The compactions whose summaries, replacements, indexes and notices may be in the export, by id. */
  readonly inForce: ReadonlyMap<string, Compaction>;
  /** The newest exported turn's events, as stored. */
  readonly stored: readonly Event[];
  /** The file's newest turn with exported lines, 0-based; -1 = none. */
  readonly last: number;
  /** The position in the conversation of the first turn after `last`. */
  readonly base: number;
}

interface Bound {
  readonly turn: number;
  readonly event?: string;
}

/** The id of an event's line: the part before the first dot. Further events of a line have an ordinal. */
export function lineOf(eventId: string): string {
  const dot = eventId.indexOf(".");
  return dot < 0 ? eventId : eventId.slice(0, dot);
}

/** Maps the compactions that the agent made to the conversation; leaves out those that were exported. */
export function placeCompactions(compactions: readonly Compaction[], at: ExportedPositions): Compaction[] {
  return compactions.filter((compaction) => !isExported(compaction, at)).map((compaction) => place(compaction, at));
}

function isExported({ metadata = {} }: Compaction, { lines }: ExportedPositions): boolean {
  return Object.values(metadata).some((value) => typeof value === "string" && lines.has(lineOf(value)));
}

function place(compaction: Compaction, at: ExportedPositions): Compaction {
  const { from_event: fromEvent, to_event: toEvent, ...rest } = compaction;
  // What the agent was shown begins with the view of the conversation, so hiding all of that replaces all of the view.
  const from = fromEvent === undefined ? { turn: 0 } : placeBound(compaction.from_turn, fromEvent, { ...at, edge: 0 });
  const to = placeBound(compaction.to_turn, toEvent, { ...at, edge: -1 });
  return {
    ...rest,
    from_turn: from.turn,
    from_event: from.event,
    to_turn: to.turn,
    to_event: to.event,
    ...(compaction.keep === undefined
      ? {}
      : { keep: [...new Set(compaction.keep.flatMap((id) => originalIds(id, at)))] }),
  };
}

/** `edge` = which event of a line with several: 0 = the first, -1 = the last. */
type Edge = ExportedPositions & { readonly edge: 0 | -1 };

function placeBound(turn: number, event: string | undefined, at: Edge): Bound {
  return turn > at.last ? bound(turn - at.last - 1 + at.base, event) : exportedBound(event, at);
}

/** A bound in the exported part: an event of the conversation, or one that the agent added to the newest turn. */
function exportedBound(event: string | undefined, at: Edge): Bound {
  const newest = at.base - 1;
  if (event === undefined) return bound(newest, at.stored.at(-1)?.id);
  if (!at.lines.has(lineOf(event))) return bound(newest, event);
  const id = originalIds(event, at).at(at.edge) ?? "";
  const made = madeBy(id, at);
  if (made !== undefined) return madeBound(id, made, at);
  const turn = at.turnOf.get(id);
  return turn === undefined ? bound(newest, at.stored.at(-1)?.id) : bound(turn, id);
}

/** Maps a bound at text that jpg wrote into the export to the bound of the compaction that it belongs to. */
function madeBound(id: string, made: Compaction, at: Edge): Bound {
  const newest = at.base - 1;
  if (at.edge === 0 && isHiding(made) && !followsRange(id, made)) return bound(made.from_turn, made.from_event);
  if (at.edge === 0) return exportedBound(nextShownLine(id, at), at);
  const end = made.to_event ?? (made.to_turn >= newest ? at.stored.at(-1)?.id : undefined);
  return bound(Math.min(made.to_turn, newest), end);
}

/** The compaction that wrote something into the export: its summary, index or notice, or an event of its replacement. */
function madeBy(id: string, { inForce }: Pick<ExportedPositions, "inForce">): Compaction | undefined {
  const named = inForce.get(lineOf(id));
  return named ?? [...inForce.values()].find(({ replacement }) => replacement?.some((event) => event.id === id));
}

/** Whether it was written after the range that its compaction covers. */
function followsRange(id: string, made: Compaction): boolean {
  return id === indexId(made.id) || id === noticeId(made.id);
}

/** The next exported line that shows an event of the conversation; undefined = none. */
function nextShownLine(id: string, at: ExportedPositions): string | undefined {
  const all = [...at.lines];
  const last = all.findLastIndex(([, shows]) => shows === id);
  return all.slice(last + 1).find(([, shows]) => madeBy(shows, at) === undefined)?.[0];
}

/** All events in the line of an event: what an agent does to one of them, it does to all. */
function originalIds(id: string, { lines, held }: ExportedPositions): readonly string[] {
  const shown = lines.get(lineOf(id));
  return shown === undefined ? [id] : (held.get(shown) ?? [shown]);
}

function bound(turn: number, event: string | undefined): Bound {
  return event === undefined ? { turn } : { turn, event };
}

// Finds the lines of a session that jpg exported. Their ids are hashes of the session's id and of what they show, so no export is
// made again.

/** The exported lines that a session holds. */
interface ExportedLines {
  /** The event or compaction that each line shows, by line id, in the order of the export. */
  readonly lines: ReadonlyMap<string, string>;
  /** Lines that are not the first for what they show: results that the export made up. */
  readonly further: ReadonlySet<string>;
  /** The events in a line, by the id that it shows: those of one message without lines of their own. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  /** The turn of the conversation with an event or compaction, by its id. */
  readonly turnOf: ReadonlyMap<string, number>;
}

/** The lines, and the compactions that some of them belong to. */
interface FoundLines extends ExportedLines {
  /** Those in force at the export, by id. */
  readonly inForce: ReadonlyMap<string, Compaction>;
}

type Held = Pick<ImportedSession, "sessionId" | "exportedAs" | "hasLine">;

/**
 * Finds the lines. A session is exported from the view, from the full history, or from both: takes the one with more lines in the
 * session.
 */
async function findExportedLines(
  store: ConversationStore,
  exported: BranchTree,
  { session, writer }: { readonly session: Held; readonly writer: SessionWriter },
): Promise<FoundLines> {
  // With the notice that it may have been exported with; the session shows whether its line is there.
  const { view, live } = await loadView(store, exported, { notice: true });
  const inForce = new Map(live.applied.map((compaction) => [compaction.id, compaction]));
  const shown = knownLines(view, session, writer);
  if (exported.compactions.length === 0) return { ...shown, inForce };
  const whole = knownLines(await loadHistory(store, exported), session, writer);
  if (writer.takesHistory === true) return { ...joinLines(whole, shown), inForce };
  return { ...(shown.lines.size >= whole.lines.size ? shown : whole), inForce };
}

/** The lines of an export in which some turns are as in the view, others as they were said. */
function joinLines(whole: ExportedLines, shown: ExportedLines): ExportedLines {
  return {
    lines: new Map([...whole.lines, ...shown.lines]),
    further: new Set([...whole.further, ...shown.further]),
    held: new Map([...whole.held, ...shown.held]),
    turnOf: new Map([...whole.turnOf, ...shown.turnOf]),
  };
}

/** Finds the lines of an exported view that are in a session. */
export function knownLines(
  view: View,
  { sessionId, exportedAs = sessionId, hasLine }: Held,
  writer: SessionWriter,
): ExportedLines {
  const lines = new Map<string, string>();
  const further = new Set<string>();
  const turnOf = new Map<string, number>();
  const held = new Map<string, string[]>();
  let open: { readonly message: string | undefined; readonly events: string[] } | undefined;
  for (const { name, shows, turn, message } of listLineSources(view)) {
    if (turn !== undefined) turnOf.set(shows, turn);
    const ids = linesOf(name);
    for (const [n, id] of ids.entries()) {
      lines.set(id, shows);
      if (n > 0) further.add(id);
    }
    if (ids.length > 0) {
      open = { message, events: [shows] };
      held.set(shows, open.events);
    } else if (message !== undefined && open?.message === message) open.events.push(shows);
  }
  return { lines, further, held, turnOf };

  function linesOf(name: string): readonly string[] {
    const ids: string[] = [];
    for (let n = 0; ; n++) {
      const id = writer.lineId(exportedAs, lineName(name, n), sha1Bytes);
      if (!hasLine(id)) return ids;
      ids.push(id);
    }
  }
}
