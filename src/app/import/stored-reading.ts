// Imports a session whose beginning an earlier version of jpg read and stored. Its bytes, not its events, show what is known:
// stored turns do not change, and the rest of the file is read as jpg reads it now.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "../conversation/tree.ts";
import { inlineEvents, parseTurnBytes, readFirstEvent } from "../conversation/turns.ts";
import { locateStretches, type OpenSession } from "../sessions/open-session.ts";
import { type ByteSource, beginningOf, createBufferSource, lineAt } from "../sessions/sources.ts";
import { lineOf } from "./continued-session.ts";
import type { TurnChain, TurnSequence } from "./import-commits.ts";
import { commonTurns, hasGrown, type SessionBranch } from "./import-place.ts";
import { countStoredEvents } from "./import-report.ts";

/** A file as this jpg reads it. */
export interface Reading {
  readonly session: ImportedSession;
  readonly sequence: TurnSequence;
  readonly chain: TurnChain;
}

interface Stored {
  readonly store: ConversationStore;
  readonly open: OpenSession;
  readonly holder: SessionBranch;
  /** Reads a file as the import does; null when it has no turn. */
  readonly read: (open: OpenSession) => Promise<Reading | null>;
}

/**
 * The turns of a file after those on its branch. Null if this jpg reads the beginning as the branch has it: then comparing turns
 * shows what is new.
 */
export async function keepStoredTurns(stored: Stored, whole: Reading): Promise<TurnSequence | null> {
  const { store, open, holder } = stored;
  const stretches = await locateStretches(store, holder.tree.commit, holder.pieces);
  const beginning = await stored.read({ ...open, source: await storedState(stored, stretches.end) });
  if (beginning === null) return null;
  const oids = beginning.chain.oids(beginning.chain.turnCount);
  if (commonTurns(oids, holder.tree.turnOids) === oids.length) return null;
  const join = await findJoin(stored, beginning, whole);
  const shift = join.stored - join.read;
  const { lines } = whole.sequence;
  const starts = [...stretches.starts].sort(([a], [b]) => a - b);
  const lineOfTurn = (index: number): number => {
    const start = starts.find(([turn]) => turn >= index)?.[1] ?? stretches.end;
    return lineAt(open.source, start);
  };
  const last = join.stored - 1;
  const kept = last < 0 ? [] : await readTurnFile(store, holder.tree, last);
  const events = await inlineEvents(store, holder.tree.commit, kept);
  const added = join.isGrown ? mergeNew(events, newEvents(beginning, whole, join.read - 1)) : events;
  const knownOids = holder.tree.turnOids.slice(0, join.isGrown ? last : join.stored);
  const counts = await countStoredEvents(store, knownOids);
  const compactions = await placeNew(stored, join, newCompactions(beginning.sequence, whole.sequence));
  return {
    turnCount: whole.sequence.turnCount + shift,
    known: knownOids.map((oid, index) => ({ oid, events: counts[index] ?? 0 })),
    asStored: new Map(kept.map((event) => [event.id, event])),
    readTurn: (index) => (index <= last ? added : whole.sequence.readTurn(index - shift)),
    lines: (index) => {
      if (index > last) return lines(index - shift);
      if (!stretches.starts.has(index)) return null;
      const next = index < last ? lineOfTurn(index + 1) : (lines(join.read)?.first ?? open.source.lineCount);
      return { first: lineOfTurn(index), end: next };
    },
    compactionsAfter: (index) => compactions.flatMap(({ after, compaction }) => (after === index ? [compaction] : [])),
    undoneAfter: (index) =>
      Array.from({ length: whole.sequence.turnCount }, (_, turn) => turn)
        .filter((turn) => (turn < join.read ? Math.max(last, 0) : turn + shift) === index)
        .flatMap((turn) => whole.sequence.undoneAfter?.(turn) ?? []),
    titlesIn: (index) => {
      if (index > last) return whole.sequence.titlesIn(index - shift);
      if (index < last || join.read === 0) return [];
      const before = new Set(beginning.sequence.titlesIn(join.read - 1).map(({ id }) => id));
      return whole.sequence.titlesIn(join.read - 1).filter(({ id }) => !before.has(id));
    },
    toolsIn: (index) => whole.sequence.toolsIn(index - shift),
    settingsIn: (index) => whole.sequence.settingsIn(index - shift),
  };
}

/** The state of the file that the branch has: the beginning of its lines, or the earlier document. */
async function storedState({ store, open, holder }: Stored, byteLength: number): Promise<ByteSource> {
  if (open.document === null) return beginningOf(open.source, byteLength);
  const document = await collectBlobs(
    store,
    holder.pieces.map(({ oid }) => oid),
  );
  return createBufferSource(Buffer.concat(document));
}

/** Where stored turns end and new ones begin. */
interface Join {
  /** Turns of the branch that stay. */
  readonly stored: number;
  /** How many turns this jpg reads for them. */
  readonly read: number;
  /** Whether the newest of them has more events now. */
  readonly isGrown: boolean;
}

