// `covers`: the digest that binds a compaction to the turns it was made over, from object ids alone where possible
// (docs/FORMAT.md). A summary whose digest does not match the branch must not be applied: it would tell of another past.
import type { Compaction } from "../core/compaction.ts";
import { cutTurnFile, cutTurnFileBefore } from "../core/turn-file.ts";
import { blobId, sha256 } from "./object-id.ts";

/** Reads a turn file's text; called only for end turns that are cut inside. */
export type ReadTurnText = (index: number) => Promise<string>;

export interface CoverFacts {
  /** Object id of each turn file of the branch. */
  readonly turnOids: readonly string[];
  readonly readText: ReadTurnText;
}

type Bounds = Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event">;

/** The digest over what `bounds` covers, or null when a turn or bound event is not on the branch. */
export async function coversDigest(bounds: Bounds, facts: CoverFacts): Promise<string | null> {
  const first = await endTurnEntry(bounds.from_turn, bounds, facts);
  const last = bounds.to_turn === bounds.from_turn ? first : await endTurnEntry(bounds.to_turn, bounds, facts);
  return first === null || last === null ? null : digest(bounds, facts.turnOids, first, last);
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
  const [firstOid, lastOid] = [facts.turnOids[from], facts.turnOids[to]];
  if (firstOid === undefined || lastOid === undefined) return { matches: false, whole: false };
  const bound = compaction.from_event !== undefined || compaction.to_event !== undefined;
  if (digest(compaction, facts.turnOids, `${from}:${firstOid}`, `${to}:${lastOid}`) === compaction.covers) {
    return { matches: true, whole: bound };
  }
  if (!bound) return { matches: false, whole: false };
  return { matches: (await coversDigest(compaction, facts)) === compaction.covers, whole: false };
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
  const fromEvent = index === bounds.from_turn ? bounds.from_event : undefined;
  const toEvent = index === bounds.to_turn ? bounds.to_event : undefined;
  if (fromEvent === undefined && toEvent === undefined) return `${index}:${oid}`;
  const text = await facts.readText(index);
  const end = toEvent === undefined ? text : cutTurnFile(text, toEvent);
  if (end === null) return null;
  if (fromEvent === undefined) return `${index}:${textId(end)}`;
  const before = cutTurnFileBefore(text, fromEvent);
  if (before === null) return null;
  // A range that begins at the turn's first event is no cut.
  return before === "" ? `${index}:${textId(end)}` : `${index}:${textId(before)}..${textId(end)}`;
}

function textId(text: string): string {
  return blobId(new TextEncoder().encode(text));
}
