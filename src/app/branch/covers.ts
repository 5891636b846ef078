// `covers`: the digest that binds a compaction to the turns it was made over, from object ids alone where possible
// (docs/FORMAT.md). A summary whose digest does not match the branch must not be applied: it would tell of another past.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { cutTurnFile, cutTurnFileBefore } from "../../core/conversation/turn-file.ts";
import { blobId, sha256 } from "../workspace/object-id.ts";
import type { CutBounds, CutCache } from "./cut-cache.ts";

/** Reads a turn file's text; called only for end turns that are cut inside. */
export type ReadTurnText = (index: number) => Promise<string>;

export interface CoverFacts {
  /** Object id of each turn file of the branch. */
  readonly turnOids: readonly string[];
  readonly readText: ReadTurnText;
  /** Cuts that were made before; absent = every cut turn is read. */
  readonly cuts?: CutCache;
}

type Bounds = Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event">;

/** The digest over what `bounds` covers, or null when a turn or bound event is not on the branch. */
export async function coversDigest(bounds: Bounds, facts: CoverFacts): Promise<string | null> {
  return digestOver(bounds, facts.turnOids, (index) => endTurnEntry(index, bounds, facts));
}

/** Gives the line of an end turn, or null when it cannot be told. */
type TurnEntry = (index: number) => Promise<string | null>;

async function digestOver(bounds: Bounds, oids: readonly string[], entryOf: TurnEntry): Promise<string | null> {
  const first = await entryOf(bounds.from_turn);
  const last = bounds.to_turn === bounds.from_turn ? first : await entryOf(bounds.to_turn);
  return first === null || last === null ? null : digest(bounds, oids, first, last);
}

/** How a compaction stands to the branch it is on. */
export interface CoverCheck {
  readonly matches: boolean;
  /** Every covered end turn is covered as a whole, though a bound event is named. */
  readonly whole: boolean;
}

/**
 * Checks `covers` against the branch. Tries object ids first, so that wholly covered turns are never read; reads an end
 * turn only when the digest says that it is cut inside.
 */
export async function checkCovers(compaction: Compaction, facts: CoverFacts): Promise<CoverCheck> {
  if (compaction.covers === undefined) return { matches: true, whole: false };
  const { from_turn: from, to_turn: to } = compaction;
  if (facts.turnOids[from] === undefined || facts.turnOids[to] === undefined) return { matches: false, whole: false };
  const bound = compaction.from_event !== undefined || compaction.to_event !== undefined;
  if (coversWhole(compaction, facts)) return { matches: true, whole: bound };
  if (!bound) return { matches: false, whole: false };
  const remembered = await digestOver(compaction, facts.turnOids, async (index) =>
    rememberedEntry(index, compaction, facts),
  );
  if (remembered === compaction.covers) return { matches: true, whole: false };
  return { matches: (await coversDigest(compaction, facts)) === compaction.covers, whole: false };
}

/** Whether object ids alone say that what a compaction covers is here, its end turns as a whole. */
export function coversWhole(compaction: Compaction, { turnOids }: Pick<CoverFacts, "turnOids">): boolean {
  const { from_turn: from, to_turn: to } = compaction;
  return digest(compaction, turnOids, `${from}:${turnOids[from]}`, `${to}:${turnOids[to]}`) === compaction.covers;
}

function digest(bounds: Bounds, oids: readonly string[], first: string, last: string): string | null {
  const { from_turn: from, to_turn: to } = bounds;
  let text = `${first}\n`;
  for (let index = from + 1; index < to; index++) {
    const oid = oids[index];
    if (oid === undefined) return null;
    text += `${index}:${oid}\n`;
  }
  return sha256(to > from ? `${text}${last}\n` : text);
}

async function endTurnEntry(index: number, bounds: Bounds, facts: CoverFacts): Promise<string | null> {
  const oid = facts.turnOids[index];
  if (oid === undefined) return null;
  const cut = cutBounds(index, bounds);
  if (cut === null) return `${index}:${oid}`;
  const id = cutId(await facts.readText(index), cut);
  if (id === null) return null;
  facts.cuts?.add(oid, cut, id);
  return `${index}:${id}`;
}

/** The same from what is remembered. */
function rememberedEntry(index: number, bounds: Bounds, { turnOids, cuts }: CoverFacts): string | null {
  const oid = turnOids[index];
  if (oid === undefined || cuts === undefined) return null;
  const cut = cutBounds(index, bounds);
  if (cut === null) return `${index}:${oid}`;
  const id = cuts.find(oid, cut);
  return id === null ? null : `${index}:${id}`;
}

/** The bounds that fall into a turn; null when none does. */
function cutBounds(index: number, bounds: Bounds): CutBounds | null {
  const fromEvent = index === bounds.from_turn ? bounds.from_event : undefined;
  const toEvent = index === bounds.to_turn ? bounds.to_event : undefined;
  return fromEvent === undefined && toEvent === undefined ? null : { fromEvent, toEvent };
}

/** The object id of the turn up to the cut, `<id before>..<id up to>` when it begins inside; null without its events. */
function cutId(text: string, { fromEvent, toEvent }: CutBounds): string | null {
  const end = toEvent === undefined ? text : cutTurnFile(text, toEvent);
  if (end === null) return null;
  if (fromEvent === undefined) return textId(end);
  const before = cutTurnFileBefore(text, fromEvent);
  if (before === null) return null;
  // A range that begins at the turn's first event is no cut.
  return before === "" ? textId(end) : `${textId(before)}..${textId(end)}`;
}

function textId(text: string): string {
  return blobId(new TextEncoder().encode(text));
}
