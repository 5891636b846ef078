// A sub-agent that was shown its parent's conversation so far: its session becomes a fork of that one's, inside the turn that
// started it. Its file has only what came after.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { turnIndexOfSource } from "../../core/conversation/turn-file.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { inlineEvents } from "../conversation/turns.ts";
import { familyOf } from "../names/find-session.ts";
import { countLines, type OpenSession } from "../sessions/open-session.ts";
import { lineOf } from "./continued-session.ts";
import { type TurnSequence, wholeSequence } from "./import-commits.ts";
import { countStoredEvents } from "./import-report.ts";
import {
  everyImportedCompaction,
  type ForkedSession,
  type ForkFamily,
  NO_SUFFIX,
  shiftTurns,
  storedTurn,
} from "./shared-turns.ts";

interface AgentFork {
  readonly session: ImportedSession;
  readonly family: ForkFamily;
  /** Id of the parent's last line that the agent was shown. */
  readonly at: string;
}

/** Reads a sub-agent's session as a fork; null if no branch has the line that it continues from. */
export async function readForkedAgent(
  store: ConversationStore,
  open: OpenSession,
  { session, family, at }: AgentFork,
): Promise<ForkedSession | null> {
  const found = await findPlace(store, family, at);
  if (found === null) return null;
  const { tree, turn, events } = found;
  const shown = await inlineEvents(store, tree.commit, events);
  const counts = await countStoredEvents(store, tree.turnOids.slice(0, turn));
  const known = counts.map((count, index) => ({ oid: tree.turnOids[index] ?? "", events: count }));
  const inForce = await compactionsUpTo(store, tree, { turn, shown });
  const own = session.compactions.map((compaction) => shiftTurns(compaction, turn));
  const turns = new Map([...session.compactionTurns].map(([id, index]) => [id, index + turn]));
  const placed = { ...session, compactions: own, compactionTurns: turns, abandoned: [] };
  const whole = wholeSequence(session, countLines(open));
  const sequence: TurnSequence = {
    turnCount: session.turnCount + turn,
    known,
    asStored: new Map(events.map((event) => [event.id, event])),
    readTurn: (index) => {
      if (index < turn) return [];
      const [start, ...said] = session.readTurn(index - turn);
      return index === turn ? [...shown, ...said] : start === undefined ? [] : [start, ...said];
    },
    lines: (index) => (index < turn ? null : whole.lines(index - turn)),
    compactionsAfter: (index) => [
      ...inForce.filter(({ to_turn }) => to_turn === index || (index === turn - 1 && to_turn < index)),
      ...own.filter(({ id }) => turns.get(id) === index),
    ],
    undoneAfter: (index) => (index < turn ? [] : (whole.undoneAfter?.(index - turn) ?? [])),
    titlesIn: (index) => (index < turn ? [] : whole.titlesIn(index - turn)),
    toolsIn: (index) => (index < turn ? [] : whole.toolsIn(index - turn)),
    settingsIn: (index) => (index < turn ? [] : whole.settingsIn(index - turn)),
  };
  return { tree, isNew: family.own.length === 0, addsNothing: false, shared: turn, session: placed, sequence };
}

interface Place {
  readonly tree: BranchTree;
  /** The turn with the line. */
  readonly turn: number;
  /** Its events up to the line, as stored, `turn_start` first. */
  readonly events: readonly Event[];
}

/** The place of a line on the agent's own branch, or else on one of its parent's. */
async function findPlace(store: ConversationStore, family: ForkFamily, at: string): Promise<Place | null> {
  const [own] = family.own;
  if (own !== undefined) {
    const first = turnIndexOfSource(own.pieces[0]?.path ?? "") ?? 0;
    return placeIn(store, own.tree, { at, first });
  }
  for (const { name, commit } of familyOf(family.tips, { suffix: NO_SUFFIX, continues: family.conversation })) {
    const found = await placeIn(store, await loadBranchTree(store, name, commit), { at });
    if (found !== null) return found;
  }
  return null;
}

/** `first` = the only turn to look at. */
async function placeIn(
  store: ConversationStore,
  tree: BranchTree,
  { at, first }: { readonly at: string; readonly first?: number },
): Promise<Place | null> {
  for (let turn = first ?? tree.turnOids.length - 1; turn >= (first ?? 0); turn--) {
    const events = await storedTurn(store, tree, turn);
    const last = events.findLastIndex(({ type, id }) => type !== "turn_start" && lineOf(id) === at);
    if (last >= 0) return { tree, turn, events: events.slice(0, last + 1) };
  }
  return null;
}

/** The parent's imported compactions that end before the line. */
async function compactionsUpTo(
  store: ConversationStore,
  tree: BranchTree,
  { turn, shown }: { readonly turn: number; readonly shown: readonly Event[] },
): Promise<readonly Compaction[]> {
  const ids = new Set(shown.map(({ id }) => id));
  const until = shown.at(-1)?.timestamp ?? "";
  return (await everyImportedCompaction(store, tree)).filter(
    ({ to_turn, to_event, timestamp }) =>
      timestamp <= until && (to_turn < turn || (to_turn === turn && to_event !== undefined && ids.has(to_event))),
  );
}
