// The turns of a conversation as a model reads them to find tangents: numbered, each with what was asked, what was answered and
// what was worked on, short enough for all to fit. Text of the conversation stands behind labels on lines of its own.
import type { Turn } from "../event/turn.ts";
import { gather } from "../extract/gather.ts";
import { cutEnd, cutMiddle, oneLine, spokenLine } from "../extract/short-text.ts";

/** Longest and shortest text of one turn, characters. */
const MOST_CHARS = 900;
const LEAST_CHARS = 120;
/** Share of it that the request may fill, then the answer; the rest is for files and tools. */
const REQUEST_SHARE = 0.45;
const ANSWER_SHARE = 0.35;
/** Turns at the end, which tell what the task is now, have this much more. */
const NEWEST_TURNS = 3;
const NEWEST_FACTOR = 3;

/**
 * Renders turns in about `chars` characters; null when they are too many for even the shortest form. `isOpen` tells which may be
 * left out: the others are marked.
 */
export function renderTurns(
  turns: readonly Turn[],
  { chars, isOpen }: { readonly chars: number; readonly isOpen: (turn: number) => boolean },
): string | null {
  const share = chars / (turns.length + NEWEST_TURNS * (NEWEST_FACTOR - 1));
  if (turns.length > 0 && share < LEAST_CHARS) return null;
  const limit = Math.min(MOST_CHARS, share);
  return turns
    .map((turn, at) => {
      const isNewest = at >= turns.length - NEWEST_TURNS;
      return renderTurn(turn, { limit: isNewest ? limit * NEWEST_FACTOR : limit, isOpen: isOpen(turn.index) });
    })
    .join("\n");
}

function renderTurn(turn: Turn, { limit, isOpen }: { readonly limit: number; readonly isOpen: boolean }): string {
  const found = gather(turn.events.map((event) => ({ turn: turn.index, event })));
  const request = oneLine(found.requests.map(({ text }) => text).join(" / "));
  const answer = spokenLine(found.answers.at(-1)?.text ?? "");
  const work = [...found.modified, ...found.read].join(", ");
  return [
    `turn ${turn.index}${isOpen ? "" : " (stays)"}`,
    `  request: ${cutEnd(request, Math.floor(limit * REQUEST_SHARE)) || "none"}`,
    ...(answer === "" ? [] : [`  answer: ${cutMiddle(answer, Math.floor(limit * ANSWER_SHARE))}`]),
    ...(found.tools.length === 0 ? [] : [`  tools: ${cutEnd(found.tools.join(", "), 80)}`]),
    ...(work === "" ? [] : [`  files: ${cutEnd(work, Math.floor(limit * (1 - REQUEST_SHARE - ANSWER_SHARE)))}`]),
  ].join("\n");
}
