// The agent's own compactions, where they stand: what was before them is the past, what they left is the view, and what the agent did
// then tells what was needed. It did so with that view before it, which is why they are compared apart.
import { type Compaction, compareCompactions, isHiding } from "../../src/core/conversation/compaction.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import { estimateEvents } from "../../src/core/conversation/token-estimate.ts";
import { type Cut, horizonOf, LONG_TOKENS } from "./cut.ts";
import { listStretches, type Session, type Stretch, visibleEvents } from "./stretch.ts";

/** A cut where the agent compacted, with what it left. */
export interface OwnCut extends Cut {
  readonly left: readonly Event[];
}

/** Lists those of long stretches; not those whose summary nobody but the provider can read, nor those that leave nothing. */
export function listOwnCuts(session: Session): readonly OwnCut[] {
  const stretches = listStretches(session);
  const own = session.compactions.filter(isHiding).sort(compareCompactions);
  return stretches.flatMap((stretch, at) => {
    const compaction = own[stretch.number];
    const next = stretches[at + 1];
    if (compaction === undefined || next?.number !== stretch.number + 1 || !isReadable(compaction)) return [];
    return ownCut(stretch, next, compaction);
  });
}

function ownCut({ session, number, turns }: Stretch, next: Stretch, { id }: Compaction): readonly OwnCut[] {
  const past = visibleEvents(turns);
  if (estimateEvents(past) < LONG_TOKENS) return [];
  const known = new Set(past.map((event) => event.id));
  const after = visibleEvents(next.turns);
  const isLeft = (event: Event): boolean => known.has(event.id) || event.id.startsWith(`${id}.`);
  const end = after.findLastIndex(isLeft) + 1;
  const future = horizonOf(after.slice(end));
  if (end === 0 || future.length === 0) return [];
  return [
    { session, name: `${session.name} ${number + 1} at its end`, turns, past, future, left: after.slice(0, end) },
  ];
}

function isReadable({ summary, replacement = [] }: Compaction): boolean {
  if (summary !== undefined) return true;
  return replacement.length > 0 && !JSON.stringify(replacement).includes('"type":"opaque"');
}