async function findJoin({ store, holder }: Stored, beginning: Reading, whole: Reading): Promise<Join> {
  const { turnOids } = holder.tree;
  const count = beginning.chain.turnCount;
  const common = commonTurns(beginning.chain.oids(count), whole.chain.oids(count));
  const isGrown =
    common === count - 1 &&
    common < whole.chain.turnCount &&
    hasGrown(beginning.chain.prepare(common).bytes, whole.chain.prepare(common).bytes);
  const read = isGrown ? count : common;
  const openers = await Promise.all(turnOids.map((oid, index) => readFirstEvent(store, oid, index)));
  const exported = beginning.sequence.known.length;
  // Up to where the user went back, by the lines of the turns before; else as far as the turns are the file's.
  const isRead = linesOfTurns(beginning, read);
  const isKept = (id: string): boolean => isRead(id) || (read === count && whole.session.hasLine(id));
  const own = openers.findIndex((events, index) => index >= exported && !isKept(lineOf(events[0]?.id ?? "")));
  const stored = own < 0 ? turnOids.length : own;
  return { stored: read < exported ? read : stored, read, isGrown };
}

function linesOfTurns({ sequence }: Reading, count: number): (id: string) => boolean {
  const lines = new Set<string>();
  for (let turn = sequence.known.length; turn < count; turn++) {
    for (const event of sequence.readTurn(turn)) lines.add(lineOf(event.id));
  }
  return (id) => lines.has(id);
}

function newEvents(
  beginning: Reading,
  whole: Reading,
  turn: number,
): { events: readonly Event[]; isNew: (event: Event) => boolean } {
  const before = new Set(beginning.sequence.readTurn(turn).map(({ id }) => id));
  return { events: whole.sequence.readTurn(turn), isNew: ({ id }) => !before.has(id) };
}

/** Inserts new events after the ones that they follow, so that a late part of a message stays with it. */
function mergeNew(
  stored: readonly Event[],
  { events, isNew }: { readonly events: readonly Event[]; readonly isNew: (event: Event) => boolean },
): readonly Event[] {
  const merged = [...stored];
  let at = merged.length;
  for (const event of events) {
    const place = merged.findIndex(({ id }) => id === event.id);
    if (place >= 0) at = place + 1;
    else if (isNew(event)) merged.splice(at++, 0, event);
  }
  return merged;
}

/** Reads a turn as stored, with references for payloads. */
async function readTurnFile(store: ConversationStore, tree: BranchTree, index: number): Promise<readonly Event[]> {
  const [bytes = new Uint8Array()] = await collectBlobs(store, [tree.turnOids[index] ?? ""]);
  return parseTurnBytes(bytes, index);
}

interface MadeCompaction {
  /** The turn after which its commit comes, as this jpg reads the file. */
  readonly turn: number;
  readonly compaction: Compaction;
}

function newCompactions(beginning: TurnSequence, whole: TurnSequence): readonly MadeCompaction[] {
  const list = (sequence: TurnSequence): readonly MadeCompaction[] =>
    Array.from({ length: sequence.turnCount }, (_, turn) =>
      sequence.compactionsAfter(turn).map((compaction) => ({ turn, compaction })),
    ).flat();
  const before = new Set(list(beginning).map(({ compaction }) => compaction.id));
  return list(whole).filter(({ compaction }) => !before.has(compaction.id));
}

/** Maps compactions to the positions of their turns on the branch. */
async function placeNew(
  { store, holder }: Stored,
  { stored, read }: Join,
  compactions: readonly MadeCompaction[],
): Promise<readonly { readonly after: number; readonly compaction: Compaction }[]> {
  const placed = [];
  for (const { turn, compaction } of compactions) {
    const after = turn < read ? Math.max(stored - 1, 0) : turn + stored - read;
    if (compaction.to_turn >= read)
      placed.push({ after, compaction: { ...compaction, to_turn: compaction.to_turn + stored - read } });
    else
      placed.push({
        after,
        compaction: { ...compaction, ...(await findBound(store, holder.tree, stored, compaction)) },
      });
  }
  return placed;
}

/** Where a compaction's last event is stored; if an earlier version left that event out, the end of what is stored. */
async function findBound(
  store: ConversationStore,
  tree: BranchTree,
  stored: number,
  { to_event: event }: Compaction,
): Promise<Pick<Compaction, "to_turn" | "to_event">> {
  let end: Pick<Compaction, "to_turn" | "to_event"> = { to_turn: Math.max(stored - 1, 0) };
  for (let turn = stored - 1; turn >= 0; turn--) {
    const events = await readTurnFile(store, tree, turn);
    const last = events.at(-1)?.id;
    if (turn === stored - 1 && last !== undefined) end = { to_turn: turn, to_event: last };
    if (event !== undefined && events.some(({ id }) => id === event)) return { to_turn: turn, to_event: event };
  }
  return end;
}
