// How good a place each gap between blocks is to end a part: where the words and files change (TextTiling: a valley between
// two stretches that hold together), where somebody went away, where planning turned into doing or doing into repairing.
import type { Event } from "../event/event.ts";
import { callFacts, isWriting } from "../tools/call-facts.ts";
import type { TurnBlock } from "./blocks.ts";
import { topicDepths } from "./topics.ts";

const TOPIC_WEIGHT = 0.5;
const PAUSE_WEIGHT = 0.3;
const PHASE_WEIGHT = 0.2;

/** Pauses, milliseconds: a break within a day, and the next day's work. */
const BREAK_MS = 30 * 60_000;
const NIGHT_MS = 4 * 60 * 60_000;

/** Calls on each side of a gap that tell the kind of work, and the fewest that do. */
const PHASE_CALLS = 12;
const LEAST_CALLS = 3;

/** Gives for each block how good the gap after it is, 0..1; linear in the blocks. */
export function scoreBoundaries(blocks: readonly TurnBlock[]): readonly number[] {
  const depths = topicDepths(blocks);
  const phases = phaseChanges(blocks);
  return blocks.map((block, at) => {
    const pause = pauseScore(block, blocks[at + 1]);
    return TOPIC_WEIGHT * (depths[at] ?? 0) + PAUSE_WEIGHT * pause + PHASE_WEIGHT * (phases[at] ?? 0);
  });
}

function pauseScore(before: TurnBlock, after: TurnBlock | undefined): number {
  if (after === undefined) return 0;
  const [end, start] = [before.turn.events[before.last] as Event, after.turn.events[after.first] as Event];
  const pause = Date.parse(start.timestamp) - Date.parse(end.timestamp);
  if (!(pause >= BREAK_MS)) return 0;
  return pause >= NIGHT_MS ? 1 : 0.5;
}

/** Kinds of work, told from calls and their results. */
type Work = "look" | "change" | "repair";

function phaseChanges(blocks: readonly TurnBlock[]): readonly number[] {
  const works: Work[] = [];
  const ends = blocks.map((block) => {
    for (const event of block.turn.events.slice(block.first, block.last + 1)) {
      const work = workOf(event);
      if (work !== null) works.push(work);
    }
    return works.length;
  });
  return ends.map((end) => {
    const before = works.slice(Math.max(0, end - PHASE_CALLS), end);
    const after = works.slice(end, end + PHASE_CALLS);
    return before.length < LEAST_CALLS || after.length < LEAST_CALLS ? 0 : distance(before, after);
  });
}

function workOf(event: Event): Work | null {
  if (event.type === "tool_call_response") return event.is_error ? "repair" : null;
  if (event.type !== "tool_call_request") return null;
  const { kind } = callFacts(event);
  return isWriting(kind) ? "change" : "look";
}

/** Half the difference between the shares of each kind of work, 0..1. */
function distance(before: readonly Work[], after: readonly Work[]): number {
  const share = (works: readonly Work[], work: Work): number =>
    works.filter((other) => other === work).length / works.length;
  const kinds: readonly Work[] = ["look", "change", "repair"];
  return kinds.reduce((sum, kind) => sum + Math.abs(share(before, kind) - share(after, kind)), 0) / 2;
}
