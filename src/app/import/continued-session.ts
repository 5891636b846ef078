// A file that jpg exported and an agent went on writing: lines with known ids are the conversation's own, only what
// follows is new.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type Event, type ToolCallRequest, type ToolCallResponse, traitsOf } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import type { ExportOrigin, ImportedSession } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { inlineEvents } from "../branch/attachments.ts";
import { type BranchTree, collectBlobs, loadBranchTree } from "../branch/branch-tree.ts";
import { type ForkStart, startOfFork } from "../branch/fork-start.ts";
import { parseTurnBytes } from "../branch/turn-bytes.ts";
import { treeAtTurn } from "../names/tree-at.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { lineOf, placeCompactions } from "./continued-compactions.ts";
import { type ExportedLines, type FoundLines, findExportedLines } from "./exported-lines.ts";
import { countStoredEvents } from "./import-report.ts";
import { type KnownTurn, settingsOfTurn, type TurnSequence, titlesByTurn, toolsOfTurn } from "./turn-sequence.ts";

export interface ContinuedSession {
  /** The branch that it continues, as it stands now. */
  readonly tree: BranchTree;
  /** The commit that it was exported from. */
  readonly exported: string;
  /** What a fork begins with. */
  readonly start: ForkStart;
  readonly sequence: TurnSequence;
  /** Whether it is still what was exported. */
  readonly addsNothing: boolean;
}

/** Reads a session as the continuation of the branch it was exported from; null when this store has not that branch. */
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
  const stored = await storedTurn(workspace, exported, start.turnCount - 1);
  const counts = await countStoredEvents(store, exported.turnOids.slice(0, start.turnCount));
  const known = counts.map((events, index) => ({ oid: exported.turnOids[index] ?? "", events }));
  const sequence = createSequence({ session, ...shown, known, stored, lineCount: countLines(open) });
  const addsNothing =
    start.turnCount === exported.turnOids.length &&
    sequence.turnCount === sequence.known.length &&
    sequence.compactionsAfter(known.length - 1).length === 0;
  return { tree, exported: exported.commit, start, sequence, addsNothing };
}

/**
 * How many of the exported turns the agent still follows: all, unless the user went back in what was exported. A copy that the
 * agent made, and a document that it rewrites, hold no lines behind those that it follows.
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

/** The branch at the commit that the file names, and as it is now. What a file says is checked: anybody may write one. */
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
  /** The exported turns that it goes on from. */
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
  // An agent leaves notes when it opens a session: they belong to what follows, and make no turn grow by themselves.
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
    firstRead: 0,
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
    titlesIn: (index) => (index < base ? [] : (titles.get(fileTurn(index)) ?? [])),
    toolsIn: (index) => (index < base ? [] : toolsOfTurn(session, fileTurn(index))),
    settingsIn: (index) => (index < base ? [] : settingsOfTurn(session, fileTurn(index))),
  };
}

/**
 * What the newest exported turn holds beside what was exported. A result that the export made up becomes part of it once the
 * agent has gone on: that is what it was told, and nothing else will come.
 */
function eventsAfterExport({ session, lines, further, held, stored }: Continuation, last: number): readonly Event[] {
  const events = session.readTurn(last).filter(({ type }) => type !== "turn_start");
  const isNew = (event: Event): boolean => !lines.has(lineOf(event.id));
  const hasGoneOn =
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
    if (!hasGoneOn || !isMadeUp || storedOf(event)?.type === "tool_call_response") return [];
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

async function storedTurn(workspace: Workspace, tree: BranchTree, index: number): Promise<readonly Event[]> {
  const oid = tree.turnOids[index];
  if (oid === undefined) return [];
  const [bytes = new Uint8Array()] = await collectBlobs(workspace.store, [oid]);
  const events = parseTurnBytes(bytes, index);
  return inlineEvents(workspace.store, tree.commit, events);
}
